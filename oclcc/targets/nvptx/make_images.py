#!/usr/bin/env python3
"""Writes images.ll: the image functions of OpenCL C 1.2 for nvptx64-nvidia-nvcl, as LLVM IR.

OpenCL C has no access to the texture and surface instructions, hence IR. An image or a sampler is an
opaque pointer whose value is a handle, which the back end replaces by the kernel's parameter.

Also writes the local memory of sub_groups.cl: OpenCL C has no such variables outside of kernels.
"""

IMAGES = {  # image: (geometry of the instructions, coordinates, layer)
    "image1d": ("1d", 1, False),
    "image1d_buffer": ("1d", 1, False),
    "image1d_array": ("1d.array", 1, True),
    "image2d": ("2d", 2, False),
    "image2d_array": ("2d.array", 2, True),
    "image2d_depth": ("2d", 2, False),
    "image2d_array_depth": ("2d.array", 2, True),
    "image3d": ("3d", 3, False),
}
READS = {"f": ("float", "f32", "f"), "i": ("i32", "s32", "i"), "ui": ("i32", "u32", "j")}
LETTERS = {"float": "f", "i32": "i"}
declared = set()


def letters_of(image):
    """The texels of a depth image are floats, of others vectors of four."""
    return ["f"] if is_depth(image) else list(READS)


def is_depth(image):
    return image.endswith("_depth")


def name_of(function, *parts):
    return f"_Z{len(function)}{function}{''.join(parts)}"


def image_name(image, access):
    text = f"ocl_{image}_{access}"
    return f"{len(text)}{text}"


def coordinate(count, layer, kind):
    """LLVM type, its mangled name, and its number of components."""
    total = count + (1 if layer else 0)
    total = 4 if total == 3 else total
    if total == 1:
        return kind, LETTERS[kind], 1
    return f"<{total} x {kind}>", f"Dv{total}_{LETTERS[kind]}", total


def components(count, layer, kind, total):
    """Instructions that take a coordinate apart, and the operands."""
    lines, operands = [], []
    for i in range(count + (1 if layer else 0)):
        value = "%c"
        if total > 1:
            lines.append(f"  %c{i} = extractelement <{total} x {kind}> %c, i32 {i}")
            value = f"%c{i}"
        operands.append((kind, value))
    if layer:
        kind_of_layer, value = operands.pop()
        # The instructions limit an unsigned layer, and OpenCL's is signed.
        if kind_of_layer == "float":
            declare("i32 @llvm.nvvm.f2i.rn(float)")
            lines.append(f"  %near = call i32 @llvm.nvvm.f2i.rn(float {value})")
            value = "%near"
        declare("i32 @llvm.smax.i32(i32, i32)")
        lines.append(f"  %layer = call i32 @llvm.smax.i32(i32 {value}, i32 0)")
        operands.insert(0, ("i32", "%layer"))
    return lines, operands


def declare(text):
    declared.add(text)


def function(result, name, arguments, lines):
    print(f"define {result} @{name}({arguments}) alwaysinline nounwind {{")
    print("\n".join(lines))
    print("}")


def read(image, letter, kind, sampler):
    geometry, count, layer = IMAGES[image]
    element, texel, _ = READS[letter]
    vector, mangled, total = coordinate(count, layer, kind)
    lines = ["  %t = ptrtoint ptr addrspace(1) %image to i64"]
    if not sampler:
        declare("ptr addrspace(4) @oclcc_sampler_16()")
        lines.append("  %sampler = call ptr addrspace(4) @oclcc_sampler_16()")
    lines.append("  %s = ptrtoint ptr addrspace(4) %sampler to i64")
    more, operands = components(count, layer, kind, total)
    if image == "image1d" and sampler and kind == "i32":
        # With an integer, the instruction reads no texel beside the image, whatever the sampler says.
        more += ["  %whole = sitofp i32 %c to float", "  %middle = fadd float %whole, 5.000000e-01"]
        kind, operands = "float", [("float", "%middle")]
    suffix = {"f32": "v4f32", "s32": "v4s32", "u32": "v4u32"}[texel]
    instruction = f"llvm.nvvm.tex.{geometry}.{suffix}.{'f32' if kind == 'float' else 's32'}"
    four = "{ " + ", ".join([element] * 4) + " }"
    declare(f"{four} @{instruction}(i64, i64, {', '.join(k for k, _ in operands)})")
    values = ", ".join(f"{k} {v}" for k, v in operands)
    lines += [*more, f"  %r = call {four} @{instruction}(i64 %t, i64 %s, {values})"]
    result, previous = f"<4 x {element}>", "undef"
    if is_depth(image):
        result = element
        lines += [f"  %e0 = extractvalue {four} %r, 0", f"  ret {element} %e0"]
    for i in range(0 if is_depth(image) else 4):
        lines.append(f"  %e{i} = extractvalue {four} %r, {i}")
        lines.append(
            f"  %v{i} = insertelement <4 x {element}> {previous}, {element} %e{i}, i32 {i}"
        )
        previous = f"%v{i}"
    if not is_depth(image):
        lines.append(f"  ret <4 x {element}> %v3")
    arguments = (
        f"ptr addrspace(1) %image, {'ptr addrspace(4) %sampler, ' if sampler else ''}{vector} %c"
    )
    function(
        result,
        name_of(
            "read_image" + letter,
            image_name(image, "ro"),
            "11ocl_sampler" if sampler else "",
            mangled,
        ),
        arguments,
        lines,
    )


# The component that is stored first, second, third, and fourth, for each channel order of OpenCL
# other than the usual one.
ORDERS = {4273: (3, 3, 3, 3), 4275: (0, 3, 3, 3), 4278: (2, 1, 0, 3), 4279: (3, 0, 1, 2)}


def ordered_components(element):
    """Instructions that put the components of %v in the order of the image's channels."""
    cast = (
        f"bitcast <4 x {element}> %v to <4 x i32>" if element == "float" else "freeze <4 x i32> %v"
    )
    lines = [f"  %bits = {cast}", "  %order = call i32 @llvm.nvvm.suq.channel.order(i64 %t)"]
    declare("i32 @llvm.nvvm.suq.channel.order(i64)")
    previous = "%bits"
    for order, places in ORDERS.items():
        mask = ", ".join(f"i32 {p}" for p in places)
        lines += [
            f"  %s{order} = shufflevector <4 x i32> %bits, <4 x i32> undef, <4 x i32> <{mask}>",
            f"  %is{order} = icmp eq i32 %order, {order}",
            f"  %p{order} = select i1 %is{order}, <4 x i32> %s{order}, <4 x i32> {previous}",
        ]
        previous = f"%p{order}"
    return lines + [f"  %e{i} = extractelement <4 x i32> {previous}, i32 {i}" for i in range(4)]


def write(image, letter):
    geometry, count, layer = IMAGES[image]
    element, _, code = READS[letter]
    vector, mangled, total = coordinate(count, layer, "i32")
    colour, texel = f"Dv4_{code}", f"<4 x {element}>"
    lines = ["  %t = ptrtoint ptr addrspace(1) %image to i64"]
    more, operands = components(count, layer, "i32", total)
    lines += more
    if is_depth(image):
        colour, texel = code, element
        lines += [f"  %e{i} = bitcast {element} %v to i32" for i in range(4)]
    else:
        lines += ordered_components(element)
    instruction = f"llvm.nvvm.sust.p.{geometry}.v4i32.trap"
    declare(f"void @{instruction}(i64, {', '.join(k for k, _ in operands)}, i32, i32, i32, i32)")
    values = ", ".join(f"{k} {v}" for k, v in operands)
    lines += [
        f"  call void @{instruction}(i64 %t, {values}, i32 %e0, i32 %e1, i32 %e2, i32 %e3)",
        "  ret void",
    ]
    if mangled == colour:
        colour = "S0_"
    function(
        "void",
        name_of("write_image" + letter, image_name(image, "wo"), mangled, colour),
        f"ptr addrspace(1) %image, {vector} %c, {texel} %v",
        lines,
    )


def query(image, access):
    prefix = "llvm.nvvm." + ("txq" if access == "ro" else "suq")
    _, count, layer = IMAGES[image]

    def ask(register, what):
        declare(f"i32 @{prefix}.{what}(i64)")
        return f"  %{register} = call i32 @{prefix}.{what}(i64 %t)"

    start = "  %t = ptrtoint ptr addrspace(1) %image to i64"
    functions = {
        "get_image_width": "width",
        "get_image_channel_data_type": "channel.data.type",
        "get_image_channel_order": "channel.order",
    }
    if count > 1:
        functions["get_image_height"] = "height"
    if count > 2:
        functions["get_image_depth"] = "depth"
    for function_name, what in functions.items():
        function(
            "i32",
            name_of(function_name, image_name(image, access)),
            "ptr addrspace(1) %image",
            [start, ask("r", what), "  ret i32 %r"],
        )
    if layer:
        function(
            "i64",
            name_of("get_image_array_size", image_name(image, access)),
            "ptr addrspace(1) %image",
            [start, ask("r", "array.size"), "  %w = zext i32 %r to i64", "  ret i64 %w"],
        )
    if count > 1:
        width = 2 if count == 2 else 4
        lines = [start, ask("r0", "width"), ask("r1", "height")]
        if count == 3:
            lines.append(ask("r2", "depth"))
        previous = "zeroinitializer"
        for i in range(count):
            lines.append(f"  %v{i} = insertelement <{width} x i32> {previous}, i32 %r{i}, i32 {i}")
            previous = f"%v{i}"
        lines.append(f"  ret <{width} x i32> {previous}")
        function(
            f"<{width} x i32>",
            name_of("get_image_dim", image_name(image, access)),
            "ptr addrspace(1) %image",
            lines,
        )


def main():
    print("; Image functions for nvptx64-nvidia-nvcl. make_images.py writes this file.")
    print('target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"')
    print('target triple = "nvptx64-nvidia-nvcl"')
    for image in IMAGES:
        for letter in letters_of(image):
            read(image, letter, "i32", False)
            if image != "image1d_buffer":
                read(image, letter, "i32", True)
                read(image, letter, "float", True)
            write(image, letter)
        for access in ("ro", "wo"):
            query(image, access)
    print("@oclcc_work_group_slots = internal addrspace(3) global [32 x i64] undef, align 8")
    function(
        "ptr addrspace(3)", "oclcc_slots", "", ["  ret ptr addrspace(3) @oclcc_work_group_slots"]
    )
    for text in sorted(declared):
        print(f"declare {text}")


if __name__ == "__main__":
    main()

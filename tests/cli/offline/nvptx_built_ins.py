#!/usr/bin/env python3
"""Compiles a kernel for every built-in function of OpenCL C 1.2 and every argument type, and for the
atomic functions of OpenCL C 3.0, and lists the functions that the result calls but does not contain.
If ptxas is installed, it assembles the result.

usage: nvptx_built_ins.py [--sample N] COMMAND...

COMMAND compiles OpenCL C to PTX. {source} and {output} in it are replaced by file names. With
--sample N only every Nth kernel is compiled.
Exit status: 0 if every function is resolved, 1 otherwise.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = ["", "2", "3", "4", "8", "16"]
INTEGERS = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"]
FLOATS = ["float", "double"]
SIGNED = {
    "float": "int",
    "double": "long",
    "uchar": "char",
    "ushort": "short",
    "uint": "int",
    "ulong": "long",
}
UNSIGNED = {
    "float": "uint",
    "double": "ulong",
    "char": "uchar",
    "short": "ushort",
    "int": "uint",
    "long": "ulong",
}

MATH_1 = """acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp
exp2 exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt
tan tanh tanpi tgamma trunc degrees radians sign""".split()
MATH_2 = """atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr
remainder step max min""".split()
MATH_3 = "fma mad mix clamp smoothstep".split()
HALF_1 = "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan".split()
RELATIONS = """isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered
isunordered""".split()
CLASSES = "isfinite isinf isnan isnormal signbit".split()


PRAGMAS = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
"""


class Kernel:
    """A kernel with one statement over typed arguments."""

    def __init__(self, name, body, **arguments):
        self.name = name
        self.body = body
        self.arguments = arguments

    def text(self, number):
        arguments = ", ".join(f"{kind} {name}" for name, kind in self.arguments.items())
        return f"__kernel void k{number}({arguments}) {{ {self.body} }}\n"


def call(name, result, *kinds):
    """Returns a kernel that calls a function with arguments passed by value."""
    arguments = {f"a{i}": f"__global {kind}*" for i, kind in enumerate(kinds)}
    values = ", ".join(f"*a{i}" for i in range(len(kinds)))
    return Kernel(name, f"*r = {name}({values});", r=f"__global {result}*", **arguments)


def math_functions():
    for base, width in itertools.product(FLOATS, WIDTHS):
        kind, ints = base + width, "int" + width
        for name in MATH_1:
            yield call(name, kind, kind)
        for name in MATH_2:
            yield call(name, kind, kind, kind)
        for name in MATH_3:
            yield call(name, kind, kind, kind, kind)
        for name in ("ldexp", "pown", "rootn"):
            yield call(name, kind, kind, ints)
        yield call("ilogb", ints, kind)
        yield call("nan", kind, UNSIGNED[base] + width)
        if width:
            yield call("ldexp", kind, kind, "int")
            for name in ("fmax", "fmin", "max", "min"):
                yield call(name, kind, kind, base)
            yield call("clamp", kind, kind, base, base)
            yield call("mix", kind, kind, kind, base)
            yield call("step", kind, base, kind)
            yield call("smoothstep", kind, base, base, kind)
        for space in ("__global", "__local", "__private"):
            yield from second_results(kind, ints, space)
    for name in HALF_1:
        for prefix, width in itertools.product(("half_", "native_"), WIDTHS):
            yield call(prefix + name, "float" + width, "float" + width)
    for name in ("divide", "powr"):
        for prefix, width in itertools.product(("half_", "native_"), WIDTHS):
            yield call(prefix + name, "float" + width, "float" + width, "float" + width)


def second_results(kind, ints, space):
    """Yields kernels for functions that write a second result to memory."""
    for name, second in (
        ("fract", kind),
        ("modf", kind),
        ("sincos", kind),
        ("frexp", ints),
        ("lgamma_r", ints),
        ("remquo", ints),
    ):
        values = "*a, *b, " if name == "remquo" else "*a, "
        arguments = dict(
            r=f"__global {kind}*",
            a=f"__global {kind}*",
            b=f"__global {kind}*",
            o=f"__global {second}*",
        )
        if space == "__private":
            yield Kernel(name, f"{second} q; *r = {name}({values}&q); *o = q;", **arguments)
        else:
            yield Kernel(name, f"*r = {name}({values}q);", q=f"{space} {second}*", **arguments)


def integer_functions():
    for base, width in itertools.product(INTEGERS, WIDTHS):
        kind, unsigned = base + width, UNSIGNED.get(base, base) + width
        yield call("abs", unsigned, kind)
        yield call("abs_diff", unsigned, kind, kind)
        for name in "add_sat hadd rhadd mul_hi rotate sub_sat max min".split():
            yield call(name, kind, kind, kind)
        for name in "clamp mad_hi mad_sat".split():
            yield call(name, kind, kind, kind, kind)
        for name in "clz ctz popcount".split():
            yield call(name, kind, kind)
        if width:
            yield call("max", kind, kind, base)
            yield call("min", kind, kind, base)
            yield call("clamp", kind, kind, base, base)
        if base in ("int", "uint"):
            yield call("mad24", kind, kind, kind, kind)
            yield call("mul24", kind, kind, kind)
    for narrow, wide in (
        ("char", "short"),
        ("uchar", "ushort"),
        ("short", "int"),
        ("ushort", "uint"),
        ("int", "long"),
        ("uint", "ulong"),
    ):
        low = UNSIGNED.get(narrow, narrow)
        for width in WIDTHS:
            yield call("upsample", wide + width, narrow + width, low + width)


def relational_functions():
    for base, width in itertools.product(FLOATS, WIDTHS):
        kind = base + width
        result = "int" if not width else SIGNED[base] + width
        for name in RELATIONS:
            yield call(name, result, kind, kind)
        for name in CLASSES:
            yield call(name, result, kind)
    for base, width in itertools.product(INTEGERS, WIDTHS):
        if base in ("char", "short", "int", "long"):
            yield call("any", "int", base + width)
            yield call("all", "int", base + width)
    for base, width in itertools.product(INTEGERS + FLOATS, WIDTHS):
        kind = base + width
        yield call("bitselect", kind, kind, kind, kind)
        for select in (SIGNED.get(base, base), UNSIGNED.get(base, base)):
            yield call("select", kind, kind, kind, select + width)


def geometric_functions():
    for base in FLOATS:
        for width in ("3", "4"):
            yield call("cross", base + width, base + width, base + width)
        for width in ("", "2", "3", "4"):
            kind = base + width
            yield call("dot", base, kind, kind)
            yield call("distance", base, kind, kind)
            yield call("length", base, kind)
            yield call("normalize", kind, kind)
            if base == "float":
                yield call("fast_distance", base, kind, kind)
                yield call("fast_length", base, kind)
                yield call("fast_normalize", kind, kind)


def memory_functions():
    spaces = ("__global", "__local", "__private", "__constant")
    for base, width, space in itertools.product(INTEGERS + FLOATS, WIDTHS[1:], spaces):
        body = f"*r = vload{width}(1, p);"
        store = f"vstore{width}(*r, 1, p);"
        yield from in_space("vload" + width, body, base, base + width, space)
        if space != "__constant":
            yield from in_space("vstore" + width, store, base, base + width, space)
    for base, width, space in itertools.product(FLOATS, WIDTHS, spaces):
        for name in ("vload", "vloada"):
            if base == "float" and (width or name == "vload"):
                yield from in_space(
                    f"{name}_half{width}",
                    f"*r = {name}_half{width}(1, p);",
                    "half",
                    base + width,
                    space,
                )
        for name, mode in itertools.product(
            ("vstore", "vstorea"), ("", "_rte", "_rtz", "_rtp", "_rtn")
        ):
            if space != "__constant" and (width or name == "vstore"):
                function = f"{name}_half{width}{mode}"
                yield from in_space(function, f"{function}(*r, 1, p);", "half", base + width, space)
    for base, width in itertools.product(INTEGERS + FLOATS, WIDTHS):
        kind = base + width
        arguments = dict(g=f"__global {kind}*", l=f"__local {kind}*")
        end = " wait_group_events(1, &e);"
        yield Kernel(
            "async_work_group_copy",
            "event_t e = async_work_group_copy(l, g, 9, 0);" + end,
            **arguments,
        )
        yield Kernel(
            "async_work_group_copy",
            "event_t e = async_work_group_copy(g, l, 9, 0);" + end,
            **arguments,
        )
        yield Kernel(
            "async_work_group_strided_copy",
            "event_t e = async_work_group_strided_copy(l, g, 9, 3, 0);" + end,
            **arguments,
        )
        yield Kernel(
            "async_work_group_strided_copy",
            "event_t e = async_work_group_strided_copy(g, l, 9, 3, 0);" + end,
            **arguments,
        )
        yield Kernel("prefetch", "prefetch(g, 3);", **arguments)


def in_space(name, body, element, kind, space):
    if space == "__private":
        # A private array that is read and written stays in memory.
        fill = f"{space} {element} array[64]; {space} {element}* p = array; "
        if element == "half":
            fill = f"{space} ushort array[64]; {space} half* p = ({space} half*)array; "
        whole = "ushort" if element == "half" else element
        body = (
            f"{fill} for (int i = 0; i < 64; ++i) array[i] = s[i]; {body}"
            f" for (int i = 0; i < 64; ++i) s[i] = array[i];"
        )
        yield Kernel(name, body, r=f"__global {kind}*", s=f"__global {whole}*")
    else:
        yield Kernel(name, body, r=f"__global {kind}*", p=f"{space} {element}*")


def conversions():
    for to, source, width in itertools.product(INTEGERS + FLOATS, INTEGERS + FLOATS, WIDTHS):
        saturations = ("", "_sat") if to in INTEGERS else ("",)
        for saturation, mode in itertools.product(
            saturations, ("", "_rte", "_rtz", "_rtp", "_rtn")
        ):
            yield call(f"convert_{to}{width}{saturation}{mode}", to + width, source + width)


def shuffles():
    for base, to, source in itertools.product(INTEGERS + FLOATS, WIDTHS[1:], WIDTHS[1:]):
        if "3" in (to, source):
            continue
        mask = UNSIGNED.get(base, base) + to
        yield call("shuffle", base + to, base + source, mask)
        yield call("shuffle2", base + to, base + source, base + source, mask)


def atomics():
    for base, space in itertools.product(("int", "uint", "long", "ulong"), ("__global", "__local")):
        prefixes = ("atomic_", "atom_") if base in ("int", "uint") else ("atom_",)
        for prefix in prefixes:
            arguments = dict(p=f"volatile {space} {base}*", r=f"__global {base}*")
            for name in "add sub xchg min max and or xor".split():
                yield Kernel(prefix + name, f"*r = {prefix}{name}(p, *r);", **arguments)
            for name in ("inc", "dec"):
                yield Kernel(prefix + name, f"*r = {prefix}{name}(p);", **arguments)
            yield Kernel(prefix + "cmpxchg", f"*r = {prefix}cmpxchg(p, *r, r[1]);", **arguments)
    for space in ("__global", "__local"):
        yield Kernel(
            "atomic_xchg",
            "*r = atomic_xchg(p, *r);",
            p=f"volatile {space} float*",
            r="__global float*",
        )


ANY_ORDER = "memory_order_acq_rel, memory_scope_device"


def c11_atomics():
    for base, space in itertools.product(INTEGERS[4:] + FLOATS, ("__global", "__local")):
        arguments = dict(p=f"volatile {space} atomic_{base}*", r=f"__global {base}*")
        yield Kernel("atomic_init", "atomic_init(p, *r);", **arguments)
        for name, body in (
            ("store", f"atomic_store_explicit(p, *r, {ANY_ORDER});"),
            ("load", f"*r = atomic_load_explicit(p, {ANY_ORDER});"),
            ("exchange", f"*r = atomic_exchange_explicit(p, *r, {ANY_ORDER});"),
        ):
            yield Kernel(f"atomic_{name}_explicit", body, **arguments)
        for strength, expected in itertools.product(
            ("strong", "weak"), ("__global", "__local", "__private")
        ):
            name = f"atomic_compare_exchange_{strength}_explicit"
            own = f"__private {base} q; " if expected == "__private" else ""
            more = {} if own else {"e": f"{expected} {base}*"}
            place = "&q" if own else "e"
            body = f"{own}*r = {name}(p, {place}, *r, memory_order_acq_rel, memory_order_relaxed, memory_scope_device);"
            yield Kernel(name, body, **arguments, **more)
        for name in "add sub or xor and min max".split() if base in INTEGERS else ():
            name = f"atomic_fetch_{name}_explicit"
            yield Kernel(name, f"*r = {name}(p, *r, {ANY_ORDER});", **arguments)
    for space in ("__global", "__local"):
        arguments = dict(p=f"volatile {space} atomic_flag*", r="__global int*")
        name = "atomic_flag_test_and_set_explicit"
        yield Kernel(name, f"*r = {name}(p, {ANY_ORDER});", **arguments)
        name = "atomic_flag_clear_explicit"
        yield Kernel(name, f"{name}(p, {ANY_ORDER});", **arguments)
    for name, order in (
        ("atomic_work_item_fence", ANY_ORDER),
        ("work_group_barrier", "memory_scope_device"),
    ):
        yield Kernel(
            name, f"*r = 1; {name}(CLK_GLOBAL_MEM_FENCE, {order}); *r = 2;", r="__global int*"
        )


def work_items():
    for (
        name
    ) in """get_global_size get_global_id get_local_size get_local_id get_num_groups get_group_id
            get_global_offset""".split():
        yield Kernel(
            name,
            f"r[0] = {name}(0) + {name}(1) + {name}(2) + {name}(3) + {name}(r[1]);",
            r="__global ulong*",
        )
    yield Kernel("get_work_dim", "*r = get_work_dim();", r="__global uint*")
    flags = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
    for name in "barrier mem_fence read_mem_fence write_mem_fence".split():
        yield Kernel(name, f"*r = 1; {name}({flags}); *r = 2;", r="__global uint*")
    yield Kernel(
        "printf", 'printf("%d %f %s %v4hlf\\n", 1, *r, "s", (float4)(*r));', r="__global float*"
    )
    yield Kernel("printf", 'printf("none\\n");')


IMAGES = {
    "image1d_t": ("int", "float"),
    "image1d_buffer_t": ("int", None),
    "image1d_array_t": ("int2", "float2"),
    "image2d_t": ("int2", "float2"),
    "image2d_array_t": ("int4", "float4"),
    "image3d_t": ("int4", "float4"),
    "image2d_depth_t": ("int2", "float2"),
    "image2d_array_depth_t": ("int4", "float4"),
}


def images():
    for image, (whole, real) in IMAGES.items():
        texels = (("f", "float4"), ("i", "int4"), ("ui", "uint4"))
        for suffix, texel in (("f", "float"),) if "depth" in image else texels:
            name, arguments = (
                "read_image" + suffix,
                dict(
                    a=f"read_only {image}",
                    s="sampler_t",
                    c=f"__global {whole}*",
                    r=f"__global {texel}*",
                    f=f"__global {real or 'float'}*",
                ),
            )
            yield Kernel(name, f"*r = {name}(a, *c);", **arguments)
            if real:
                yield Kernel(name, f"*r = {name}(a, s, *c);", **arguments)
                yield Kernel(
                    name,
                    f"const sampler_t k = CLK_FILTER_LINEAR; *r = {name}(a, k, *f);",
                    **arguments,
                )
            name = "write_image" + suffix
            arguments["a"] = f"write_only {image}"
            yield Kernel(name, f"{name}(a, *c, *r);", **arguments)
        queries = {"width": "int", "channel_data_type": "int", "channel_order": "int"}
        if "1d" not in image:
            queries.update(height="int", dim="int4" if "3d" in image else "int2")
        if "3d" in image:
            queries["depth"] = "int"
        if "array" in image:
            queries["array_size"] = "ulong"
        for access, (query, kind) in itertools.product(
            ("read_only", "write_only"), queries.items()
        ):
            yield Kernel(
                "get_image_" + query,
                f"*r = get_image_{query}(a);",
                a=f"{access} {image}",
                r=f"__global {kind}*",
            )


def all_kernels():
    yield from images()
    yield from math_functions()
    yield from integer_functions()
    yield from relational_functions()
    yield from geometric_functions()
    yield from memory_functions()
    yield from conversions()
    yield from shuffles()
    yield from atomics()
    yield from c11_atomics()
    yield from work_items()


def unresolved(ptx):
    """Returns the names of functions that PTX declares but does not define. The driver defines vprintf."""
    declared, defined = set(), set()
    ptx = re.sub(r"//[^\n]*", "", ptx)
    for match in re.finditer(r"\.func\s*(?:\([^)]*\)\s*)?([\w$]+)\s*(\([^)]*\))?\s*([;{.])", ptx):
        (declared if match.group(3) == ";" else defined).add(match.group(1))
    return declared - defined - {"vprintf"}


def assembled(ptx):
    """Returns what ptxas prints about a file of PTX; nothing if it accepts it, or is not installed."""
    ptxas = shutil.which("ptxas", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if not ptxas:
        return ""
    command = [ptxas, "-arch=sm_90", "-O0", ptx, "-o", "/dev/null"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stderr[:2000] if result.returncode else ""


def main():
    command, step = sys.argv[1:], 1
    if command[:1] == ["--sample"] and len(command) > 1:
        step, command = int(command[1]), command[2:]
    if not command:
        sys.exit(__doc__)
    kernels = list(all_kernels())[::step]
    failed, missing, done = [], {}, 0
    batch = 400
    with tempfile.TemporaryDirectory() as folder:
        source, output = pathlib.Path(folder, "k.cl"), pathlib.Path(folder, "k.ptx")
        for start in range(0, len(kernels), batch):
            part = kernels[start : start + batch]
            source.write_text(
                PRAGMAS + "".join(k.text(i) for i, k in enumerate(part)), encoding="utf-8"
            )
            run = [argument.format(source=source, output=output) for argument in command]
            output.unlink(missing_ok=True)
            result = subprocess.run(run, capture_output=True, text=True, check=False)
            if result.returncode != 0 or not output.exists():
                failed.append((part[0].name, part[-1].name, (result.stderr + result.stdout)[:2000]))
                continue
            ptx = output.read_text(encoding="utf-8")
            for name in unresolved(ptx):
                missing.setdefault(name, 0)
                missing[name] += 1
            entries = len(re.findall(r"\.entry\s+k\d+\(", ptx))
            if entries != len(part):
                failed.append((part[0].name, part[-1].name, f"{entries} kernels of {len(part)}"))
            if message := assembled(output):
                failed.append((part[0].name, part[-1].name, message))
            done += entries
    names = {kernel.name for kernel in kernels}
    for first, last, text in failed:
        print(f"not compiled: {first} to {last}:\n{text}")
    for name in sorted(missing):
        print(f"unresolved: {name}")
    print(
        f"{len(names)} functions, {len(kernels)} kernels, {done} compiled, {len(missing)} unresolved"
    )
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())

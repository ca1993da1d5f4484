#!/usr/bin/env python3
"""Compiles a kernel for every function that clang's header of OpenCL C declares for extensions which
oclcc has for NVIDIA's devices, and lists those that the result calls but does not contain. If ptxas is
installed, it assembles the result.

usage: extension_functions.py [--sample N] CLANG COMMAND...
       extension_functions.py names

COMMAND compiles OpenCL C to PTX. {source} and {output} in it are replaced by file names. With
--sample N only every Nth kernel is compiled.
Exit status: 0 if every function is resolved, 1 otherwise. The second prints the extensions as -cl-ext
requests them.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from nvptx_built_ins import assembled, unresolved

EXTENSIONS = """cl_khr_fp16 cl_khr_subgroups cl_khr_subgroup_ballot cl_khr_subgroup_clustered_reduce
cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_non_uniform_vote
cl_khr_subgroup_rotate cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative
__opencl_c_work_group_collective_functions cl_khr_extended_bit_ops cl_khr_integer_dot_product
cl_khr_kernel_clock __opencl_c_generic_address_space __opencl_c_atomic_order_acq_rel
__opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device
__opencl_c_atomic_scope_all_devices""".split()
# Not in the header of each release.
CLOCKS = [
    f"{kind} __ovld clock_read_{name}{scope}(void);"
    for kind, name in (("ulong", ""), ("uint2", "hilo_"))
    for scope in ("device", "work_group", "sub_group")
]
# Of other extensions and features.
OTHERS = (
    r"intel_|arm_|atomic_half|fetch.*atomic_(float|double)|load\w*_half|store\w*_half|read_write"
)
DECLARATION = re.compile(
    r"^\s*(\w+)\s+(?:__ovld|__conv|__cnfn|__purefn)[\s\w]*?\b(\w+)\s*\(([^;]*)\)\s*;"
)
# Of arguments.
TYPES = {"size_t": "ulong", "uintptr_t": "ulong", "ptrdiff_t": "long", "bool": "int"}
SPACES = ("__global", "__local", "__constant", "__private")


def declarations(header):
    for line in [*header.splitlines(), *CLOCKS]:
        found = DECLARATION.match(line)
        if not found or re.search(OTHERS, line):
            continue
        name, arguments = found.group(2), found.group(3)
        if re.search(r"\bhalf\d*\b", line) or re.search(
            r"sub_group|^work_group_(?!barrier)|dot_|bitfield_|bit_reverse|clock_read|\bdot$"
            r"|^atomic_(init|load|store|exchange|compare|flag|fetch)",
            name,
        ):
            yield found.group(1), name, [one.strip() for one in arguments.split(",")]


def kernel(number, result, name, arguments):
    """Returns the source of a kernel, or an empty text for a pointer to the generic address space, other
    than of atomic functions."""
    parameters, values, locals_, after = [], [], "", ""
    for i, argument in enumerate(arguments):
        if argument in ("void", ""):
            continue
        words = [word for word in argument.replace("*", " * ").split() if word != "volatile"]
        space = next((word for word in words if word in SPACES), "")
        if "*" in words:
            kind = next(word for word in words if word not in (*SPACES, "const"))
            if not space and not name.startswith("atomic_"):
                return ""
            if space == "__private":
                locals_ += f"{kind} p{i}[32]; p{i}[0] = *q{i}; "
                after += f"*q{i} = p{i}[0] + p{i}[1]; "
                parameters.append(f"__global {kind}* q{i}")
            else:
                parameters.append(f"{space or '__global'} {kind}* p{i}")
            values.append(f"p{i}" if space else f"({kind}*)p{i}")
        elif "image" in argument or "sampler_t" in argument:
            parameters.append(f"{' '.join(words[:2]) if 'image' in argument else words[0]} p{i}")
            values.append(f"p{i}")
        elif words[0] == "event_t":
            values.append("0")
        elif words[0] == "cl_mem_fence_flags" or words[0] == "memory_scope":
            is_scope = words[0] == "memory_scope"
            values.append("memory_scope_sub_group" if is_scope else "CLK_LOCAL_MEM_FENCE")
        elif words[0] == "memory_order":
            values.append("memory_order_seq_cst")
        else:
            kind = TYPES.get(words[0], words[0])
            parameters.append(f"__global {kind}* p{i}")
            values.append(f"*p{i}")
    call = f"{name}({', '.join(values)})"
    if result == "event_t":
        call = f"event_t e = {call}; wait_group_events(1, &e)"
    elif result != "void":
        parameters.insert(0, f"__global {TYPES.get(result, result)}* r")
        call = f"*r = {call}"
    return f"kernel void k{number}({', '.join(parameters)}) {{ {locals_}{call}; {after}}}\n"


def main():
    requested = ",".join("+" + name for name in EXTENSIONS)
    if sys.argv[1:] == ["names"]:
        print(requested)
        return 0
    step = int(sys.argv[2]) if sys.argv[1:2] == ["--sample"] else 1
    clang, *command = sys.argv[3 if step != 1 else 1 :]
    folder = subprocess.run(
        [clang, "-print-resource-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    header = pathlib.Path(folder, "include/opencl-c.h").read_text(encoding="utf-8")
    kernels = sorted({one for found in declarations(header) if (one := kernel("", *found))})
    if len(kernels) < 3300:
        sys.exit(f"the header of {clang} declares only {len(kernels)} functions")
    kernels = kernels[::step]
    text = "".join(
        f"#pragma OPENCL EXTENSION {name} : enable\n" for name in ("cl_khr_fp16", "cl_khr_fp64")
    )
    for i, one in enumerate(kernels):
        text += one.replace("kernel void k(", f"kernel void k{i}(", 1)
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        source, output = pathlib.Path(place, "k.cl"), pathlib.Path(place, "k.ptx")
        source.write_text(text, encoding="utf-8")
        run = [argument.format(source=source, output=output) for argument in command]
        run.append(f"-cl-ext={requested}")
        result = subprocess.run(run, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(result.stderr[:4000])
        ptx = output.read_text(encoding="utf-8")
        for name in sorted(unresolved(ptx)):
            print(f"unresolved: {name}")
            failed += 1
        if message := assembled(output):
            print(message)
            failed += 1
        entries = len(re.findall(r"\.entry\s+k\d+\(", ptx))
    print(f"{len(kernels)} kernels, {entries} compiled, {failed} failures")
    return 1 if failed or entries != len(kernels) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the processor time of a second run of oclcc with a changed kernel and the compile cache on,
for offline targets, and that of the same tools alone, in turn in one run.

    bench/changed_kernel.py BUILD_DIR [ROUNDS]

The tools alone: for nvptx one clang, which links libclc; for amdgcn one clang, which links AMD's
libraries, and lld; for spirv clang and llvm-spirv. They neither check nor edit anything.

Exit status 1 if oclcc takes more than 1.3 of the tools' time + 50 ms, the median over the rounds. Leaves
out targets whose tools are not installed.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FACTOR = 1.3
EXTRA_MS = 50
AMD_LIBRARIES = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
LANGUAGE = ["-finclude-default-header", "-fdeclare-opencl-builtins", "-x", "cl", "k.cl"]


def nvptx_commands():
    return [
        "clang-15 -cc1 -triple nvptx64-nvidia-nvcl -target-cpu sm_70 -target-feature +ptx60 -O2"
        " -cl-std=CL3.0 -cl-ext=+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_images"
        " -mlink-builtin-bitcode /usr/lib/clc/nvptx64--nvidiacl.bc -Wno-linker-warnings"
        " -S -o k.ptx".split()
        + LANGUAGE
    ]


def amdgcn_commands():
    clang = (
        "clang-15 -cc1 -triple amdgcn-amd-amdhsa -target-cpu gfx906 -mcode-object-version=4 -O3"
        " -fvisibility hidden -emit-obj -o k.o".split()
    )
    for name in (
        "opencl ocml ockl oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off"
        " oclc_correctly_rounded_sqrt_off oclc_wavefrontsize64_on oclc_isa_version_906"
        " oclc_abi_version_400".split()
    ):
        clang += ["-mlink-builtin-bitcode", f"{AMD_LIBRARIES}/{name}.bc"]
    return [clang + LANGUAGE, "ld.lld-15 -shared --no-undefined -o k.co k.o".split()]


def spirv_commands():
    return [
        "clang-15 -cc1 -triple spir64-unknown-unknown -no-opaque-pointers -O1 -disable-llvm-passes"
        " -emit-llvm-bc -o k.bc".split()
        + LANGUAGE,
        "llvm-spirv-15 --spirv-max-version=1.2 -o k.spv k.bc".split(),
    ]


TARGETS = {
    "nvptx:sm_70": nvptx_commands(),
    "amdgcn:gfx906": amdgcn_commands(),
    "spirv:1.2": spirv_commands(),
}


def write_kernel(number):
    with open("k.cl", "w", encoding="utf-8") as file:
        file.write(
            "kernel void k(global float* a, global const float* b, int n) {\n"
            "  const size_t i = get_global_id(0);\n"
            f"  if (i < n) a[i] = sin(b[i]) * sqrt(a[i]) + {number}.5f;\n"
            "}\n"
        )


def processor_ms(commands, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in commands:
        subprocess.run(command, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(oclcc, target, commands, rounds):
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cache"))
    environment.pop("CLBIN_CACHE", None)
    environment.pop("CLBIN_CACHE_DIR", None)
    ours = [[oclcc, "k.cl", "--target", target, "-o", "k.clbin"]]
    write_kernel(0)
    first = processor_ms(ours, environment)
    times = []
    for number in range(1, rounds + 1):
        write_kernel(number)
        if number % 2:
            times.append((processor_ms(commands, environment), processor_ms(ours, environment)))
        else:
            mine = processor_ms(ours, environment)
            times.append((processor_ms(commands, environment), mine))
    alone, mine = (statistics.median(column) for column in zip(*times))
    beyond = statistics.median(mine - FACTOR * alone for alone, mine in times)
    is_met = beyond <= EXTRA_MS
    print(
        f"{target:16}{first:8.0f} ms{mine:10.0f} ms{alone:12.0f} ms{beyond:14.0f} ms"
        f"  {'met' if is_met else 'NOT MET'}",
        flush=True,
    )
    return is_met


def main():
    oclcc = os.path.abspath(os.path.join(sys.argv[1], "oclcc", "oclcc"))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    print(f"Processor time of a small kernel, {rounds} rounds: medians\n")
    print(f"{'':16}{'first run':>11}{'changed':>13}{'tools alone':>15}{'- 1.3 alone':>17}")
    met = True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for target, commands in TARGETS.items():
            if not all(shutil.which(command[0]) for command in commands):
                print(f"{target:16}  its tools are not installed")
                continue
            met = measure(oclcc, target, commands, rounds) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

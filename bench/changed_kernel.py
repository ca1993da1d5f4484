#!/usr/bin/env python3
"""Measures the processor time of a second run of oclcc with a changed kernel and the compile cache on,
for offline targets, and that of tools alone, in turn in one run.

    bench/changed_kernel.py BUILD_DIR [ROUNDS]

The tools alone: for nvptx one clang, which links libclc if it is installed; for amdgcn one clang, which
links AMD's libraries, and lld; for spirv clang and llvm-spirv; for intel ocloc. They neither check nor edit
anything. The tools for the same code: those that oclcc calls in another run, whose calls of tools are counted
by programs in their place (--tool), and which link oclcc's own built-in functions, too.

Exit status 1 if oclcc takes more than 1.3 of the time of the tools alone + 50 ms, or more than 1.2 of that
of the tools for the same code + 20 ms, the medians over the rounds. Leaves out targets whose tools are not
installed.
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
OWN_FACTOR = 1.2
OWN_EXTRA_MS = 20
COUNTING_TOOL = """#!/usr/bin/python3 -IS
import os, sys
child = os.spawnv(os.P_NOWAIT, "{path}", ["{path}", *sys.argv[1:]])
_, status, usage = os.wait4(child, 0)
with open("{log}", "a") as log:
    log.write(f"{{1000 * (usage.ru_utime + usage.ru_stime)}}\\n")
sys.exit(os.waitstatus_to_exitcode(status))
"""
AMD_LIBRARIES = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
LANGUAGE = ["-finclude-default-header", "-fdeclare-opencl-builtins", "-x", "cl", "k.cl"]


def nvptx_commands():
    library = "/usr/lib/clc/nvptx64--nvidiacl.bc"
    link = ["-mlink-builtin-bitcode", library, "-Wno-linker-warnings"]
    return [
        "clang-15 -cc1 -triple nvptx64-nvidia-nvcl -target-cpu sm_70 -target-feature +ptx60 -O2"
        " -cl-std=CL3.0 -cl-ext=+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_images"
        " -S -o k.ptx".split()
        + (link if os.path.exists(library) else [])
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


def intel_commands():
    return [
        "ocloc compile -q -file k.cl -device skl -64 --format zebin -exclude_ir -output k "
        "-options -cl-std=CL3.0".split()
    ]


TARGETS = {
    "nvptx:sm_70": nvptx_commands(),
    "amdgcn:gfx906": amdgcn_commands(),
    "spirv:1.2": spirv_commands(),
    "intel:skl": intel_commands(),
}
PROGRAMS = {"clang": "clang-15", "lld": "ld.lld-15", "llvm-spirv": "llvm-spirv-15"}
# Of each family, by the names of --tool.
TOOLS = {
    "nvptx": ["clang"],
    "amdgcn": ["clang", "lld"],
    "spirv": ["clang", "llvm-spirv", "spirv-val"],
    "intel": ["ocloc"],
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


def counting_tools(target):
    """Options that put a counting program in the place of each tool of the target."""
    options = []
    for name in TOOLS[target.split(":")[0]]:
        path = shutil.which(PROGRAMS.get(name, name))
        counting = os.path.abspath(f"counting-{name}")
        with open(counting, "w", encoding="utf-8") as file:
            file.write(COUNTING_TOOL.format(path=path, log=os.path.abspath("log")))
        os.chmod(counting, 0o755)
        options += ["--tool", f"{name}={counting}"]
    return options


def counted_ms(command, environment):
    open("log", "w", encoding="utf-8").close()
    processor_ms([command], environment)
    with open("log", encoding="utf-8") as log:
        return sum(map(float, log))


def measure(oclcc, target, commands, rounds):
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cache"))
    environment.pop("CLBIN_CACHE", None)
    environment.pop("CLBIN_CACHE_DIR", None)
    ours = [[oclcc, "k.cl", "--target", target, "-o", "k.clbin"]]
    counting = ours[0] + counting_tools(target)
    write_kernel(0)
    first = processor_ms(ours, environment)
    counted_ms(counting, environment)
    times = []
    for number in range(1, rounds + 1):
        write_kernel(number)
        steps = [
            lambda: processor_ms(commands, environment),
            lambda: processor_ms(ours, environment),
            lambda: counted_ms(counting, environment),
        ]
        start = number % 3
        taken = [step() for step in steps[start:] + steps[:start]]
        times.append(taken[3 - start :] + taken[: 3 - start])
    alone, mine, same = (statistics.median(column) for column in zip(*times))
    beyond = statistics.median(own - FACTOR * bare for bare, own, _ in times)
    beyond_same = statistics.median(own - OWN_FACTOR * tools for _, own, tools in times)
    is_met = beyond <= EXTRA_MS and beyond_same <= OWN_EXTRA_MS
    print(
        f"{target:16}{first:8.0f} ms{mine:10.0f} ms{alone:12.0f} ms{beyond:14.0f} ms"
        f"{same:17.0f} ms{beyond_same:13.0f} ms  {'met' if is_met else 'NOT MET'}",
        flush=True,
    )
    return is_met


def main():
    oclcc = os.path.abspath(os.path.join(sys.argv[1], "oclcc", "oclcc"))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    print(f"Processor time of a small kernel, {rounds} rounds: medians\n")
    print(
        f"{'':16}{'first run':>11}{'changed':>13}{'tools alone':>15}{'- 1.3 alone':>17}"
        f"{'for the same code':>20}{'- 1.2 of it':>16}"
    )
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

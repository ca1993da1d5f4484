"""Compares the numbers of `oclcc --report --json` with those of other tools.

Usage: compare.py REPORT.json FOLDER, with the extracted binaries
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

# Members of the report and fields of `llvm-readelf --notes`, `cuobjdump -res-usage` and .ze_info.
AMD = {
    "registers": ["vgpr_count"],
    "scalar_registers": ["sgpr_count"],
    "spills": ["sgpr_spill_count", "vgpr_spill_count"],
    "scratch_bytes": ["private_segment_fixed_size"],
    "local_bytes": ["group_segment_fixed_size"],
    "wave_size": ["wavefront_size"],
}
NVIDIA = {
    "registers": ["REG"],
    "scratch_bytes": ["STACK"],
    "local_bytes": ["SHARED"],
    "constant_bytes": [f"CONSTANT[{bank}]" for bank in range(6)],
}
INTEL = {
    "registers": ["grf_count"],
    "local_bytes": ["slm_size"],
    "wave_size": ["simd_size"],
}
SUFFIXES = {"amd-code-object": "hsaco", "cubin": "cubin", "intel-zebin": "bin"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fields_of_amd(file):
    """Reads "    .vgpr_count:     48" of a kernel: arguments are further to the right."""
    kernels = []
    for line in output_of("llvm-readelf", "--notes", file).splitlines():
        if line.startswith("  - ."):
            kernels.append({})
        if kernels and (field := re.match(r"^  (?:- |  )\.(\w+): *(\S+)$", line)):
            kernels[-1][field[1]] = field[2]
    return {kernel["name"]: kernel for kernel in kernels}


def fields_of_nvidia(file):
    """Reads " Function k:" and "  REG:8 STACK:0 CONSTANT[0]:360".

    None for what cuobjdump itself fails on: it does so for most kernels with images (CUDA 13.5).
    """
    done = subprocess.run(
        ["cuobjdump", "-res-usage", file], check=False, capture_output=True, text=True
    )
    if "Internal error" in done.stderr:
        return None
    done.check_returncode()
    lines = done.stdout.splitlines()
    names = [line.split()[1].rstrip(":") if line.startswith(" Function ") else "" for line in lines]
    return {
        name: dict(word.split(":") for word in lines[i + 1].split())
        for i, name in enumerate(names)
        if name
    }


def fields_of_intel(file):
    """Reads "  - name: k" and "      grf_count: 128" in the section .ze_info."""
    output_of("objcopy", "-I", "elf64-little", "--dump-section", ".ze_info=ze_info", file, "copy")
    kernels = collections.defaultdict(dict)
    name = ""
    for line in pathlib.Path("ze_info").read_text(encoding="utf-8").splitlines():
        if kernel := re.match(r"^  - name: +(\S+)$", line):
            name = kernel[1]
        elif field := re.match(r"^      (\w+): +(\d+)$", line):
            kernels[name].setdefault(field[1], field[2])
    return kernels


def code_sizes(file, kind):
    """The sizes of the functions of AMD's code objects, and of .text.KERNEL of others."""
    if kind == "amd-code-object":
        words = [line.split() for line in output_of("readelf", "-W", "-s", file).splitlines()]
        return {line[7]: int(line[2], 0) for line in words if line[3:4] == ["FUNC"]}
    sections = output_of("readelf", "-W", "-S", file)
    found = re.findall(r" \.text\.(\S+) +PROGBITS +\S+ \S+ (\w+)", sections)
    return {name: int(size, 16) for name, size in found}


READERS = {
    "amd-code-object": (AMD, fields_of_amd, "llvm-readelf"),
    "cubin": (NVIDIA, fields_of_nvidia, "cuobjdump"),
    "intel-zebin": (INTEL, fields_of_intel, ".ze_info"),
}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        groups = json.load(file)["files"][0]["groups"]
    checked = collections.Counter()
    unread = collections.Counter()
    sizes = {}
    for group in groups:
        fields = {}
        for kernel in group["kernels"]:
            members, read, tool = READERS[kernel["format"]]
            target = kernel["target"].replace(":", "_")
            name = f"{group['program']}.default.{target}.{SUFFIXES[kernel['format']]}"
            path = str(pathlib.Path(sys.argv[2]) / name)
            if path not in fields:
                fields[path] = read(path)
                sizes[path] = code_sizes(path, kernel["format"])
            assert kernel["code_bytes"] == sizes[path][kernel["kernel"]] > 0, (path, kernel)
            if fields[path] is None:
                unread[tool] += 1
                continue
            theirs = fields[path][kernel["kernel"]]
            for member, names in members.items():
                expected = sum(int(theirs.get(field, 0)) for field in names)
                assert kernel[member] == expected, (path, kernel, theirs)
            checked[tool] += 1
    for tool, count in checked.items():
        print(f"{count} kernels have the numbers of {tool}")
        print(f"{count} kernels have the sizes of readelf")
    for tool, count in unread.items():
        print(f"{count} kernels have the sizes of readelf, and {tool} fails on their files")


main()

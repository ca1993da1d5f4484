"""Compares the resources that `oclcc --info --json` reports with `llvm-readelf --notes`.

Usage: check_amd_notes.py INFO.json FOLDER, with the extracted code objects
"""

import json
import pathlib
import re
import subprocess
import sys

# "    .vgpr_count:     48", of a kernel: arguments are further to the right.
FIELD = re.compile(r"^  (?:- |  )\.(\w+): *(\S+)$")
NAMES = {"vgprs": "vgpr_count", "sgprs": "sgpr_count"}
SPILLS = {"vgpr_spills": "vgpr_spill_count", "sgpr_spills": "sgpr_spill_count"}


def kernels_of(file):
    notes = subprocess.run(
        ["llvm-readelf", "--notes", file], check=True, capture_output=True, text=True
    ).stdout
    kernels = []
    for line in notes.splitlines():
        if line.startswith("  - ."):
            kernels.append({})
        if kernels and (field := FIELD.match(line)):
            kernels[-1][field[1]] = field[2]
    return {kernel["name"]: kernel for kernel in kernels}


def check(kernel, notes):
    assert kernel["local_bytes"] == int(notes["group_segment_fixed_size"]), (kernel, notes)
    assert kernel["private_bytes"] == int(notes["private_segment_fixed_size"]), (kernel, notes)
    assert kernel["preferred_multiple"] == int(notes["wavefront_size"]), (kernel, notes)
    for name, field in NAMES.items():
        assert kernel["vendor"][name] == int(notes[field]), (kernel, notes)
    for name, field in SPILLS.items():
        assert kernel["vendor"].get(name, 0) == int(notes[field]), (kernel, notes)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        bundles = json.load(file)["bundles"]
    checked = 0
    for group in (group for bundle in bundles for group in bundle["groups"]):
        for entry in group["entries"]:
            processor = entry["target"]["spec"].split(":", 1)[1]
            is_generic = processor.endswith("-generic")
            assert entry["format"]["version"] == ("6.1" if is_generic else "5.0"), entry["format"]
            name = f"{group['program']}.default.amdgcn_{processor}.hsaco"
            notes = kernels_of(pathlib.Path(sys.argv[2]) / name)
            assert len(notes) == len(entry["kernels"]) > 0, (processor, notes.keys())
            for kernel in entry["kernels"]:
                check(kernel, notes[kernel["name"]])
                checked += 1
    assert checked > 0


main()

"""Compares the occupancy of `oclcc --report --json` with "; Occupancy:" in LLVM's assembly.

Usage: compare_occupancy.py REPORT.json ASSEMBLY
"""

import json
import math
import pathlib
import re
import sys

SIMDS = 4

with open(sys.argv[1], encoding="utf-8") as file:
    kernels = json.load(file)["files"][0]["groups"][0]["kernels"]
assembly = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
of_llvm = dict(re.findall(r"^(\w+): .*?^; Occupancy: (\d+)$", assembly, re.MULTILINE | re.DOTALL))
for kernel in kernels:
    waves = math.ceil(math.prod(kernel["work_group_size"]) / kernel["wave_size"])
    expected = int(of_llvm[kernel["kernel"]]) * SIMDS // waves * waves
    assert kernel["occupancy"] == expected, (kernel, expected)
print(f"{len(kernels)} kernels have the occupancy of LLVM")

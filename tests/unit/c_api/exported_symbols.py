#!/usr/bin/env python3
"""Checks that the shared library exports exactly what the header declares, and that each declaration
states its first version: exported_symbols.py NM libclbin.so clbin.h, or OBJDUMP libclbin.dll clbin.h"""

import pathlib
import re
import subprocess
import sys

tool, library, header = sys.argv[1:]
if library.endswith(".dll"):
    listing = subprocess.check_output([tool, "--private-headers", library], text=True)
    names = listing.partition("[Ordinal/Name Pointer] Table")[2]
    exported = sorted(
        re.findall(
            r"^\t\[ *[0-9]+\] (?:\+base\[ *[0-9]+\] +[0-9a-f]+ )?(\S+)$", names, re.MULTILINE
        )
    )
else:
    listing = subprocess.check_output(
        [tool, "-D", "--defined-only", "--format=posix", library], text=True
    )
    exported = sorted(line.split()[0] for line in listing.splitlines())
text = pathlib.Path(header).read_text(encoding="utf-8")
declarations = list(re.finditer(r"CLBIN_API [^;(]*[ *](clbin_[a-z_]+)\(", text))
declared = sorted(found[1] for found in declarations)
# The comment above each declaration states its first version.
undated = [
    found[1]
    for found in declarations
    if not re.search(r"Since( |\n \* )[0-9]+\.[0-9]+\. \*/\n$", text[: found.start()])
]
print(f"{len(declared)} symbols")
if len(declared) < 30 or exported != declared or undated:
    sys.exit(f"exported: {exported}\ndeclared: {declared}\nwithout a version: {undated}")

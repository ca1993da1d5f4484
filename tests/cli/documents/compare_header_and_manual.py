#!/usr/bin/env python3
"""compare_header_and_manual.py CLBIN_H LIBCLBIN_3: prints how the synopsis differs from clbin.h."""

import re
import shlex
import sys
from pathlib import Path

# clbin.h names OpenCL's types without including CL/cl.h.
OPENCL_TYPES = {
    "struct _cl_context *": "cl_context",
    "struct _cl_device_id * const *": "const cl_device_id *",
    "struct _cl_device_id *": "cl_device_id",
    "struct _cl_program **": "cl_program *",
    "struct _cl_program *": "cl_program",
}


def normal(text):
    """Normalizes a declaration: single spaces, a space before each star and none after it."""
    text = re.sub(r"\s+", " ", text.replace("*", " * ")).strip()
    text = re.sub(r"\* (?=\*)", "*", text)
    for ours, theirs in OPENCL_TYPES.items():
        text = text.replace(ours, theirs + " ")
    text = re.sub(r"\s*\*\s*", " *", re.sub(r"\s+", " ", text))
    return (
        re.sub(r"\* (?=\*)", "*", text).replace("* *", "**").replace(" *const", " * const").strip()
    )


def functions_of_header(text):
    """Maps the name of each CLBIN_API to (type, parameters). Also returns the lines that name function types."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    functions = {}
    for kind, name, parameters in re.findall(
        r"^CLBIN_API ([^;(]*?[ *])(clbin_\w+)\(([^;]*)\);", text, re.MULTILINE
    ):
        functions[name] = (normal(kind), [normal(part) for part in parameters.split(",")])
    types = {
        normal(line)
        for line in re.findall(r"^typedef [^;{]*\(\*\w+\)\([^;]*\);", text, re.MULTILINE)
    }
    return functions, types


def functions_of_manual(text):
    synopsis = text.split(".Sh SYNOPSIS")[1].split(".Sh ")[0]
    functions, kind, name = {}, "", ""
    for line in synopsis.splitlines():
        words = shlex.split(line) if line.startswith(".F") else [""]
        if words[0] == ".Ft":
            kind = normal(" ".join(words[1:]))
        elif words[0] in (".Fn", ".Fo"):
            name = words[1]
            functions[name] = (kind, [normal(word) for word in words[2:]])
        elif words[0] == ".Fa":
            functions[name][1].append(normal(" ".join(words[1:])))
    types = {normal(line) for line in re.findall(r"^typedef [^;]*;", synopsis, re.MULTILINE)}
    return functions, types


def show(function):
    return f"'{function[0]}' of ({', '.join(function[1])})"


def main():
    header, manual = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:3])
    in_header, header_types = functions_of_header(header)
    in_manual, manual_types = functions_of_manual(manual)
    problems = []
    for name in sorted(in_header.keys() | in_manual.keys()):
        if name not in in_manual:
            problems.append(f"{name} is in clbin.h and not in the synopsis")
        elif name not in in_header:
            problems.append(f"{name} is in the synopsis and not in clbin.h")
        elif in_header[name] != in_manual[name]:
            problems.append(
                f"{name}: clbin.h has {show(in_header[name])}, the synopsis {show(in_manual[name])}"
            )
    for line in sorted(header_types ^ manual_types):
        problems.append(f"only one of them has: {line}")
    if len(in_header) != header.count("\nCLBIN_API ") or len(in_header) < 30 or not header_types:
        problems.append(
            f"{len(in_header)} declarations could be read of {header.count('CLBIN_API ')}"
        )
    print("\n".join(problems) if problems else "the same")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

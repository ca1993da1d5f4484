#!/usr/bin/env python3
"""Compares the functions that clang's header of OpenCL C declares with those that oclcc's library for
NVIDIA's devices defines, by their mangled names, without extensions and with all that can be requested.

usage: library_functions.py CLANG

Prints each function that is declared and not defined. Exit status: 1 if there is one.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from built_in_table import EXTENSIONS, GENERIC_OFF, NVPTX, SOURCES, library_text, made_by
from extension_functions import EXTENSIONS as REQUESTABLE

# Device-side queues, pipes, and images that are read and written, of OpenCL C 2.0: NVIDIA's driver does
# not have these features of 3.0.
LACKING = (
    r"^(ndrange_|enqueue_|get_default_queue|create_user_event|retain_event|release_event|is_valid_"
    r"|set_user_event_status|capture_event_profiling_info)"
)
# Version, whether extensions are requested, and the least number of functions that clang declares.
RUNS = (
    ("CL1.2", False, 9600),
    ("CL3.0", False, 9500),
    # Generic pointers and functions of work-groups, of which it has more, need a request.
    ("CL2.0", True, 11000),
    ("CL3.0", True, 11000),
)


def clang_output(clang, words, folder):
    result = subprocess.run(
        [clang, "-cc1", *NVPTX.split(), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}:\n{result.stderr[:4000]}")
    return result.stdout


def declared(clang, standard, requested, folder):
    """Returns types by mangled names."""
    names = GENERIC_OFF if standard == "CL3.0" else []
    names = names + ["+" + name for name in (*EXTENSIONS.split(), *requested)]
    macros = "".join(f"#define {name} 1\n" for name in requested if name.startswith("cl_"))
    (folder / "macros.clh").write_text(macros)
    words = f"-cl-std={standard} -cl-ext={','.join(names)} -finclude-default-header -w"
    words += (
        f" -include macros.clh -include {SOURCES / 'language.clh'} -ast-dump=json -x cl empty.cl"
    )
    tree = json.loads(clang_output(clang, words.split(), folder))
    return {
        node["mangledName"]: f"{node['name']} {node['type']['qualType']}"
        for node in tree["inner"]
        if node["kind"] == "FunctionDecl" and node.get("mangledName", "").startswith("_Z")
    }


def defined(clang, has_extensions, folder):
    (folder / "library.cl").write_text(library_text(has_extensions))
    words = "-cl-std=CL1.2 -cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes -DOCLCC_SM=80 -O2 -w"
    words += " -disable-llvm-passes -emit-llvm -o - -x cl library.cl"
    ir = clang_output(clang, words.split(), folder) + made_by("make_images.py")
    return set(re.findall(r"^define [^@\n]*@([\w.$]+)", ir, re.MULTILINE))


def main():
    clang, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "empty.cl").write_text("")
        known = {one: defined(clang, one, folder) for one in (False, True)}
        for standard, is_extended, least in RUNS:
            functions = declared(clang, standard, REQUESTABLE if is_extended else (), folder)
            if len(functions) < least:
                print(f"{clang} declares only {len(functions)} functions in {standard}")
                failed += 1
            for mangled, kind in sorted(functions.items()):
                is_lacking = re.search(LACKING, kind) or "__read_write" in kind
                if mangled not in known[is_extended] and not is_lacking and "__oclcc" not in kind:
                    print(f"{standard}{', extensions' * is_extended}: {kind} {mangled}")
                    failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that includes go downwards: .ci/check_layers.py [ROOT]

The section "Layering" of ARCHITECTURE.md ranks the rooms of each product, a line a product:
    `oclcc/`: `terminal`, `embed` ← `command_line` ← `input`, `source`
A room may include the rooms before an arrow on its left, but none beside it or on its right. Files in
the product's own folder may include all of its rooms. No file includes itself through other files.
"""

import os
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
RANKED_PRODUCT = re.compile(r"^`(\S+/)`: (.*←.*)$", re.MULTILINE)
PRODUCTS = ["libclbin", "oclcc", "runtime_demo"]
INCLUDE_FOLDERS = ["libclbin/include", "libclbin/src", "oclcc", "runtime_demo"]


def ranks_of(architecture):
    """{product: {room: rank}}"""
    return {
        product: {
            room: rank
            for rank, rooms in enumerate(chain.split("←"))
            for room in re.findall(r"`([^`]+)`", rooms)
        }
        for product, chain in RANKED_PRODUCT.findall(architecture)
    }


def included_file(file, name, files):
    """The file of this repository that `#include "name"` in `file` means, or None."""
    folders = [os.path.dirname(file), *INCLUDE_FOLDERS]
    candidates = (os.path.normpath(os.path.join(folder, name)) for folder in folders)
    return next((path for path in candidates if path in files), None)


def read_includes(root):
    """{file: the files of this repository that it includes}"""
    files = {
        str(path.relative_to(root))
        for product in PRODUCTS
        for path in (root / product).rglob("*")
        if path.suffix in (".cpp", ".hpp", ".h")
    }
    includes = {}
    for file in sorted(files):
        names = INCLUDE.findall((root / file).read_text(encoding="utf-8"))
        found = (included_file(file, name, files) for name in names)
        includes[file] = [path for path in found if path is not None]
    return includes


def room_of(file, product, ranks):
    """'terminal' of 'oclcc/terminal/reporter.cpp'; '' for a file beside the rooms; None elsewhere.

    For nested rooms, returns the innermost ranked room, otherwise the outermost folder.
    """
    if not file.startswith(product):
        return None
    *folders, _ = file.removeprefix(product).split("/")
    for depth in range(len(folders), 0, -1):
        if "/".join(folders[:depth]) in ranks:
            return "/".join(folders[:depth])
    return folders[0] if folders else ""


def misplaced_rooms(product, ranks, includes):
    rooms = {room_of(file, product, ranks) for file in includes} - {None, ""}
    for room in sorted(rooms - set(ranks)):
        yield f"ARCHITECTURE.md does not rank '{product}{room}'"
    for room in sorted(set(ranks) - rooms):
        yield f"ARCHITECTURE.md ranks '{product}{room}', which has no sources"


def upward_includes(product, ranks, includes):
    for file, included_files in includes.items():
        room = room_of(file, product, ranks)
        if not room:
            continue
        for included in included_files:
            other = room_of(included, product, ranks)
            if other is None or other == room:
                continue
            if ranks.get(other, len(ranks)) >= ranks.get(room, 0):
                yield f"{file} includes {included}, which is not below it"


def cycles(includes):
    done, path = set(), []

    def visit(file):
        if file in path:
            yield " includes ".join([*path[path.index(file) :], file])
        elif file not in done:
            path.append(file)
            for included in includes[file]:
                yield from visit(included)
            path.pop()
            done.add(file)

    for file in includes:
        yield from visit(file)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    all_ranks = ranks_of((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if not all_ranks:
        print("check_layers: ARCHITECTURE.md ranks no rooms")
        return 1
    includes = read_includes(root)
    problems = list(cycles(includes))
    for product, ranks in all_ranks.items():
        problems += misplaced_rooms(product, ranks, includes)
        problems += upward_includes(product, ranks, includes)
    for problem in problems:
        print(f"check_layers: {problem}")
    count = sum(map(len, all_ranks.values()))
    print(f"check_layers: {len(includes)} files in {count} rooms of {len(all_ranks)} products")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

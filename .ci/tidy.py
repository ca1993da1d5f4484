#!/usr/bin/env python3
"""Runs clang-tidy on the product's sources, several in one translation unit.

usage: .ci/tidy.py COMPILE_COMMANDS [CLANG_TIDY_OPTION...]

Most of clang-tidy's time goes to headers, which many sources share: in one unit of eight sources,
they are checked once. The checks, and clang's analyzer, treat an included .cpp file like the main
file. Sources that cannot share a unit, because their anonymous namespaces have equal names, are
checked one by one. What had no finding is not checked again while the preprocessed text, the checks
and clang-tidy are the same (${XDG_CACHE_HOME:-~/.cache}/oclcc-tidy).
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCES_PER_UNIT = 8
# Every source of a unit is included, which the analyzer takes for a header.
IN_UNITS = [
    "--config-file=.clang-tidy",
    "--checks=-bugprone-suspicious-include",
    "--extra-arg=-Xclang",
    "--extra-arg=-analyzer-opt-analyze-headers",
]


def product_sources():
    patterns = ["libclbin/*.cpp", "oclcc/*.cpp", "runtime_demo/*.cpp", ":!*/system/windows/*"]
    listed = subprocess.run(
        ["git", "ls-files", *patterns], check=True, capture_output=True, text=True
    ).stdout
    return [os.path.abspath(name) for name in listed.split()]


TEXT_OR_COMMENT = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/'
)
USING = re.compile(r"^\s*(?:using\s+[\w:]+::(\w+)\s*;|namespace\s+(\w+)\s*=)", re.MULTILINE)


def unused_declarations(source):
    """Using declarations and aliases of namespaces whose names the source does not mention again."""
    text = TEXT_OR_COMMENT.sub('""', pathlib.Path(source).read_text(encoding="utf-8"))
    names = {name for pair in USING.findall(text) for name in pair if name}
    return [
        f"{source}: error: unused declaration of '{name}'"
        for name in sorted(names)
        if len(re.findall(rf"\b{name}\b", text)) == 1
    ]


def flags_of(entry):
    """The compiler's words without the source and the output."""
    words = shlex.split(entry["command"])
    output = words.index("-o")
    return tuple(
        word
        for index, word in enumerate(words)
        if index not in (output, output + 1) and word != entry["file"]
    )


def units_of(entries):
    """Groups sources of equal flags, in the order of their names: neighbours share headers."""
    by_flags = {}
    for entry in entries:
        by_flags.setdefault(flags_of(entry), []).append(entry)
    for flags, group in by_flags.items():
        for start in range(0, len(group), SOURCES_PER_UNIT):
            yield flags, group[start : start + SOURCES_PER_UNIT]


CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "oclcc-tidy"


@functools.cache
def checks_and_version():
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    return version + pathlib.Path(".clang-tidy").read_bytes()


def mark_of(entry, options):
    """The file that exists if clang-tidy found nothing in this text, comments (NOLINT) included."""
    words = ["clang++", *flags_of(entry)[1:], "-Wno-everything", "-E", "-CC", entry["file"]]
    text = subprocess.run(words, check=True, capture_output=True, cwd=entry["directory"]).stdout
    asked = json.dumps([flags_of(entry), options]).encode() + text
    for folder in (os.path.dirname(entry["file"]), os.getcwd()):
        asked = asked.replace(folder.encode(), b".")
    return CLEAN / hashlib.sha256(checks_and_version() + asked).hexdigest()


def run(database, entry, options):
    """Returns the finished clang-tidy, or None if it is known to find nothing."""
    mark = mark_of(entry, options)
    if mark.exists():
        return None
    words = ["clang-tidy", "-p", database, "--quiet", *options, entry["file"]]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode == 0:
        mark.touch()
        return None
    return result


def check_together(place, flags, entries, options):
    """Returns what run() returns about one unit of these sources."""
    place.mkdir()
    unit = place / "unit.cpp"
    unit.write_text("".join(f'#include "{entry["file"]}"\n' for entry in entries))
    command = {
        "directory": entries[0]["directory"],
        "file": str(unit),
        "command": shlex.join([*flags, "-o", "unit.o", str(unit)]),
    }
    (place / "compile_commands.json").write_text(json.dumps([command]))
    return run(place, command, [*options, *IN_UNITS])


def check_unit(place, flags, entries, options):
    """Returns what clang-tidy printed; an empty text if it found nothing."""
    alone = []
    while len(entries) > 1:
        result = check_together(place / str(len(entries)), flags, entries, options)
        if result is None:
            entries = []
            break
        broken = {
            line.split(":")[0]
            for line in result.stdout.splitlines()
            if "[clang-diagnostic-error" in line
        }
        if not broken:
            return result.stdout
        # The errors are in the later of the sources that cannot share a unit.
        clashing = [entry for entry in entries if entry["file"] in broken] or entries
        alone += clashing
        entries = [entry for entry in entries if entry not in clashing]
    found = ""
    for entry in alone + entries:
        result = run(os.path.dirname(sys.argv[1]), entry, options)
        if result is not None:
            found += result.stdout or result.stderr
    return found


def made_folder(parent, number):
    place = pathlib.Path(parent, str(number))
    place.mkdir()
    return place


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        # A source that several libraries compile is checked once.
        commands = {entry["file"]: entry for entry in reversed(json.load(file))}
    CLEAN.mkdir(parents=True, exist_ok=True)
    sources = product_sources()
    missing = [source for source in sources if source not in commands]
    if missing:
        sys.exit(f"tidy: {sys.argv[1]} has no command for {missing[0]}")
    units = list(units_of([commands[source] for source in sources]))
    found = [line for source in sources for line in unused_declarations(source)]
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        checks = [
            pool.submit(check_unit, made_folder(folder, number), flags, entries, sys.argv[2:])
            for number, (flags, entries) in enumerate(units)
        ]
        for check in checks:
            if check.result():
                found.append(check.result())
    for text in found:
        print(text)
    print(f"tidy: {len(sources)} sources in {len(units)} units, {len(found)} with findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

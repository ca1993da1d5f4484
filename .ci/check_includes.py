#!/usr/bin/env python3
"""Checks that sources include what they use: .ci/check_includes.py COMPILE_COMMANDS

1. A source that uses a name of the standard library includes its header, itself or through headers of
   this project. Compilers differ in which headers of the standard library include it indirectly.
2. Each header compiles alone. The build proves this for headers that their .cpp includes first, unless
   that .cpp is compiled with a precompiled header. This script compiles all others with clang++-19
   and libc++.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

INCLUDE_FOLDERS = [
    "libclbin/include",
    "libclbin/src",
    "oclcc",
    "runtime_demo",
    "tests",
    "tests/fuzz",
]
# Headers for another language, and headers that a test compiles.
ELSEWHERE = (
    "tests/install_test/consumer/",
    "tests/launchers/launched.hpp",
    "libclbin/src/base/system/windows/",
    "tests/windows/",
)
COMPILER = [
    "clang++-19",
    "-std=c++20",
    "-stdlib=libc++",
    "-fexperimental-library",
    "-fsyntax-only",
    "-DCL_TARGET_OPENCL_VERSION=300",
    "-DCL_HPP_TARGET_OPENCL_VERSION=120",
    "-DCL_HPP_MINIMUM_OPENCL_VERSION=120",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-pragma-once-outside-header",
    "-Wno-unused-function",
    "-Wno-unused-const-variable",
]

# Each header, and the names that it declares.
HEADER_OF = {
    "algorithm": "all_of any_of none_of copy copy_n count count_if equal fill fill_n find find_if "
    "find_if_not for_each generate is_sorted lower_bound upper_bound max_element "
    "min_element mismatch move_backward partition remove_if replace reverse rotate sort "
    "stable_sort transform unique clamp binary_search adjacent_find",
    "array": "array",
    "atomic": "atomic atomic_bool atomic_flag",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "condition_variable": "condition_variable",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t "
    "uintmax_t intmax_t uint_fast32_t",
    "cstdio": "FILE fopen fclose fread fwrite fputs printf fprintf snprintf remove rename",
    "cstdlib": "getenv abort exit _Exit malloc free strtol strtoul strtoull mkstemp quick_exit",
    "cstring": "memcpy memcmp memset memchr memmove strlen strcmp strncmp strerror strchr",
    "deque": "deque",
    "exception": "exception_ptr current_exception rethrow_exception terminate",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream fstream",
    "functional": "function reference_wrapper",
    "iostream": "cout cerr cin clog",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "mutex": "mutex lock_guard unique_lock scoped_lock call_once once_flag",
    "numeric": "accumulate iota gcd",
    "optional": "optional nullopt",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "regex": "regex smatch",
    "set": "set multiset",
    "span": "span as_bytes as_writable_bytes",
    "sstream": "stringstream ostringstream istringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "stop_token": "stop_token stop_source stop_callback",
    "string": "string to_string stoi stoul stoull getline",
    "string_view": "string_view",
    "system_error": "error_code error_condition system_error generic_category system_category errc",
    "thread": "thread jthread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative monostate",
    "vector": "vector",
}
HEADERS_OF = {}
for header, names in HEADER_OF.items():
    for name in names.split():
        HEADERS_OF[name] = {header}
# Other standard headers that must declare the name too.
HEADERS_OF["getline"] |= {"istream"}
HEADERS_OF["stop_token"] |= {"thread"}
HEADERS_OF["errc"] |= {"charconv"}
HEADERS_OF["error_code"] |= {"filesystem"}

COMMENT_OR_TEXT = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/'
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")


def resolve(path, name):
    """The file of this project that `#include "name"` or <name> in `path` means, or None."""
    for folder in [os.path.dirname(path), *INCLUDE_FOLDERS]:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(candidate):
            return candidate
    return None


@functools.cache
def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


@functools.cache
def included(path):
    """The standard or foreign headers that `path` includes, and the files of this project."""
    foreign, own = set(), []
    for _, name in INCLUDE.findall(read(path)):
        file = resolve(path, name)
        if file is None:
            foreign.add(name)
        else:
            own.append(file)
    return frozenset(foreign), tuple(own)


@functools.cache
def reached(path):
    """The standard or foreign headers that `path` includes itself or through files of this project."""
    headers, seen, left = set(), {path}, [path]
    while left:
        foreign, own = included(left.pop())
        headers |= foreign
        left += [file for file in own if file not in seen]
        seen.update(own)
    return frozenset(headers)


def missing_headers(path):
    text = COMMENT_OR_TEXT.sub(" ", read(path))
    names = sorted(set(NAME.findall(text)))
    return [
        f"{path}: std::{name} needs #include <{sorted(HEADERS_OF[name])[0]}>"
        for name in names
        if name in HEADERS_OF and not HEADERS_OF[name] & reached(path)
    ]


def is_proved(header, commands):
    """Whether the build compiles a source that begins with `header`."""
    source = os.path.splitext(header)[0] + ".cpp"
    if source not in commands or "cmake_pch" in commands[source]:
        return False
    first = INCLUDE.search(read(source))
    return first is not None and resolve(source, first.group(2)) == header


def compile_alone(header):
    folders = [f"-I{folder}" for folder in INCLUDE_FOLDERS]
    language = "c++" if header.endswith(".hpp") else "c"
    command = (
        COMPILER
        if language == "c++"
        else [
            "clang-19",
            "-std=c99",
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-pragma-once-outside-header",
        ]
    )
    run = subprocess.run(
        [*command, *folders, "-x", language, header], capture_output=True, text=True, check=False
    )
    return "" if run.returncode == 0 else f"{header} does not compile alone:\n{run.stderr}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        root = os.getcwd() + os.sep
        # clbin_add_kernels adds entries of OpenCL C, which have "arguments" instead.
        commands = {
            entry["file"].removeprefix(root): entry["command"]
            for entry in json.load(file)
            if "command" in entry
        }
    files = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.h"], capture_output=True, text=True, check=True
    ).stdout.split()
    files = [file for file in files if not file.startswith(ELSEWHERE)]
    problems = [
        problem for file in files if not file.endswith(".h") for problem in missing_headers(file)
    ]
    alone = [file for file in files if not file.endswith(".cpp") and not is_proved(file, commands)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems += filter(None, pool.map(compile_alone, alone))
    for problem in problems:
        print(f"check_includes: {problem}")
    print(f"check_includes: {len(files)} files, {len(alone)} headers compiled alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

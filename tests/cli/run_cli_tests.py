#!/usr/bin/env python3
"""Runs the CLI tests of this folder, which README.md describes."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
TIMEOUT_SECONDS = 1800


def line_pattern(line):
    """Converts an expected line to a regular expression: "*" matches any characters, "\\*" a star."""
    parts = re.split(r"(\\\*|\*)", line)
    return "".join({"*": ".*", "\\*": r"\*"}.get(part, re.escape(part)) for part in parts)


def matches(expected, actual):
    """Returns whether the lines match. A line "..." matches any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual or not re.fullmatch(line_pattern(expected[0]), actual[0]):
        return False
    return matches(expected[1:], actual[1:])


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read().splitlines()


def environment(scratch, arguments):
    env = {
        "PATH": os.path.join(scratch, "bin") + os.pathsep + os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "TMPDIR": os.path.join(scratch, "tmp"),
        "HOME": os.path.join(scratch, "home"),
        "XDG_CACHE_HOME": os.path.join(scratch, "home", "cache"),
        "POCL_CACHE_DIR": os.path.join(scratch, "home", "pocl"),
        "MESA_SHADER_CACHE_DIR": os.path.join(scratch, "home", "mesa"),
        "CUDA_CACHE_PATH": os.path.join(scratch, "home", "cuda"),
        "OCL_ICD_VENDORS": os.path.abspath(arguments.platforms),
        "RUSTICL_ENABLE": "llvmpipe",
        "FAULT_LAYER": os.path.abspath(arguments.fault_layer) if arguments.fault_layer else "",
        "CLI_TESTS": os.path.dirname(os.path.abspath(__file__)),
        "ROOT": os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")),
    }
    for name in ("tmp", "home/cache", "home/pocl", "home/mesa", "home/cuda", "bin", "work"):
        os.makedirs(os.path.join(scratch, name))
    for tool in (arguments.oclcc, arguments.make_bundle):
        os.symlink(os.path.abspath(tool), os.path.join(scratch, "bin", os.path.basename(tool)))
    for name, value in os.environ.items():
        # Variables for sanitizers, and for libraries outside the usual folders.
        if name.startswith(("ASAN_", "UBSAN_", "TSAN_", "LSAN_", "LD_LIBRARY_PATH")):
            env[name] = value
    return env


def write_expectation(path, lines):
    if lines:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("".join(line + "\n" for line in lines))
    elif os.path.exists(path):
        os.remove(path)


def set_expected(script, status, stdout, stderr):
    write_expectation(script + ".exit", [str(status)] if status else [])
    write_expectation(script + ".stdout", stdout)
    write_expectation(script + ".stderr", stderr)


def compare(script, status, stdout, stderr):
    """Returns the differences from the expectations beside the script, or an empty list."""
    problems = []
    expected_status = int((read_lines(script + ".exit") or ["0"])[0])
    if status != expected_status:
        problems.append(f"exit status {status}, expected {expected_status}")
    for name, actual in (("stdout", stdout), ("stderr", stderr)):
        expected = read_lines(script + "." + name)
        if not matches(expected, actual):
            problems.append(f"{name} is\n  | " + "\n  | ".join(actual or ["(nothing)"]))
            problems.append(f"{name} expected\n  | " + "\n  | ".join(expected or ["(nothing)"]))
    return problems


def run(script, arguments):
    """Returns the test's exit status: 0 passed, 1 failed, 77 skipped."""
    script = os.path.abspath(script)
    with tempfile.TemporaryDirectory(prefix="oclcc-cli-") as scratch:
        env = environment(scratch, arguments)
        done = subprocess.run(
            ["bash", script],
            cwd=os.path.join(scratch, "work"),
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    stdout = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    stderr = done.stderr.decode("utf-8", "surrogateescape").splitlines()
    if done.returncode == SKIPPED:
        print(f"{script}: skipped: {' '.join(stdout)}")
        return SKIPPED
    if arguments.set_expected:
        set_expected(script, done.returncode, stdout, stderr)
        return 0
    problems = compare(script, done.returncode, stdout, stderr)
    for problem in problems:
        print(f"{script}: {problem}".encode("utf-8", "replace").decode())
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oclcc", required=True)
    parser.add_argument("--make-bundle", required=True)
    parser.add_argument("--platforms", required=True, help="a folder of .icd files")
    parser.add_argument("--fault-layer", help="the library for OPENCL_LAYERS (tests/faults)")
    parser.add_argument(
        "--set-expected",
        action="store_true",
        help="write what the tests print as what is expected; then read the diff",
    )
    parser.add_argument("tests", nargs="+", metavar="TEST.sh")
    arguments = parser.parse_args()
    if shutil.which("bash") is None:
        print("there is no bash")
        return SKIPPED
    results = [run(script, arguments) for script in arguments.tests]
    return next((status for status in (1, SKIPPED) if status in results), 0)


if __name__ == "__main__":
    sys.exit(main())

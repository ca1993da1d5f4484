#!/usr/bin/env python3
"""Runs the CLI tests of this folder, which README.md describes."""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
TIMEOUT_SECONDS = 1400  # less than ctest's


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


STATUS = "# expected exit status: "
HEADS = {"# expected output:": "stdout", "# expected errors:": "stderr"}
MARK = "#|"


class Scripts:
    """The tests of a file: text that all begin with, and the text of each by its name. A file without
    a line "### NAME" is one test, which has the name of the file."""

    def __init__(self, file):
        self.file = Path(file)
        text = self.file.read_bytes().decode("utf-8", "surrogateescape")
        parts = re.split(r"^### (\w+)$", text, flags=re.MULTILINE)
        self.common, *parts = [part.strip("\n") for part in parts]
        self.tests = dict(zip(parts[::2], parts[1::2], strict=True))
        if not self.tests:
            self.tests, self.common = {self.file.stem: self.common}, ""

    def of_test(self, name):
        return f"{self.common}\n{self.tests[name]}\n"

    def write(self):
        parts = [f"### {name}\n{text}" for name, text in self.tests.items()]
        parts = [self.common, *parts] if self.common else self.tests.values()
        write_text(self.file, "\n\n".join(parts) + "\n")


def write_text(file, text):
    file.write_bytes(text.encode("utf-8", "surrogateescape"))


class Expectation:
    """What a test must print and return: the comments at the end of its script."""

    def __init__(self, status=0, stdout=(), stderr=()):
        self.status = status
        self.lines = {"stdout": list(stdout), "stderr": list(stderr)}

    @classmethod
    def read(cls, script):
        found = cls()
        stream = None
        for line in script.split("\n"):
            if line.startswith(STATUS):
                found.status = int(line.removeprefix(STATUS))
            elif line in HEADS:
                stream = HEADS[line]
            elif line.startswith(MARK):
                found.lines[stream].append(line.removeprefix(MARK).removeprefix(" "))
        return found

    def written_to(self, script):
        """Returns the script with this expectation instead of its own."""
        code = [line for line in script.split("\n") if not self.is_expected(line)]
        if self.status:
            code.append(f"{STATUS}{self.status}")
        for head, stream in HEADS.items():
            if self.lines[stream]:
                code.append(head)
                code += [f"{MARK} {line}" if line else MARK for line in self.lines[stream]]
        return "\n".join(code)

    @classmethod
    def is_expected(cls, line):
        return line.startswith((STATUS, MARK)) or line in HEADS


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
        "DEVICE_LISTS": os.path.abspath(arguments.device_lists) if arguments.device_lists else "",
        "FAULT_LAYER": os.path.abspath(arguments.fault_layer) if arguments.fault_layer else "",
        "CLI_TESTS": os.path.dirname(os.path.abspath(__file__)),
        "ROOT": os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")),
    }
    for name in ("tmp", "home/cache", "home/pocl", "home/mesa", "home/cuda", "bin", "work"):
        os.makedirs(os.path.join(scratch, name))
    for tool in (arguments.oclcc, arguments.make_bundle):
        os.symlink(os.path.abspath(tool), os.path.join(scratch, "bin", os.path.basename(tool)))
    os.symlink(sys.executable, os.path.join(scratch, "bin", "python3"))
    for name, value in os.environ.items():
        # Variables for sanitizers, and for libraries outside the usual folders.
        if name.startswith(("ASAN_", "UBSAN_", "TSAN_", "LSAN_", "LD_LIBRARY_PATH")):
            env[name] = value
    return env


def write_device_lists(arguments):
    """Writes the devices of each platform to a file of its name, and those of all to "all"."""
    os.makedirs(arguments.device_lists, exist_ok=True)
    files = sorted(glob.glob(os.path.join(os.path.abspath(arguments.platforms), "*.icd")))
    lists = {os.path.splitext(os.path.basename(file))[0]: file for file in files}
    with tempfile.TemporaryDirectory(prefix="oclcc-cli-") as scratch:
        env = environment(scratch, arguments)
        for name, platforms in (lists | {"all": env["OCL_ICD_VENDORS"]}).items():
            listed = subprocess.run(
                [arguments.oclcc, "--list-devices"],
                env=env | {"OCL_ICD_VENDORS": platforms},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                check=False,  # without a device, the list is empty, and tests skip
            )
            with open(os.path.join(arguments.device_lists, name), "wb") as file:
                file.write(listed.stdout)


def compare(expected, status, stdout, stderr):
    """Returns the differences, or an empty list."""
    problems = []
    if status != expected.status:
        problems.append(f"exit status {status}, expected {expected.status}")
    for name, actual in (("stdout", stdout), ("stderr", stderr)):
        lines = expected.lines[name]
        if not matches(lines, actual):
            problems.append(f"{name} is\n  | " + "\n  | ".join(actual or ["(nothing)"]))
            problems.append(f"{name} expected\n  | " + "\n  | ".join(lines or ["(nothing)"]))
    return problems


def run(scripts, name, arguments):
    """Returns the test's exit status: 0 passed, 1 failed, 77 skipped."""
    test = f"{scripts.file}:{name}"
    with (
        tempfile.TemporaryDirectory(prefix="oclcc-cli-") as scratch,
        tempfile.TemporaryDirectory(prefix="oclcc-cli-script-") as folder,
    ):
        script = Path(folder, f"{name}.sh")  # driver.bash reads the name
        write_text(script, scripts.of_test(name))
        done = subprocess.run(
            ["bash", script],
            cwd=os.path.join(scratch, "work"),
            env=environment(scratch, arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    stdout = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    stderr = done.stderr.decode("utf-8", "surrogateescape").splitlines()
    if done.returncode == SKIPPED:
        print(f"{test}: skipped: {' '.join(stdout)}")
        return SKIPPED
    if arguments.set_expected:
        expected = Expectation(done.returncode, stdout, stderr)
        scripts.tests[name] = expected.written_to(scripts.tests[name])
        scripts.write()
        return 0
    expected = Expectation.read(scripts.tests[name])
    problems = compare(expected, done.returncode, stdout, stderr)
    for problem in problems:
        print(f"{test}: {problem}".encode("utf-8", "replace").decode())
    return 1 if problems else 0


def run_all(word, arguments):
    """Runs the tests of a file, or FILE:NAME. Returns the exit status of each."""
    file, _, name = word.partition(":")
    scripts = Scripts(file)
    return [run(scripts, test, arguments) for test in ([name] if name else list(scripts.tests))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oclcc", required=True)
    parser.add_argument("--make-bundle", required=True)
    parser.add_argument("--platforms", required=True, help="a folder of .icd files")
    parser.add_argument("--fault-layer", help="the library for OPENCL_LAYERS (tests/faults)")
    parser.add_argument(
        "--device-lists", help="a folder for what --write-device-lists asks the drivers once"
    )
    parser.add_argument("--write-device-lists", action="store_true")
    parser.add_argument(
        "--set-expected",
        action="store_true",
        help="write what the tests print into their scripts; then read the diff",
    )
    parser.add_argument("tests", nargs="*", metavar="TESTS.sh[:NAME]")
    arguments = parser.parse_args()
    if arguments.write_device_lists:
        write_device_lists(arguments)
    if shutil.which("bash") is None:
        print("there is no bash")
        return SKIPPED
    results = [status for word in arguments.tests for status in run_all(word, arguments)]
    return next((status for status in (1, SKIPPED) if status in results), 0)


if __name__ == "__main__":
    sys.exit(main())

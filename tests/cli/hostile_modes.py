#!/usr/bin/env python3
"""Runs every mode of oclcc on bundles that are made to exhaust memory or time.

    hostile_modes.py --oclcc OCLCC --make-bundle MAKE_BUNDLE --tools FOLDER [--all] [KIND…]

FOLDER contains write_amplifying_bundle, measured_run and scripted_opencl/ (tests/support). Beyond the
memory of oclcc --version, a process may use 64 MiB, 16 bytes for each byte of its bundles, and the
requested payload with its reference. A mode ends with status 0 or 4 (diff: also 1). Status 4 comes
with a message that names a limit or an error. Limits on address space and processor time stop runaway
processes. Every mode runs on its costly kind at scales 1 and 4, and of each family (Family), as many
modes as can differ run on every kind at scale 1. With --all, every mode runs on all kinds at all
scales. If HOSTILE_COSTS is set, the script prints each cost.
"""

import argparse
import concurrent.futures
import contextlib
import enum
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1 << 20
BASE_BYTES = 64 * MEBIBYTE
BYTES_FOR_EACH = 16
ADDRESS_BYTES = 512 * MEBIBYTE  # of the program, its libraries and threads, beyond the bound
PROCESSOR_SECONDS = 60  # against a hang
REFUSED = 4  # the status of a mode that refuses its bundle
LARGER_SCALE = 4
ALL_SCALES = (1, 2, LARGER_SCALE)

# Memory that zstd uses at level 19 to compress 8 MiB and more, as documented in oclcc(1).
COMPRESSOR_BYTES = 82 * MEBIBYTE

# What --report may use in addition, without that for large payloads (oclcc-bundles(7)).
REPORT_BYTES = 16 * MEBIBYTE

# The payloads that a mode reads: none, those of entries and sources, or each blob.
NOTHING, EXTRACTED, EVERY_BLOB = range(3)


class Family(enum.Enum):
    """Modes that check a bundle in the same way. On each kind, another one is the first."""

    ALONE = "each mode differs"
    CHECKED = "after the check, only the size of the bundle matters: the first is enough"
    REBUILT = "the first is enough if it refuses the kind: not --repack, whose limits differ"
    LISTED = "the first is enough if it refuses the kind: not --info, which prints before"
    REPORTED = "the first is enough if it refuses the kind: the page adds LISTED and EXPLAINED"
    EXPLAINED = "the first is enough if it refuses the kind: text and JSON, of candidates"


@dataclass
class Mode:
    family: Family
    name: str
    arguments: str  # "@" is the bundle, "%" a bundle that is not hostile, "&" a secret key, "$" a content key
    asks_for: int
    costly_kind: str
    statuses: tuple = (0, REFUSED)
    more_bytes: int = 0


MODES = [
    Mode(Family.ALONE, "--info", "--info @", EVERY_BLOB, "manifest_build_log"),
    Mode(Family.LISTED, "--info --json", "--info --json @", EVERY_BLOB, "manifest_equal_arguments"),
    Mode(Family.CHECKED, "--verify", "--verify @", EVERY_BLOB, "long_source"),
    Mode(
        Family.CHECKED,
        "--verify --run",
        "--verify --run -j 2 @",
        EVERY_BLOB,
        "shared_reference",
        (0, 1, REFUSED),
    ),
    Mode(
        Family.EXPLAINED, "--explain", "--explain -j 2 @", EXTRACTED, "candidates_with_long_options"
    ),
    Mode(
        Family.EXPLAINED, "--explain --json", "--explain --json -j 2 @", EXTRACTED, "equal_groups"
    ),
    Mode(Family.LISTED, "--diff", "--diff @ @", EVERY_BLOB, "manifest_arguments"),
    Mode(
        Family.LISTED,
        "--diff --json",
        "--diff --json % @",
        EVERY_BLOB,
        "manifest_unknown_values",
        (1, REFUSED),
    ),
    Mode(
        Family.REBUILT,
        "--strip",
        "--strip --strip-reflection --drop-target none @ -o out",
        EVERY_BLOB,
        "long_source",
    ),
    Mode(Family.REBUILT, "--merge", "--merge @ @ -o out", EVERY_BLOB, "many_manifests"),
    Mode(
        Family.REBUILT,
        "--emit measurements",
        "@ --emit measurements -o out",
        EVERY_BLOB,
        "manifest_measurements",
        (0, 2, REFUSED),  # 2: it contains none
    ),
    Mode(
        Family.ALONE,
        "--repack",
        "--repack @ -o out",
        EVERY_BLOB,
        "closed_source",
        more_bytes=COMPRESSOR_BYTES,
    ),
    Mode(Family.CHECKED, "--sign", "--sign --key & @ -o out", EVERY_BLOB, "long_source"),
    Mode(
        Family.REBUILT,
        "--encrypt",
        "--encrypt --encrypt-key $ @ -o out",
        EVERY_BLOB,
        "many_manifests",
    ),
    Mode(
        Family.REPORTED,
        "--report",
        "--report --json @",
        EVERY_BLOB,
        "manifest_equal_arguments",
        more_bytes=REPORT_BYTES,
    ),
    Mode(
        Family.REPORTED,
        "--report --html",
        "--report --html out.html @",
        EVERY_BLOB,
        "names_and_manifest",
        more_bytes=REPORT_BYTES,
    ),
    Mode(
        Family.REPORTED,
        "--report --against",
        "--report --against @ @",
        EVERY_BLOB,
        "shared_manifest",
        more_bytes=10 * REPORT_BYTES,
    ),
    Mode(Family.ALONE, "--strip-signature", "--strip-signature @ -o out", NOTHING, "equal_groups"),
    Mode(Family.ALONE, "--extract", "--extract --json @ -o folder", EXTRACTED, "equal_groups"),
    Mode(
        Family.LISTED,
        "--provenance",
        "--provenance @ -o out.json",
        EVERY_BLOB,
        "equal_groups",
    ),
    Mode(Family.LISTED, "--sbom", "--sbom @ -o out.json", EVERY_BLOB, "long_source"),
    Mode(Family.CHECKED, "embed as object", "@ -o out.o", EVERY_BLOB, "long_source"),
    Mode(
        Family.ALONE, "launchers", "--emit=hpp @ -o out.hpp", EVERY_BLOB, "manifest_equal_arguments"
    ),
]


@dataclass
class Cost:
    status: int
    peak_bytes: int
    seconds: float
    messages: str


class Tests:
    def __init__(self, oclcc, make_bundle, tools, folder):
        self.oclcc = oclcc
        self.tools = tools
        self.folder = folder
        self.failures = []
        self.plain = folder / "plain.clbin"
        subprocess.run([make_bundle, "sample", self.plain], check=True)
        self.key = folder / "key.key"
        subprocess.run([oclcc, "--keygen", folder / "key", "--no-passphrase"], check=True)
        subprocess.run([oclcc, "--keygen", folder / "content", "--key-type", "content"], check=True)
        self.content_key = folder / "content.key"
        self.bare_bytes = self.run(["--version"], folder, 1 << 40).peak_bytes

    def write(self, kind, scale, bundle):
        """Returns the bytes that each mode may be asked for."""
        written = subprocess.run(
            [self.tools / "write_amplifying_bundle", kind, str(scale), bundle],
            check=True,
            capture_output=True,
            text=True,
        )
        return [0, *map(int, written.stdout.split())]

    def kinds(self):
        listed = subprocess.run(
            [self.tools / "write_amplifying_bundle", "--list"],
            check=True,
            capture_output=True,
            text=True,
        )
        return listed.stdout.split()

    def run(self, arguments, folder, address_bytes):
        scripted = self.tools / "scripted_opencl"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LD_LIBRARY_PATH": str(scripted),
            "OCL_ICD_VENDORS": str(scripted / "libOpenCL.so.1"),
            "CLBIN_CACHE": "0",
        }
        command = [
            self.tools / "measured_run",
            str(address_bytes),
            str(PROCESSOR_SECONDS),
            self.oclcc,
            *arguments,
        ]
        measured = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        status, peak_bytes, seconds = measured.stdout.split()
        return Cost(
            int(status), int(peak_bytes), float(seconds), measured.stderr.decode("utf-8", "replace")
        )

    def arguments(self, mode, bundle):
        paths = {
            "@": str(bundle),
            "%": str(self.plain),
            "&": str(self.key),
            "$": str(self.content_key),
        }
        return [paths.get(argument, argument) for argument in mode.arguments.split()]

    def check(self, kind, scale, mode, bundle, asked):
        size = sum(
            {"@": bundle, "%": self.plain}[argument].stat().st_size
            for argument in mode.arguments.split()
            if argument in "@%"
        )
        bound = BASE_BYTES + BYTES_FOR_EACH * size + asked[mode.asks_for] + mode.more_bytes
        arguments = self.arguments(mode, bundle)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            cost = self.run(arguments, Path(folder), bound + ADDRESS_BYTES)
        taken = cost.peak_bytes - self.bare_bytes
        place = f"{kind} at scale {scale} ({size} bytes), {mode.name}"
        if os.environ.get("HOSTILE_COSTS"):
            print(
                f"{place}: status {cost.status}, {taken / MEBIBYTE:.1f} of {bound / MEBIBYTE:.1f} MiB, "
                f"{cost.seconds:.2f} s {cost.messages[:300].splitlines()[-1:]}",
                flush=True,
            )
        if cost.status not in mode.statuses:
            self.failures.append(f"{place}: status {cost.status}: {cost.messages[:300]}")
        elif cost.status == REFUSED and "error: " not in cost.messages:
            self.failures.append(f"{place}: status 4 without a reason")
        elif taken > bound:
            self.failures.append(
                f"{place}: {taken / MEBIBYTE:.1f} MiB, at most {bound / MEBIBYTE:.1f} are allowed"
            )
        return cost.status

    def check_plain(self):
        """Checks that each mode accepts a plain bundle. A mode that rejects every bundle would pass all other checks."""
        for mode in MODES:
            arguments = self.arguments(mode, self.plain)
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                cost = self.run(arguments, Path(folder), 1 << 40)
            if cost.status == REFUSED or cost.status not in (0, *mode.statuses):
                self.failures.append(
                    f"a plain bundle, {mode.name}: status {cost.status}: {cost.messages[:300]}"
                )

    @contextlib.contextmanager
    def checks(self, kind, scale):
        """Yields a function that checks a mode on a bundle, and returns its exit status."""
        bundle = self.folder / f"{kind}.{scale}.clbin"
        asked = self.write(kind, scale, bundle)
        yield lambda mode: self.check(kind, scale, mode, bundle, asked)
        bundle.unlink()

    def check_families(self, kind, number, check):
        for family in Family:
            modes = [mode for mode in MODES if mode.family == family]
            if family == Family.ALONE:
                needed = modes
            else:
                first = modes.pop(number % len(modes))
                refused = check(first) == REFUSED
                needed = [
                    mode
                    for mode in modes
                    if mode.costly_kind == kind or not (refused or family == Family.CHECKED)
                ]
            for mode in needed:
                check(mode)

    def check_kind(self, kind, number):
        """`number` chooses the first mode of each family."""
        with self.checks(kind, 1) as check:
            self.check_families(kind, number, check)
        self.check_scale(kind, LARGER_SCALE, [mode for mode in MODES if mode.costly_kind == kind])

    def check_scale(self, kind, scale, modes):
        if modes:
            with self.checks(kind, scale) as check:
                for mode in modes:
                    check(mode)

    def check_all(self, kind):
        for scale in ALL_SCALES:
            self.check_scale(kind, scale, MODES)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oclcc", required=True, type=os.path.abspath)
    parser.add_argument("--make-bundle", required=True, type=os.path.abspath)
    parser.add_argument("--tools", required=True, type=lambda path: Path(path).absolute())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("kinds", nargs="*")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        tests = Tests(arguments.oclcc, arguments.make_bundle, arguments.tools, Path(folder))
        tests.check_plain()
        kinds = tests.kinds()
        chosen = arguments.kinds or kinds
        if arguments.all:
            list(pool.map(tests.check_all, chosen))
        else:
            list(pool.map(lambda kind: tests.check_kind(kind, kinds.index(kind)), chosen))
    for failure in tests.failures:
        print(failure)
    return 1 if tests.failures else 0


if __name__ == "__main__":
    sys.exit(main())

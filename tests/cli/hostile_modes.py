#!/usr/bin/env python3
"""Runs every mode of oclcc on bundles that are made to exhaust memory or time.

    hostile_modes.py --oclcc OCLCC --make-bundle MAKE_BUNDLE --tools FOLDER [--all-scales] [KIND…]

FOLDER contains write_amplifying_bundle, measured_run and scripted_opencl/ (tests/support). Beyond the
memory of oclcc --version, a process may use 64 MiB, 16 bytes for each byte of its bundles, and the
requested payload with its reference. A mode ends with status 0 or 4 (diff: also 1). Status 4 comes
with a message that names a limit or an error. Limits on address space and processor time stop runaway
processes. Every mode runs on every kind at scale 1, and on one costly kind at scales 2 and 4. With
--all-scales, it runs on all kinds at these scales. If HOSTILE_COSTS is set, the script prints each
cost.
"""

import argparse
import concurrent.futures
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
LARGER_SCALES = (2, 4)

# Memory that zstd uses at level 19 to compress 8 MiB and more, as documented in oclcc(1).
COMPRESSOR_BYTES = 82 * MEBIBYTE

# The payloads that a mode reads: none, those of entries and sources, or each blob.
NOTHING, EXTRACTED, EVERY_BLOB = range(3)


@dataclass
class Mode:
    name: str
    arguments: list  # "@" is the bundle, "%" a bundle that is not hostile, "&" a secret key, "$" a content key
    asks_for: int
    costly_kind: str
    statuses: tuple = (0, 4)
    more_bytes: int = 0


MODES = [
    Mode("--info", ["--info", "@"], EVERY_BLOB, "manifest_build_log"),
    Mode("--info --json", ["--info", "--json", "@"], EVERY_BLOB, "manifest_equal_arguments"),
    Mode("--verify", ["--verify", "@"], EVERY_BLOB, "long_source"),
    Mode(
        "--verify --run",
        ["--verify", "--run", "-j", "2", "@"],
        EVERY_BLOB,
        "shared_reference",
        (0, 1, 4),
    ),
    Mode("--explain", ["--explain", "-j", "2", "@"], EXTRACTED, "candidates_with_long_options"),
    Mode("--explain --json", ["--explain", "--json", "-j", "2", "@"], EXTRACTED, "equal_groups"),
    Mode("--diff", ["--diff", "@", "@"], EVERY_BLOB, "manifest_arguments"),
    Mode(
        "--diff --json",
        ["--diff", "--json", "%", "@"],
        EVERY_BLOB,
        "manifest_unknown_values",
        (1, 4),
    ),
    Mode(
        "--strip",
        ["--strip", "--strip-reflection", "--drop-target", "none", "@", "-o", "out"],
        EVERY_BLOB,
        "long_source",
    ),
    Mode("--merge", ["--merge", "@", "@", "-o", "out"], EVERY_BLOB, "many_manifests"),
    Mode(
        "--repack",
        ["--repack", "@", "-o", "out"],
        EVERY_BLOB,
        "closed_source",
        more_bytes=COMPRESSOR_BYTES,
    ),
    Mode("--sign", ["--sign", "--key", "&", "@", "-o", "out"], EVERY_BLOB, "long_source"),
    Mode(
        "--encrypt",
        ["--encrypt", "--encrypt-key", "$", "@", "-o", "out"],
        EVERY_BLOB,
        "many_manifests",
    ),
    Mode("--strip-signature", ["--strip-signature", "@", "-o", "out"], NOTHING, "equal_groups"),
    Mode("--extract", ["--extract", "--json", "@", "-o", "folder"], EXTRACTED, "equal_groups"),
    Mode("embed as object", ["@", "-o", "out.o"], EVERY_BLOB, "long_source"),
    Mode("launchers", ["--emit=hpp", "@", "-o", "out.hpp"], EVERY_BLOB, "manifest_equal_arguments"),
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
        return [paths.get(argument, argument) for argument in mode.arguments]

    def check(self, kind, scale, mode, bundle, asked):
        size = sum(
            {"@": bundle, "%": self.plain}[argument].stat().st_size
            for argument in mode.arguments
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
        elif cost.status == 4 and "error: " not in cost.messages:
            self.failures.append(f"{place}: status 4 without a reason")
        elif taken > bound:
            self.failures.append(
                f"{place}: {taken / MEBIBYTE:.1f} MiB, at most {bound / MEBIBYTE:.1f} are allowed"
            )

    def check_plain(self):
        """Checks that each mode accepts a plain bundle. A mode that rejects every bundle would pass all other checks."""
        for mode in MODES:
            arguments = self.arguments(mode, self.plain)
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                cost = self.run(arguments, Path(folder), 1 << 40)
            if cost.status == 4 or cost.status not in (0, *mode.statuses):
                self.failures.append(
                    f"a plain bundle, {mode.name}: status {cost.status}: {cost.messages[:300]}"
                )

    def check_scale(self, kind, scale, modes):
        bundle = self.folder / f"{kind}.{scale}.clbin"
        asked = self.write(kind, scale, bundle)
        for mode in modes:
            self.check(kind, scale, mode, bundle, asked)
        bundle.unlink()

    def check_kind(self, kind, all_scales):
        self.check_scale(kind, 1, MODES)
        larger = [mode for mode in MODES if all_scales or mode.costly_kind == kind]
        for scale in LARGER_SCALES if larger else ():
            self.check_scale(kind, scale, larger)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oclcc", required=True, type=os.path.abspath)
    parser.add_argument("--make-bundle", required=True, type=os.path.abspath)
    parser.add_argument("--tools", required=True, type=lambda path: Path(path).absolute())
    parser.add_argument("--all-scales", action="store_true")
    parser.add_argument("kinds", nargs="*")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        tests = Tests(arguments.oclcc, arguments.make_bundle, arguments.tools, Path(folder))
        tests.check_plain()
        kinds = arguments.kinds or tests.kinds()
        list(pool.map(lambda kind: tests.check_kind(kind, arguments.all_scales), kinds))
    for failure in tests.failures:
        print(failure)
    return 1 if tests.failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""surgery.py BUILD_FOLDER: merges 200 bundles of 50 entries, and embeds a bundle of 100 MiB.

Measures the wall time and the peak memory of whole processes, the median of five. Exit status 1 if a
limit is not met. Copies the same bytes with cat to show the cost of the disk.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
BUNDLES = 200
PAYLOAD_BYTES = 4096
LARGE_MIB = 100


def measured(command, cwd):
    """Returns the median seconds, the largest peak in MiB and the last standard error of RUNS runs."""
    seconds, peaks, errors = [], [], b""
    for _ in range(RUNS):
        with tempfile.TemporaryFile() as stderr, open(os.devnull, "wb") as null:
            start = time.monotonic()
            child = subprocess.Popen(command, cwd=cwd, stderr=stderr, stdout=null)
            _, status, usage = os.wait4(child.pid, 0)
            seconds.append(time.monotonic() - start)
            child.returncode = os.waitstatus_to_exitcode(status)
            stderr.seek(0)
            errors = stderr.read()
        if child.returncode != 0:
            sys.exit(f"surgery.py: {command[0]} ended with {child.returncode}: {errors.decode()}")
        peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(seconds), max(peaks), errors.decode()


def report(what, result, max_seconds=None, max_mib=None):
    seconds, mib, _ = result
    met = (max_seconds is None or seconds <= max_seconds) and (max_mib is None or mib <= max_mib)
    floors = []
    if max_seconds is not None:
        floors.append(f"{max_seconds:g} s")
    if max_mib is not None:
        floors.append(f"{max_mib:g} MiB")
    verdict = f"  (floor {', '.join(floors)}) {'met' if met else 'NOT MET'}" if floors else ""
    print(f"{what:<44} {seconds:7.3f} s, peak {mib:4.0f} MiB{verdict}", flush=True)
    return met


def merge(oclcc, make_bundle, folder):
    names = [f"machine{number}.clbin" for number in range(BUNDLES)]
    for number, name in enumerate(names):
        subprocess.run(
            [make_bundle, "farm", str(number), str(PAYLOAD_BYTES), name], cwd=folder, check=True
        )
    total = sum(os.path.getsize(os.path.join(folder, name)) for name in names)
    print(f"{BUNDLES} bundles of 50 entries, {total >> 20} MiB in all")
    report("cat of all", measured(["sh", "-c", "cat machine*.clbin > all"], folder))
    met = report(
        "--merge of all", measured([oclcc, "--merge", *names, "-o", "merged.clbin"], folder), 1
    )
    random.Random(1).shuffle(names)
    met = (
        report(
            "--merge of all, in another order",
            measured([oclcc, "--merge", *names, "-o", "again.clbin"], folder),
            1,
        )
        and met
    )
    same = (
        subprocess.run(["cmp", "merged.clbin", "again.clbin"], cwd=folder, check=False).returncode
        == 0
    )
    print("both orders give the same bytes" if same else "THE ORDER CHANGES THE BYTES")
    return met and same


def embed(oclcc, make_bundle, folder):
    subprocess.run([make_bundle, "large", str(LARGE_MIB), "large.clbin"], cwd=folder, check=True)
    print(f"a bundle of {os.path.getsize(os.path.join(folder, 'large.clbin')) >> 20} MiB")
    report("cat of it", measured(["sh", "-c", "cat large.clbin > all"], folder))
    met = report("-o large.o", measured([oclcc, "large.clbin", "-o", "large.o"], folder), 2, 300)
    in_header = measured([oclcc, "large.clbin", "-o", "large.h"], folder)
    report("-o large.h", in_header)
    print(f"  says: {in_header[2].strip()}")
    return met and "-o large.o" in in_header[2]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: surgery.py BUILD_FOLDER")
    build = os.path.abspath(sys.argv[1])
    tools = (
        os.path.join(build, "oclcc", "oclcc"),
        os.path.join(build, "tests", "cli", "make_bundle"),
    )
    with tempfile.TemporaryDirectory(prefix="surgery-") as folder:
        met = [merge(*tools, folder), embed(*tools, folder)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

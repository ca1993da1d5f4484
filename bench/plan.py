#!/usr/bin/env python3
"""plan.py BUILD_FOLDER: plans 10,000 units in each format, and merges 10,000 bundles of one unit.

Measures the wall time, the processor time and the peak memory of whole processes, the median of
three. Exit status 1 if a wall time or a peak is not within its limit. Reports --repack apart, which is the last step of a plan.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 3
PROGRAMS, VARIANTS = 100, 10
TARGETS = ["sm_50", "sm_52", "sm_60", "sm_61", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_90"]
HEADER_LINES, KERNELS = 300, 20
PAYLOAD_BYTES = 4096


def measured(command, cwd, environment):
    """Returns the median seconds, those of the processor, and the largest peak in MiB of RUNS runs."""
    seconds, busy, peaks = [], [], []
    for _ in range(RUNS):
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=cwd, env=environment, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds.append(time.monotonic() - start)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"plan.py: {command[:3]} ended with {child.returncode}")
        busy.append(usage.ru_utime + usage.ru_stime)
        peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(seconds), statistics.median(busy), max(peaks)


def report(what, result, max_seconds=None, max_mib=None):
    seconds, busy, mib = result
    met = (max_seconds is None or seconds <= max_seconds) and (max_mib is None or mib <= max_mib)
    floor = "" if max_seconds is None else f"  (floor {max_seconds:g} s"
    floor += "" if max_mib is None else f", {max_mib:g} MiB"
    verdict = f"{floor}) {'met' if met else 'NOT MET'}" if floor else ""
    print(
        f"{what:<40} {seconds:7.3f} s ({busy:6.3f} s of a core), peak {mib:4.0f} MiB{verdict}",
        flush=True,
    )
    return met


def write_sources(folder, count):
    with open(os.path.join(folder, "common.h"), "w", encoding="utf-8") as header:
        for number in range(HEADER_LINES):
            print(f"float f{number}(float x) {{ return x + {number}; }}", file=header)
    names = []
    for program in range(count):
        names.append(f"program{program}.cl")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as source:
            print('#include "common.h"', file=source)
            for kernel in range(KERNELS):
                print(
                    f"kernel void k{kernel}(global float* p) {{ *p = f{kernel}({program} + N); }}",
                    file=source,
                )
    return names


def plan(oclcc, folder, environment):
    names = write_sources(folder, PROGRAMS)
    words = [*names, "--target", "nvptx:" + ",".join(TARGETS), "-o", "k.clbin"]
    for variant in range(VARIANTS):
        words += ["--variant", f"v{variant}=-DN={variant}"]
    print(
        f"{PROGRAMS} programs with a header of {HEADER_LINES} lines, {VARIANTS} variants, {len(TARGETS)} targets"
    )
    met = True
    for form in ("json", "ninja", "slurm", "parallel"):
        met = (
            report(
                f"--plan={form}",
                measured([oclcc, f"--plan={form}", *words], folder, environment),
                2,
            )
            and met
        )
    # One unit is in the cache, so that there is a cache in which the others are looked up.
    subprocess.run(
        [oclcc, names[0], "-DN=0", "--target", "nvptx:sm_50", "-o", "one.clbin"],
        cwd=folder,
        env=environment,
        check=True,
    )
    met = (
        report(
            "--plan=ninja, with a compile cache",
            measured([oclcc, "--plan=ninja", *words], folder, environment),
            2,
        )
        and met
    )
    names = write_sources(folder, PROGRAMS * VARIANTS * len(TARGETS))
    words = [*names, "-DN=1", "--target", "nvptx:sm_50", "-o", "k.clbin"]
    return (
        report(
            f"--plan=ninja of {len(names)} programs",
            measured([oclcc, "--plan=ninja", *words], folder, environment),
            2,
        )
        and met
    )


def merge(oclcc, make_bundle, folder, environment):
    units = PROGRAMS * VARIANTS * len(TARGETS)
    os.mkdir(os.path.join(folder, "units"))
    subprocess.run(
        [make_bundle, "units", str(units), str(PAYLOAD_BYTES), "units"], cwd=folder, check=True
    )
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as file:
        file.writelines(f"units/{number}.clbin\n" for number in range(units))
    total = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "units")))
    print(f"{units} bundles of one unit, {total >> 20} MiB in all")
    met = report(
        "--merge",
        measured([oclcc, "--merge", "@list", "-o", "merged.clbin"], folder, environment),
        10,
        512,
    )
    report(
        "--repack",
        measured([oclcc, "--repack", "merged.clbin", "-o", "k.clbin"], folder, environment),
    )
    return met


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    oclcc = os.path.join(build, "oclcc", "oclcc")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        met = plan(oclcc, folder, environment)
        met = (
            merge(oclcc, os.path.join(build, "tests", "cli", "make_bundle"), folder, environment)
            and met
        )
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

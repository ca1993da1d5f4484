#!/usr/bin/env python3
"""Measures oclcc when every unit is in its compile cache. Compares it with the start of the platforms
(oclcc --list-devices) and with a build of all units, in turn in one run.

    bench/compile_cache.py BUILD_DIR [RUNS] >>bench/results/overheads.txt

Exit status 1 if the limit of doc/performance.md is not met: a run of cache hits costs less than 50 ms
beyond the start of the platforms. The limit applies to processor time, workers included, because wall
time depends on the other work of the machine. Beyond the start of the platforms, oclcc runs on one
thread and does not block.
"""

import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

FLOOR_MS = 50


class Times:
    """Times of a process and the workers that it waited for, in ms."""

    def __init__(self, words, environment):
        start = time.monotonic()
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = 1000 * (time.monotonic() - start)
        self.cpu = 1000 * (usage.ru_utime + usage.ru_stime)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit {process.returncode}")


def medians(times):
    return [statistics.median(getattr(each, name) for each in times) for name in ("cpu", "wall")]


def measure(oclcc, programs, runs, environment):
    """Returns the number of units, and the medians of listing, hits and a build."""
    command = [oclcc, *programs, "-o", os.path.join(environment["TMPDIR"], "k.clbin")]
    subprocess.run([*command, "-q"], env=environment, check=True)  # then all units are cached
    lists, hits, builds = [], [], []
    for number in range(runs):
        lists.append(Times([oclcc, "--list-devices"], environment))
        hits.append(Times([*command, "-q"], environment))
        if number == 0:
            builds.append(Times([*command, "-q", "--no-cache"], environment))
    told = subprocess.run(
        [*command, "-v"], env=environment, check=True, stderr=subprocess.PIPE, text=True
    ).stderr
    assert "compile cache: miss" not in told, told
    return told.count("compile cache: hit"), medians(lists), medians(hits), medians(builds)


def main():
    build = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    kernels = sorted(glob.glob(os.path.join(root, "kernels", "*.cl")))
    met = True
    print(
        "programs  units        list: cpu, wall ms   hits: cpu, wall ms  build: cpu, wall ms  "
        "beyond (cpu)  hits/build (wall)"
    )
    for programs in (kernels[:1], kernels):
        with tempfile.TemporaryDirectory() as scratch:
            environment = {
                "OCL_ICD_VENDORS": os.path.join(build, "platforms"),
                "RUSTICL_ENABLE": "llvmpipe",
                **os.environ,
                "CLBIN_CACHE_DIR": os.path.join(scratch, "cache"),
                "TMPDIR": scratch,
            }
            environment.pop("CLBIN_CACHE", None)
            units, listing, hits, building = measure(
                os.path.join(build, "oclcc", "oclcc"), programs, runs, environment
            )
        beyond = hits[0] - listing[0]
        met = met and beyond < FLOOR_MS
        shown = "".join(f"{cpu:12.0f} {wall:8.0f}" for cpu, wall in (listing, hits, building))
        print(
            f"{len(programs):8} {units:6} {shown} {beyond:13.1f} {hits[1] / building[1]:18.4f}  "
            f"{'met' if beyond < FLOOR_MS else 'NOT MET'}",
            flush=True,
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

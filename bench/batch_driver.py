#!/usr/bin/env python3
"""Measures a batch on a real driver that compiles in milliseconds: Oclgrind. Compares the cost of a
unit in oclcc -j1 and -j2 with direct builds in one process, and with a second call that only hits the
compile cache.

    bench/batch_driver.py BUILD_DIR [SOURCES] >>bench/results/overheads.txt

SOURCES (250) sources x 4 variants x 1 device. Exit status 1 if oclcc's own process uses 256 MiB or
more, or keeps more than 64 files open.
"""

import os
import subprocess
import sys
import tempfile
import time

VARIANTS = 4
MOST_MIB = 256
MOST_FILES = 64
KERNEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tiled_product.cl")


def peak_mib(number):
    with open(f"/proc/{number}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    return 0


def run(words, environment):
    """Returns the seconds, and the peak memory and the maximum number of open files of the process."""
    memory, files = 0, 0
    begin = time.monotonic()
    process = subprocess.Popen(words, env=environment)
    while process.poll() is None:
        try:
            memory = max(memory, peak_mib(process.pid))
            files = max(files, len(os.listdir(f"/proc/{process.pid}/fd")))
        except OSError:
            pass
        time.sleep(0.02)
    if process.returncode != 0:
        sys.exit(f"{words[0]}: exit {process.returncode}")
    return time.monotonic() - begin, memory, files


def main():
    build = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 250
    units = count * VARIANTS
    with open(KERNEL, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for number in range(count):
            sources.append(os.path.join(folder, f"p{number}.cl"))
            with open(sources[-1], "w", encoding="utf-8") as file:
                file.write(f"// {number}\n#define NUMBER {number}\n{text}")
        environment = {
            **os.environ,
            "TMPDIR": folder,
            "CLBIN_CACHE_MAX_SIZE": "8G",
            "CLBIN_CACHE_DIR": os.path.join(folder, "cache"),
            "OCL_ICD_VENDORS": os.path.join(build, "platforms", "oclgrind.icd"),
        }
        environment.pop("CLBIN_CACHE", None)
        bare = [os.path.join(build, "bench", "bare_build"), "--binary", "0:0"]
        for source in sources:
            for variant in range(VARIANTS):
                bare += [f"-DV={variant} -cl-kernel-arg-info", source]
        oclcc = [
            os.path.join(build, "oclcc", "oclcc"),
            "-q",
            *sources,
            "-o",
            os.path.join(folder, "out.clbin"),
        ]
        for variant in range(VARIANTS):
            oclcc += ["--variant", f"v{variant}=-DV={variant}"]
        bare_seconds, _, _ = run(bare, environment)
        print(f"{units} units: {count} sources x {VARIANTS} variants on Oclgrind\n")
        print(f"{'bare, one process':26}{1000 * bare_seconds / units:8.2f} ms a unit")
        met = True
        for name, options in (
            ("oclcc -j1 --no-cache", ["-j1", "--no-cache"]),
            ("oclcc -j2 --no-cache", ["-j2", "--no-cache"]),
            ("oclcc -j2, cache filled", ["-j2"]),
            ("oclcc -j2, from the cache", ["-j2"]),
        ):
            seconds, memory, files = run([*oclcc, *options], environment)
            is_met = memory < MOST_MIB and files <= MOST_FILES
            met = met and is_met
            print(
                f"{name:26}{1000 * seconds / units:8.2f} ms a unit"
                f"{seconds / bare_seconds:8.2f} of bare  peak {memory} MiB  {files} open files  "
                f"{'met' if is_met else 'NOT MET'}",
                flush=True,
            )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

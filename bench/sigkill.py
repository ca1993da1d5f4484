#!/usr/bin/env python3
"""Measures what remains of a run of oclcc after SIGKILL, and for how long.

    bench/sigkill.py BUILD_DIR [MOMENTS] >>bench/results/overheads.txt

Kills a run over every platform at each of MOMENTS (200) random moments. Afterwards the output is the
old file or the new one, and no other file or temporary folder remains. No process of the run (workers,
the guard, and processes that drivers started) survives oclcc by more than a second. Exit status 1 if
one of these fails.
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_MS = 1000
GIVE_UP_MS = 20000
POLL_SECONDS = 0.002
MARK = f"OCLCC_BENCH_MARK={os.getpid()}"
KERNEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tiled_product.cl")


def is_alive(number):
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


class Processes:
    """The processes of one run, found by a mark in their environment. Remembers them while they exit."""

    def __init__(self):
        self.known = {}

    def look(self):
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    if MARK.encode() in file.read().split(b"\0"):
                        with open(f"/proc/{number}/comm", encoding="utf-8") as name:
                            self.known[number] = name.read().strip()
            except OSError:
                pass

    def alive(self):
        self.look()
        return [number for number in self.known if is_alive(number)]


class Bench:
    def __init__(self, build, folder):
        self.oclcc = os.path.join(build, "oclcc", "oclcc")
        self.folder = folder
        self.output = os.path.join(folder, "beside", "out.clbin")
        self.temporary = os.path.join(folder, "tmp")
        os.makedirs(os.path.dirname(self.output))
        os.makedirs(self.temporary)
        name, value = MARK.split("=")
        self.environment = {
            "OCL_ICD_VENDORS": os.path.join(build, "platforms"),
            "RUSTICL_ENABLE": "llvmpipe",
            **os.environ,
            name: value,
            "TMPDIR": self.temporary,
            "CLBIN_CACHE": "0",
        }

    def start(self):
        return subprocess.Popen([self.oclcc, "-q", KERNEL, "-o", self.output], env=self.environment)

    def content(self):
        with open(self.output, "rb") as file:
            return file.read()

    def leftovers(self):
        return os.listdir(self.temporary) + [
            name for name in os.listdir(os.path.dirname(self.output)) if name != "out.clbin"
        ]

    def kill_at(self, seconds):
        """Returns how long processes, then any trace of the run, remained after oclcc ended, in ms."""
        with open(self.output, "wb") as file:
            file.write(b"old")
        process = self.start()
        time.sleep(seconds)
        processes = Processes()
        processes.look()
        processes.known.pop(str(process.pid), None)
        process.send_signal(signal.SIGKILL)
        process.wait()
        begin = time.monotonic()
        while True:
            alive = processes.alive()
            took = 1000 * (time.monotonic() - begin)
            if (not alive and not self.leftovers()) or took > GIVE_UP_MS:
                return process.returncode, took, sorted(set(processes.known.values()))
            time.sleep(POLL_SECONDS)


def main():
    build = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder)
        durations = []
        for _ in range(3):
            begin = time.monotonic()
            if bench.start().wait() != 0:
                sys.exit("oclcc failed")
            durations.append(time.monotonic() - begin)
        new = bench.content()
        generator = random.Random(1)
        outcomes = {"old": 0, "new": 0, "neither": 0}
        times, names, left = [], set(), 0
        for _ in range(count):
            code, took, seen = bench.kill_at(generator.uniform(0, min(durations)))
            content = bench.content()
            outcomes["old" if content == b"old" else "new" if content == new else "neither"] += 1
            left += len(bench.leftovers())
            if code == -signal.SIGKILL:
                times.append(took)
                names.update(seen)
    print(
        f"{len(times)} of {count} runs of about {1000 * min(durations):.0f} ms were killed in time; "
        f"processes seen beside oclcc: {', '.join(sorted(names))}"
    )
    print(
        f"output: {outcomes['old']} times the old file, {outcomes['new']} times the new one, "
        f"{outcomes['neither']} times another; files and folders that stayed: {left}"
    )
    worst = max(times)
    met = worst < LIMIT_MS and not outcomes["neither"] and not left
    print(
        f"every trace was gone after: median {statistics.median(times):.0f} ms, "
        f"longest {worst:.0f} ms  {'met' if met else 'NOT MET'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

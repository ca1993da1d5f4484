#!/usr/bin/env python3
"""Measures the time from process start to the end of the first launch, in fresh processes.

The program comes from source, the driver's own cache, PyOpenCL, the bare device binary, or libclbin's
bundle.

    bench/first_launch.py BUILD_DIR [--platform PART] [--rounds N] [--many PROCESSES] [--compile]
                          [--programs]

Every round starts each way once, so that all run under the same conditions. Prints medians, and the
ratio of source to each way. Fresh: every cache folder is new. Warm: the folder of an earlier run. Exit
status 1 if a limit of doc/performance.md is not met.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ROOT / "bench" / "tiled_product.cl"

PYOPENCL = """
import sys, time
import numpy as np
import pyopencl as cl
start = time.perf_counter()
platform = next(p for p in cl.get_platforms() if sys.argv[2] in p.name)
context = cl.Context(platform.get_devices()[:1])
ready = time.perf_counter()
program = cl.Program(context, open(sys.argv[1]).read()).build()
loaded = time.perf_counter()
queue = cl.CommandQueue(context)
n = 64
ones = np.ones((n, n), np.float32)
flags = cl.mem_flags
operand = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=ones)
result = cl.Buffer(context, flags.WRITE_ONLY, ones.nbytes)
kernel = program.tiled_product
kernel.set_args(result, operand, operand, np.int32(n))
before = time.perf_counter()
cl.enqueue_nd_range_kernel(queue, kernel, (n, n), (16, 16))
queue.finish()
after = time.perf_counter()
cl.enqueue_copy(queue, ones, result)
assert (ones == n).all()
print((ready - start) * 1e6, (loaded - ready) * 1e6, (after - before) * 1e6)
"""


def python_with_pyopencl():
    """Finds a python3 that has PyOpenCL. Debian's package works only with Debian's
    python3, which may not be first in PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        words = [python, "-c", "import pyopencl"]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return python
    return None


class Way:
    """One way to start a kernel, and the times measured for it."""

    def __init__(self, name, command, warm=False):
        self.name = name
        self.command = [str(word) for word in command]
        self.warm = warm
        self.caches = None
        self.load, self.launch, self.process = [], [], []

    def both(self):
        return statistics.median(a + b for a, b in zip(self.load, self.launch))

    def whole(self):
        return statistics.median(self.process)


def environment(caches, warm=False):
    return dict(
        os.environ,
        HOME=caches,
        XDG_CACHE_HOME=f"{caches}/xdg",
        POCL_CACHE_DIR=f"{caches}/pocl",
        CLBIN_CACHE_DIR=f"{caches}/clbin",
        CUDA_CACHE_PATH=f"{caches}/nv",
        CUDA_CACHE_DISABLE="0" if warm else "1",
    )


def start_once(way, work):
    caches = way.caches or tempfile.mkdtemp(dir=work)
    os.makedirs(f"{caches}/pocl", exist_ok=True)
    begin = time.perf_counter()
    done = subprocess.run(
        way.command, env=environment(caches, way.warm), capture_output=True, text=True, check=False
    )
    took = (time.perf_counter() - begin) * 1e6
    if done.returncode != 0:
        sys.exit(f"first_launch: {way.name}: {done.stderr.strip()}")
    if way.warm:
        way.caches = caches
    else:
        shutil.rmtree(caches)
    _, load, launch = (float(word) for word in done.stdout.split())
    return load, launch, took


def measure(ways, rounds, work):
    for way in ways:
        start_once(way, work)  # fills the page cache, and the cache of a warm way
    for _ in range(rounds):
        for way in ways:
            load, launch, took = start_once(way, work)
            way.load.append(load)
            way.launch.append(launch)
            way.process.append(took)


def milliseconds(values):
    return f"{statistics.median(values) / 1000:.2f}"


def table(ways, source):
    print(
        "| way | create + build ms | first launch ms | source takes | whole process ms | source takes |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for way in ways:
        print(
            f"| {way.name} | {milliseconds(way.load)} | {milliseconds(way.launch)} "
            f"| {source.both() / way.both():.1f} × | {milliseconds(way.process)} "
            f"| {source.whole() / way.whole():.1f} × |"
        )
    print()


def floor(text, value, bound, higher):
    met = value >= bound if higher else value <= bound
    print(f"- {text}: {value:.2f}, floor {bound:g}: {'met' if met else 'MISSED'}")
    return met


def ratio_of_loads(a, b):
    """Returns the median ratio over the pairs of one round."""
    return statistics.median(x / y for x, y in zip(a.load, b.load))


def beyond(bare, loaded):
    """Returns the median difference over the pairs of one round, in milliseconds."""
    return statistics.median(x - y for x, y in zip(loaded.load, bare.load)) / 1000


def compile_kernel(oclcc, platform, output, *options, kernel=KERNEL):
    subprocess.run(
        [oclcc, kernel, "--device", platform, "--no-cache", "-o", output, *options], check=True
    )
    return output


def nvidia_ways(args, oclcc, one_launch, work, kernel):
    """Source, PTX by hand, PTX by libclbin, cubin by hand, cubin by libclbin."""

    def made(name, *options):
        return compile_kernel(oclcc, args.platform, work / name, *options, kernel=kernel)

    last = [args.platform, kernel.stem]
    return [
        Way("source", [one_launch, "source", kernel, *last]),
        Way("bare PTX", [one_launch, "binary", made("k.ptx"), *last]),
        Way("bundle: PTX", [one_launch, "bundle", made("ptx.clbin"), *last]),
        Way("bare cubin", [one_launch, "binary", made("k.cubin"), *last]),
        Way("bundle: cubin", [one_launch, "bundle", made("cubin.clbin", "--emit-cubin"), *last]),
    ]


def nvidia_programs(args, oclcc, one_launch, work):
    """Measures the programs of kernels/, whose compile times differ."""
    print("Create + build in fresh processes, ms, and what source takes for each:\n")
    print("| program | source | bare PTX | bundle: PTX | bare cubin | bundle: cubin |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kernel in sorted((ROOT / "kernels").glob("*.cl")):
        ways = nvidia_ways(args, oclcc, one_launch, work, kernel)
        measure(ways, args.rounds, work)
        cells = [milliseconds(ways[0].load)]
        cells += [
            f"{milliseconds(way.load)} ({ratio_of_loads(ways[0], way):.1f} ×)" for way in ways[1:]
        ]
        print(f"| {kernel.stem} | {' | '.join(cells)} |", flush=True)
    print()
    return True


def nvidia(args, oclcc, one_launch, work):
    """Compares PTX and cubins loaded by libclbin with the same loaded by direct calls: create + build."""
    ways = nvidia_ways(args, oclcc, one_launch, work, KERNEL)
    ways.insert(1, Way("source, driver's cache warm", ways[0].command, warm=True))
    measure(ways, args.rounds, work)
    source, _, ptx, by_ptx, cubin, by_cubin = ways
    table(ways, source)
    met = [
        floor(
            f"create + build, {kind} by libclbin beyond the bare one, ms",
            beyond(bare, loaded),
            0.5,
            False,
        )
        for kind, bare, loaded in (("PTX", ptx, by_ptx), ("cubin", cubin, by_cubin))
    ]
    return all(met)


def any_driver(args, oclcc, one_launch, work):
    bundle = compile_kernel(oclcc, args.platform, work / "k.clbin")
    binary = compile_kernel(oclcc, args.platform, work / "k.bin")
    source = Way("source, fresh", [one_launch, "source", KERNEL, args.platform])
    own_cache = Way("source, driver's cache warm", source.command, warm=True)
    bare = Way("bare specialised binary, fresh", [one_launch, "binary", binary, args.platform])
    loaded = Way("bundle, fresh", [one_launch, "bundle", bundle, args.platform])
    ways = [source, own_cache]
    python = python_with_pyopencl()
    if python:
        command = [python, "-c", PYOPENCL, KERNEL, args.platform]
        ways += [Way("PyOpenCL, fresh", command), Way("PyOpenCL, warm", command, warm=True)]
    else:
        print("(PyOpenCL is not installed: script/bootstrap)\n")
    ways += [bare, Way("bare specialised binary, warm", bare.command, warm=True)]
    ways += [loaded, Way("bundle, warm", loaded.command, warm=True)]
    measure(ways, args.rounds, work)
    table(ways, source)
    if "Portable" not in args.platform:
        return True
    pairs = [x / y for x, y in zip(loaded.process, bare.process)]
    met = [
        floor(
            "source / bundle, create + build + first launch",
            source.both() / loaded.both(),
            150,
            True,
        ),
        floor("bundle / bare binary, whole process", statistics.median(pairs), 1.1, False),
        floor(
            "driver's warm cache / bundle, create + build + first launch",
            own_cache.both() / loaded.both(),
            1,
            True,
        ),
    ]
    return all(met)


def at_once(command, count, env):
    begin = time.perf_counter()
    processes = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(count)
    ]
    failed = sum(process.communicate() is None or process.returncode != 0 for process in processes)
    return time.perf_counter() - begin, failed


def many(args, oclcc, one_launch, work):
    """A bundle without an entry for the device: all processes look for the same entry in the user cache."""
    other = work / "other.clbin"
    compile_kernel(oclcc, args.platform, work / "all.clbin")
    subprocess.run(
        [oclcc, "--strip", work / "all.clbin", "--drop-target", args.platform, "-o", other],
        check=True,
    )
    command = [str(word) for word in (one_launch, "fallback", other, args.platform)]
    source = [str(word) for word in (one_launch, "source", KERNEL, args.platform)]

    def fresh():
        caches = tempfile.mkdtemp(dir=work)
        os.makedirs(f"{caches}/pocl")
        return caches

    bare, cold, warm, entries = [], [], [], []
    at_once(source, args.many, environment(fresh()))  # the first run takes half as long again
    for _ in range(min(args.rounds, 3)):
        caches = fresh()
        bare.append(at_once(source, args.many, environment(fresh())))
        cold.append(at_once(command, args.many, environment(caches)))
        warm.append(at_once(command, args.many, environment(caches)))
        entries.append(sum(path.suffix == ".clbin" for path in Path(caches, "clbin").rglob("*")))
    print(
        f"{args.many} processes at once, each create + build + launch on {args.platform}; "
        f"{len(bare)} rounds:\n"
    )
    print("| way | seconds for all | failed |\n| --- | ---: | ---: |")
    left = f"{min(entries)} to {max(entries)} entries left"
    for name, runs in (
        ("source by hand", bare),
        (f"user cache, cold ({left})", cold),
        ("user cache, warm", warm),
    ):
        seconds = statistics.median(took for took, _ in runs)
        print(f"| {name} | {seconds:.2f} | {sum(failed for _, failed in runs)} |")
    print()
    return all(failed == 0 for _, failed in cold + warm)


def compile_cache(oclcc, rounds, work):
    """Compares a run of oclcc that only hits the cache with the start of the platforms."""
    sources = sorted(str(path) for path in (ROOT / "kernels").glob("*.cl"))
    env = dict(environment(str(work)), CLBIN_CACHE_DIR=f"{work}/compile_cache")
    command = [oclcc, *sources, "-o", str(work / "all.clbin")]

    def seconds(words):
        begin = time.perf_counter()
        subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    cold = seconds(command)
    cached, platforms = [], []
    for _ in range(rounds):
        cached.append(seconds(command))
        platforms.append(seconds([oclcc, "--list-devices"]))
    beyond = statistics.median(a - b for a, b in zip(cached, platforms)) * 1000
    print(
        f"`oclcc kernels/*.cl` for every device: {cold:.1f} s; all cached "
        f"{statistics.median(cached) * 1000:.0f} ms; `oclcc --list-devices` "
        f"{statistics.median(platforms) * 1000:.0f} ms.\n"
    )
    return floor("oclcc, all units cached, ms beyond the start of the platforms", beyond, 50, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", default="Portable Computing Language")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--many", type=int, default=0, help="so many processes at once, only")
    parser.add_argument("--compile", action="store_true", help="a cached run of oclcc, only")
    parser.add_argument(
        "--programs", action="store_true", help="PTX and cubins of the programs of kernels/, only"
    )
    args = parser.parse_args()
    oclcc = str(args.build.resolve() / "oclcc" / "oclcc")
    one_launch = str(args.build.resolve() / "bench" / "one_launch")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if args.many:
            met = many(args, oclcc, one_launch, work)
        elif args.compile:
            met = compile_cache(oclcc, args.rounds, work)
        elif args.programs:
            met = nvidia_programs(args, oclcc, one_launch, work)
        elif "NVIDIA" in args.platform:
            met = nvidia(args, oclcc, one_launch, work)
        else:
            met = any_driver(args, oclcc, one_launch, work)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

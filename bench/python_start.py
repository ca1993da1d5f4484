#!/usr/bin/env python3
"""Measures Python processes from the creation of a program to the end of its first launch.

    bench/python_start.py PACKAGE PLATFORMS [--rounds N]

PACKAGE: the directory that contains the package clbin, such as an unpacked wheel.
PLATFORMS: a directory of .icd files, such as build/dev/platforms.

Every round starts each way once on each platform, in a new process, and in an order that changes
with the round, so that all run under the same conditions. Prints medians in milliseconds:
  PyOpenCL   cl.Program(context, source).build()
  build      clbin.build
  bundle     clbin.Bundle(path).load
cold: every cache is empty. second: the start after the cold one, in which PoCL unpacks a binary
into its cache. warm: the start after that.
Prints the ratio of PyOpenCL's warm start to each, too, and the time of `import clbin` with
bytecode, as pip installs it.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

STARTS = ("cold", "second", "warm")
PROGRAMS = ("PyOpenCL", "build", "bundle")
WAYS = tuple(f"{program} {start}" for program in PROGRAMS for start in STARTS)

IMPORT = """
import time
start = time.perf_counter()
import clbin
print(time.perf_counter() - start)
"""

MEASURED = """
import json, os, sys, time
import numpy
import pyopencl as cl
way, name, source_path, bundle_path = sys.argv[1:]
start = time.perf_counter()
import clbin
imported = time.perf_counter() - start
platform = next(each for each in cl.get_platforms() if each.name == name)
device = platform.get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
side = 64
values = numpy.ones((side, side), dtype=numpy.float32)
buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values) for _ in range(3)]
with open(source_path) as file:
    source = file.read()
report = clbin.Report()
start = time.perf_counter()
if way.startswith("bundle"):
    program = clbin.Bundle(bundle_path).load(context, device, "tiled_product", report=report)
elif not way.startswith("PyOpenCL"):
    program = clbin.build(context, source, report=report)
else:
    program = cl.Program(context, source).build()
kernel = cl.Kernel(program, "tiled_product")
kernel(queue, (side, side), (16, 16), *buffers, numpy.int32(side))
queue.finish()
used = time.perf_counter() - start
cl.enqueue_copy(queue, values, buffers[0])
assert (values == side).all(), values
print(json.dumps([used, imported, report.origin.name]))
"""


class Subject:
    """One platform, with caches of its own for PyOpenCL and for clbin."""

    def __init__(self, name, options, folder, bundle, source):
        self.name = name
        self.options = options
        self.folder = folder / name.replace(" ", "_").replace("/", "_")
        self.bundle = bundle
        self.source = source
        self.times = {way: [] for way in WAYS}
        self.imports = []
        self.origins = {}

    def caches(self, way):
        return self.folder / way.split()[0]

    def measure(self, way):
        caches = self.caches(way)
        if way.endswith("cold"):
            shutil.rmtree(caches, ignore_errors=True)
        for name in ("home", "pocl"):
            (caches / name).mkdir(parents=True, exist_ok=True)
        environment = python_environment(self.options) | {
            "HOME": str(caches / "home"),
            "XDG_CACHE_HOME": str(caches / "home" / "cache"),
            "POCL_CACHE_DIR": str(caches / "pocl"),
        }
        done = subprocess.run(
            [self.options.python, "-c", MEASURED, way, self.name, self.source, self.bundle],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{way} on {self.name}: {done.stderr}")
        used, imported, origin = json.loads(done.stdout.splitlines()[-1])
        self.times[way].append(used)
        self.imports.append(imported)
        self.origins[way] = origin

    def round(self, number):
        first = len(STARTS) * (number % len(PROGRAMS))  # each program fills its caches first
        for way in WAYS[first:] + WAYS[:first]:
            self.measure(way)

    def report(self):
        print(f"\n{self.name}")
        warm = statistics.median(self.times["PyOpenCL warm"])
        for way, times in self.times.items():
            middle = statistics.median(times)
            origin = "" if way.startswith("PyOpenCL") else self.origins[way].lower()
            print(f"{way:16}{1e3 * middle:10.2f} ms{warm / middle:9.3f}  {origin}")


def python_environment(options):
    environment = os.environ | {
        "PYTHONPATH": str(options.package),
        "PYTHONPYCACHEPREFIX": str(options.bytecode),
        "OCL_ICD_VENDORS": str(options.platforms),
        "RUSTICL_ENABLE": "llvmpipe",
    }
    for name in (
        "CLBIN_CACHE",
        "CLBIN_CACHE_DIR",
        "CLBIN_CACHE_POCL",
        "PYOPENCL_NO_CACHE",
        "PYTHONDONTWRITEBYTECODE",
    ):
        environment.pop(name, None)
    return environment


def output_of(options, code):
    done = subprocess.run(
        [options.python, "-c", code],
        env=python_environment(options),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def platform_names(options):
    code = "import pyopencl as cl; [print(p.name) for p in cl.get_platforms() if p.get_devices()]"
    return output_of(options, code).splitlines()


def make_bundle(options, source, path):
    command = [
        options.package / "clbin/_native/oclcc",
        "--no-cache",
        "--specialize",
        "tiled_product=16x16",  # what MEASURED launches; without it, PoCL compiles at the launch
        source,
        "-o",
        path,
    ]
    subprocess.run(command, env=python_environment(options), check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("platforms", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python", default="/usr/bin/python3", help="the Python with PyOpenCL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        options.bytecode = folder / "bytecode"
        output_of(options, IMPORT)  # writes the bytecode
        source = folder / "tiled_product.cl"
        source.write_bytes((pathlib.Path(__file__).parent / "tiled_product.cl").read_bytes())
        bundle = folder / "tiled_product.clbin"
        make_bundle(options, source, bundle)
        subjects = [
            Subject(name, options, folder, bundle, source) for name in platform_names(options)
        ]
        imports = []
        for number in range(options.rounds):
            imports.append(float(output_of(options, IMPORT)))
            for subject in subjects:
                subject.round(number)
        for subject in subjects:
            subject.report()
        print(f"\nimport clbin    {1e3 * statistics.median(imports):10.2f} ms")
        imports = [each for subject in subjects for each in subject.imports]
        print(f"import clbin    {1e3 * statistics.median(imports):10.2f} ms, after PyOpenCL")


if __name__ == "__main__":
    sys.exit(main())

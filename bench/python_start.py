#!/usr/bin/env python3
"""Measures Python processes from the creation of a program to the end of its first launch.

    bench/python_start.py PACKAGE PLATFORMS [--rounds N]

PACKAGE: the directory that contains the package clbin, such as build/dev/python or an unpacked
wheel.
PLATFORMS: a directory of .icd files, such as build/dev/platforms.

Every round starts each way once on each platform, in a new process, and in an order that changes
with the round, so that all run under the same conditions. Prints medians in milliseconds:
  PyOpenCL cold   cl.Program(context, source).build(), every cache is empty
  PyOpenCL warm   the same, the caches of PyOpenCL and of the driver are warm
  build cold      clbin.build, every cache is empty
  build warm      clbin.build, the caches of clbin and of the driver are warm
  bundle          clbin.Bundle(path).load, every cache is empty
and the ratio of PyOpenCL warm to each other way. Prints the time of `import clbin`, too.
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

WAYS = ("PyOpenCL cold", "PyOpenCL warm", "build cold", "build warm", "bundle")

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
if way == "bundle":
    program = clbin.Bundle(bundle_path).load(context, device, "tiled_product", report=report)
elif way.startswith("build"):
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
        if not way.endswith("warm"):
            shutil.rmtree(caches, ignore_errors=True)
        for name in ("home", "pocl"):
            (caches / name).mkdir(parents=True, exist_ok=True)
        environment = os.environ | {
            "PYTHONPATH": str(self.options.package),
            "OCL_ICD_VENDORS": str(self.options.platforms),
            "RUSTICL_ENABLE": "llvmpipe",
            "HOME": str(caches / "home"),
            "XDG_CACHE_HOME": str(caches / "home" / "cache"),
            "POCL_CACHE_DIR": str(caches / "pocl"),
        }
        for name in ("CLBIN_CACHE", "CLBIN_CACHE_DIR", "PYOPENCL_NO_CACHE"):
            environment.pop(name, None)
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
        # A warm start follows the cold one that fills its caches.
        pairs = [("PyOpenCL cold", "PyOpenCL warm"), ("build cold", "build warm"), ("bundle",)]
        for pair in pairs[number % 3 :] + pairs[: number % 3]:
            for way in pair:
                self.measure(way)

    def report(self):
        print(f"\n{self.name}")
        warm = statistics.median(self.times["PyOpenCL warm"])
        for way, times in self.times.items():
            middle = statistics.median(times)
            origin = "" if way.startswith("PyOpenCL") else self.origins[way].lower()
            print(f"{way:16}{1e3 * middle:10.2f} ms{warm / middle:9.3f}  {origin}")


def platform_names(options):
    code = "import pyopencl as cl; [print(p.name) for p in cl.get_platforms() if p.get_devices()]"
    environment = os.environ | {
        "OCL_ICD_VENDORS": str(options.platforms),
        "RUSTICL_ENABLE": "llvmpipe",
    }
    listed = subprocess.run(
        [options.python, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return listed.stdout.splitlines()


def make_bundle(options, source, path):
    environment = os.environ | {
        "OCL_ICD_VENDORS": str(options.platforms),
        "RUSTICL_ENABLE": "llvmpipe",
    }
    command = [
        options.package / "clbin/_native/oclcc",
        "--no-cache",
        "--specialize",
        "tiled_product=16x16",  # what MEASURED launches; without it, PoCL compiles at the launch
        source,
        "-o",
        path,
    ]
    subprocess.run(command, env=environment, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("platforms", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python", default="/usr/bin/python3", help="the Python with PyOpenCL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        source = folder / "tiled_product.cl"
        source.write_bytes((pathlib.Path(__file__).parent / "tiled_product.cl").read_bytes())
        bundle = folder / "tiled_product.clbin"
        make_bundle(options, source, bundle)
        subjects = [
            Subject(name, options, folder, bundle, source) for name in platform_names(options)
        ]
        for number in range(options.rounds):
            for subject in subjects:
                subject.round(number)
        for subject in subjects:
            subject.report()
        imports = [each for subject in subjects for each in subject.imports]
        print(f"\nimport clbin    {1e3 * statistics.median(imports):10.2f} ms, after PyOpenCL")


if __name__ == "__main__":
    sys.exit(main())

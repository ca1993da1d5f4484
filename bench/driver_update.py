#!/usr/bin/env python3
"""Measures starts after the update of a driver: a bundle is compiled for the driver of this machine,
and loaded by another version.

    bench/driver_update.py BUILD_DIR [--platform NAME] [--root ROOT] [--rounds N]

The other version is that in ROOT, a root file system with the platform and an ICD loader, such as
one that debootstrap has made (as root; the programs of BUILD_DIR run in it, with copies of the
libraries of this machine that it may lack). Without ROOT, the fault layer says that the version is
another one. Each round starts each way once in a fresh process, with empty caches of the drivers:
  cold   the bundle of the old driver, an empty user cache: builds the source
  warm   the bundle of the old driver, after one `oclcc --warm`
  own    a bundle that was compiled for the new driver
Prints medians in milliseconds, of create + build + first launch and from the start of OpenCL to the
end of the first launch, and the ratios of warm to own and of cold to warm.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = "/opt/driver_update"
LIBRARIES = ("libfmt", "libsodium", "libzstd", "libclbin")
PROGRAM = "tiled_product"
LIMIT = 1.1


class Machine:
    """This machine, on which the fault layer changes the version of the driver."""

    def __init__(self, build, platform):
        self.build = build
        self.platform = platform
        self.folder = Path(tempfile.mkdtemp(prefix="driver_update-"))
        self.inside = self.folder  # its name for programs
        scenario = self.folder / "scenario"
        scenario.write_text('answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value="999.1"\n')
        self.variables = {
            "OPENCL_LAYERS": str(build / "tests" / "faults" / "libclbin_faults.so"),
            "CLBIN_FAULTS": str(scenario),
        }
        for name in ("OCL_ICD_VENDORS", "RUSTICL_ENABLE"):
            if name in os.environ:
                self.variables[name] = os.environ[name]

    def command(self, name, *words):
        folder = {"oclcc": "oclcc", "one_launch": "bench"}[name]
        return [self.build / folder / name, *words]

    def run(self, *command, caches="none"):
        """Runs a program with empty caches of the drivers, and returns its output."""
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/bin",
            "HOME": f"{self.inside}/home",
            "LC_ALL": "C.UTF-8",
            "POCL_CACHE_DIR": f"{self.inside}/home/pocl",
            "MESA_SHADER_CACHE_DIR": f"{self.inside}/home/mesa",
            "CLBIN_CACHE_DIR": f"{self.inside}/{caches}",
        } | self.variables
        shutil.rmtree(self.folder / "home", ignore_errors=True)
        (self.folder / "home" / "pocl").mkdir(parents=True)
        done = subprocess.run(
            self.command(*command), env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{command}: exit status {done.returncode}: {done.stderr}")
        return done.stdout

    def start(self, bundle, caches):
        """Returns microseconds: until the context exists, create + build, and the first launch."""
        where = f"{self.inside}/{bundle}"
        printed = self.run("one_launch", "fallback", where, self.platform, PROGRAM, caches=caches)
        return [float(word) for word in printed.split()[:3]]


class Root(Machine):
    """A root file system, with the programs of a build in FOLDER."""

    def __init__(self, build, platform, path):
        self.path = path
        self.platform = platform
        self.inside = FOLDER
        self.folder = path / FOLDER.lstrip("/")
        self.variables = {"LD_LIBRARY_PATH": f"{FOLDER}/lib"}
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "lib").mkdir(parents=True)
        for program in (build / "oclcc" / "oclcc", build / "bench" / "one_launch"):
            shutil.copy(program, self.folder)
            listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True)
            for line in listed.stdout.splitlines():
                name, _, rest = line.strip().partition(" => ")
                if name.startswith(LIBRARIES):
                    shutil.copy(rest.split()[0], self.folder / "lib" / name)

    def command(self, name, *words):
        return ["chroot", self.path, f"{FOLDER}/{name}", *words]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", default="Portable", help="a part of its name")
    parser.add_argument("--root", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    build, platform = arguments.build.resolve(), arguments.platform
    if arguments.root is None:
        place = Machine(build, platform)
    else:
        place = Root(build, platform, arguments.root.resolve())
    source = place.folder / f"{PROGRAM}.cl"
    shutil.copy(HERE / source.name, source)
    old = place.folder / "old.clbin"
    oclcc = build / "oclcc" / "oclcc"
    subprocess.run([oclcc, "--device", platform, source, "-o", old], check=True)
    inside = place.inside
    one_device = ("--device", platform)
    place.run("oclcc", *one_device, f"{inside}/{source.name}", "-o", f"{inside}/own.clbin")
    for bundle in ("old", "own"):
        listed = place.run("oclcc", "--info", f"{inside}/{bundle}.clbin")
        print(f"{bundle}: {[line.strip() for line in listed.splitlines() if platform in line]}")
    bundle = f"{inside}/old.clbin"
    print("warm:", place.run("oclcc", "--warm", *one_device, bundle, caches="warm").strip())

    ways = {"cold": "old", "warm": "old", "own": "own"}
    times = {way: [] for way in ways}
    for _ in range(arguments.rounds):
        for way, bundle in ways.items():
            if way == "cold":
                shutil.rmtree(place.folder / "cold", ignore_errors=True)
            times[way].append(place.start(f"{bundle}.clbin", way))
    medians = {}
    for way, rounds in times.items():
        load = statistics.median(build + launch for _, build, launch in rounds) / 1000
        whole = statistics.median(sum(each) for each in rounds) / 1000
        medians[way] = (load, whole)
        print(f"{way:5} {load:9.2f} ms create + build + first launch {whole:9.2f} ms in all")
    for above, below in (("warm", "own"), ("cold", "warm")):
        ratios = [a / b for a, b in zip(medians[above], medians[below], strict=True)]
        print(f"{above} / {below}: {ratios[0]:.2f}, in all {ratios[1]:.2f}")
    if arguments.root is None:
        shutil.rmtree(place.folder)
    is_met = medians["warm"][1] <= LIMIT * medians["own"][1]
    print(f"limit of warm / own in all, {LIMIT}: {'met' if is_met else 'NOT MET'}")
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()

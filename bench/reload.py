#!/usr/bin/env python3
"""Measures how long after the save of a source a running application uses its new code: `oclcc
--watch` compiles it, and examples/reload.cpp loads the bundle again.

    bench/reload.py BUILD_DIR [--platform NAME] [--rounds N]

Every round saves the source, half of them by a rename, waits until the application prints a result
that only the new source has, and then runs `oclcc` without --watch on another new source. Caches are
empty at first. Prints the median and the worst of each.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def source(number):
    text = (ROOT / "examples" / "saxpy.cl").read_text(encoding="utf-8")
    return text.replace("+ y[i];", f"+ y[i] + {number};")


def build_application(build, folder):
    command = f"c++ -std=c++17 -O2 -I{ROOT}/libclbin/include {ROOT}/examples/reload.cpp"
    library = build / "libclbin"
    command += f" -L{library} -Wl,-rpath,{library} -lclbin -lOpenCL -o {folder}/reload"
    subprocess.run(command.split(), check=True)


class Session:
    """oclcc --watch and the application, for one platform."""

    def __init__(self, build, folder, platform):
        self.folder = folder
        self.oclcc = str(build / "oclcc" / "oclcc")
        caches = {name: str(folder / "cache") for name in ("XDG_CACHE_HOME", "POCL_CACHE_DIR")}
        self.environment = os.environ | caches | {"OCL_ICD_VENDORS": str(platform)}
        self.environment["RUSTICL_ENABLE"] = "llvmpipe"
        self.save(0)
        self.watch = self.start(self.oclcc, "--watch", "saxpy.cl", "-o", "saxpy.clbin", stderr=-1)
        self.expect(self.watch.stderr, "watching")
        self.application = self.start("./reload", "saxpy.clbin", stdout=-1)
        try:
            self.expect(self.application.stdout, "12 24 36 48")
        except RuntimeError:
            self.end()
            raise

    def start(self, *words, **options):
        return subprocess.Popen(
            words, cwd=self.folder, env=self.environment, text=True, bufsize=1, **options
        )

    @staticmethod
    def expect(stream, text):
        for line in stream:
            if text in line:
                return line
        raise RuntimeError(f"the program ended without '{text}'")

    def save(self, number):
        name = ".saxpy.cl" if number % 2 else "saxpy.cl"
        (self.folder / name).write_text(source(number), encoding="utf-8")
        if number % 2:
            (self.folder / name).rename(self.folder / "saxpy.cl")

    def round(self, number):
        """Returns the seconds from the save to the result, those of the round that compiled, and
        those of a compile without --watch."""
        begin = time.perf_counter()
        self.save(number)
        self.expect(self.application.stdout, f"{12 + number} {24 + number}")
        used = time.perf_counter() - begin
        compiled = re.search(r" in ([0-9.]+) s", self.expect(self.watch.stderr, "wrote"))
        (self.folder / "other.cl").write_text(source(number + 1000), encoding="utf-8")
        begin = time.perf_counter()
        self.start(self.oclcc, "other.cl", "-o", "other.clbin").wait()
        return used, float(compiled.group(1)), time.perf_counter() - begin

    def end(self):
        for process in (self.watch, self.application):
            process.terminate()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--platform", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    build = options.build.resolve()
    print(f"{'ms':12}{'save to result':>22}{'the round of --watch':>22}{'oclcc alone':>22}")
    for platform in sorted((build / "platforms").glob("*.icd")):
        if options.platform and platform.stem not in options.platform:
            continue
        with tempfile.TemporaryDirectory(prefix="oclcc-reload-") as folder:
            build_application(build, Path(folder))
            try:
                session = Session(build, Path(folder), platform)
            except RuntimeError as error:
                print(f"{platform.stem:12} is skipped: {error}")
                continue
            times = [session.round(number) for number in range(1, options.rounds + 1)]
            session.end()
        columns = [[1000 * seconds for seconds in column] for column in zip(*times)]
        cells = [f"{statistics.median(column):.0f}, worst {max(column):.0f}" for column in columns]
        print(f"{platform.stem:12}" + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()

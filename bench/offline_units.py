#!/usr/bin/env python3
"""What many offline targets cost: bench/offline_units.py BUILD_DIR

- 60 architectures of one small kernel, without the cache: elapsed and processor time.
- Bytes of one bundle for `--target gpus`, and for 22 of AMD's processors, against those for one of these.

Exit status 1 if the first takes more than 30 s, or if 22 of AMD's processors take more than twice the
bytes of one. bench/changed_kernel.py compares single units with clang alone.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

K = pathlib.Path(__file__).resolve().parent.parent / "kernels"
MOST_SECONDS = 30
MOST_TIMES = 2
AMD_PROCESSORS = """gfx803 gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx1010 gfx1011 gfx1012
    gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1200""".split()


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def options(targets):
    return [word for target in targets for word in ("--target", target)]


def usable_targets(oclcc):
    listed = subprocess.run(
        [oclcc, "--list-targets"], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    )
    targets = [line for line in listed.stdout.splitlines() if line and " " not in line]
    return sorted(
        targets, key=lambda target: target.count(":")
    )  # settings of AMD's processors last


def compile_many(oclcc, bundle):
    targets = usable_targets(oclcc)[:60]
    families = {target.split(":")[0] for target in targets}
    before = os.times()
    start = time.monotonic()
    run(oclcc, "-q", "--no-cache", K / "transpose.cl", *options(targets), "-o", bundle)
    elapsed = time.monotonic() - start
    after = os.times()
    taken = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    is_met = elapsed <= MOST_SECONDS
    print(
        f"{len(targets)} targets ({', '.join(sorted(families))}) of transpose.cl: {elapsed:.1f} s, "
        f"{taken:.1f} s of processor time  {'met' if is_met else 'NOT MET'}"
    )
    return is_met


def compare_sizes(oclcc, bundle):
    met = True

    def size_of(source, *targets):
        run(oclcc, "-q", "--no-source", K / source, *options(targets), "-o", bundle)
        return bundle.stat().st_size

    for source in ("transpose.cl", "sgemm.cl"):
        one = size_of(source, "amdgcn:gfx1100")
        many = size_of(source, *(f"amdgcn:{name}" for name in AMD_PROCESSORS))
        is_met = many <= MOST_TIMES * one
        met = met and is_met
        print(
            f"{source}: gfx1100 {one} bytes, {len(AMD_PROCESSORS)} processors {many} ({many / one:.2f})  "
            f"{'met' if is_met else 'NOT MET'}; gpus {size_of(source, 'gpus')}"
        )
    return met


def main():
    oclcc = pathlib.Path(sys.argv[1]).resolve() / "oclcc" / "oclcc"
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "k.clbin"
        are_met = [step(oclcc, bundle) for step in (compile_many, compare_sizes)]
    return 0 if all(are_met) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Whether a load takes the fastest variant: tuned_choice.py BUILD FOLDER [--large] [--others DIR...]

Tunes four programs of kernels/ on every device that oclcc sees, and once more, without the first
results: the second run says how long each variant takes, the first one which of them a load takes.
FOLDER keeps the measurements, PROGRAM.DEVICE.clbin. With those of other machines (--others), also
prints what a load takes on a device whose own results are left out.
"""

import argparse
import json
import pathlib
import re
import subprocess

K = pathlib.Path(__file__).resolve().parent.parent / "kernels"
SGEMM = (
    f"@{K.parent}/runtime_demo/sgemm.options --variants TILE_M=16,32 TILE_N=16,32 ITEM_M=4 ITEM_N=4"
)
TILES = "--variants TILE=4,8,16,32 --variant default="
REDUCTIONS = "--variants REDUCTION=16,32,64,128,256,512 --variant default="
SIZES = {
    False: {"n": 512, "t": 2048, "m": 256, "d": 1 << 20, "g": 64},
    True: {"n": 2048, "t": 8192, "m": 2048, "d": 1 << 24, "g": 1024},
}
SGEMM_LAUNCH = """sgemm[{n}x{n}]=ceil(L/(TILE_N?128))*local0 x ceil(M/(TILE_M?128)):M={n},N={n},L={n},
    A=random(f32,M*N),B=random(f32,N*L),C=zero(f32,M*L)"""
TRANSPOSE_LAUNCH = "transpose[{t}x{t}]={t}x{t}:zero(f32,{t}*{t}),random(f32,{t}*{t}),{t},{t}"
TILED_LAUNCH = """matMul_tiled[{m}x{m}]={m}x{m}:random(f64,{m}*{m}),random(f64,{m}*{m}),
    zero(f64,{m}*{m}),{m},{m},{m}"""
DOT_LAUNCH = """dotProduct_tiled[{d}]={g}*(REDUCTION?1024),REDUCTION?1024:random(f32,{d}),
    random(f32,{d}),zero(f32,{g}),{d}"""
PROGRAMS = {
    "sgemm": ("sgemm.cl", SGEMM, SGEMM_LAUNCH),
    "transpose": ("transpose.cl", TILES, TRANSPOSE_LAUNCH),
    "cuda_ports": ("cuda_ports.cl", TILES, TILED_LAUNCH),
    "dot": ("cuda_ports.cl", REDUCTIONS, DOT_LAUNCH),
}


def words(text):
    """Splits options, where MACRO=VALUES behind --variants belong together."""
    parts = re.findall(r"--variants .*?(?= --|$)|\S+", text)
    return [
        word
        for part in parts
        for word in (["--variants", part[11:]] if part.startswith("--variants ") else [part])
    ]


def run(oclcc, *arguments):
    done = subprocess.run([oclcc, *map(str, arguments)], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):  # 1: every variant was refused on a device
        raise SystemExit(f"tuned_choice.py: {arguments} ended with {done.returncode}")
    return done.stdout


def times_of(document):
    """The best time of each variant, by device."""
    times = {}
    for device in json.loads(document)["devices"]:
        best = times.setdefault((device["id"], device["identity"]["device_name"]), {})
        for one in device["launches"][0]["results"]:
            if one["median_ns"]:
                best[one["variant"]] = min(one["median_ns"], best.get(one["variant"], 1 << 62))
    return times


def choice(oclcc, bundle, device, program):
    """The variant that a load without a variant takes."""
    explained = json.loads(run(oclcc, "--explain", "--json", "--device", device, bundle))
    ladders = explained["bundles"][0]["devices"][0]["ladders"]
    return next(one["variant"] for one in ladders if one["chosen"] and one["program"] == program)


def describe(times, variant):
    best = min(times.values())
    default = (
        f"{times['default'] / times[variant]:.2f} x default"
        if "default" in times
        else "default refused"
    )
    return f"{variant:<34} {times[variant] / best:5.3f} x best  {default}"


def examine(oclcc, folder, program, options, others):
    source, variants, launch = PROGRAMS[program]
    launch = launch.format(**SIZES[options.large])
    bare, tuned = folder / f"{program}.clbin", folder / f"{program}.tuned.clbin"
    named = f"{program}={K / source}" if program != source[:-3] else K / source
    inputs = ["--program", named] if program != source[:-3] else [named]
    # From source: each device builds the variants that it is asked for.
    run(oclcc, *inputs, "--source-only", *words(variants), "-o", bare)
    tune = ["--tune", "--tolerance", "0.05", "--launch", f"{program}/{launch}", "--json"]
    first = times_of(run(oclcc, *tune, bare, "-o", tuned))
    second = times_of(run(oclcc, *tune, bare, "-o", folder / f"{program}.again.clbin"))
    for device, times in second.items():
        if not times:
            print(f"  {device[1]:<44} no variant runs")
            continue
        chosen = choice(oclcc, tuned, device[0], program)
        print(f"  {device[1]:<44} {describe(times, chosen)}")
        mine = folder / f"{program}.{device[0].replace(':', '_')}.clbin"
        run(oclcc, *tune, "--tune-seconds", "9999", "--device", device[0], bare, "-o", mine)
        results = folder / f"{program}.{device[0].replace(':', '_')}.results.clbin"
        run(oclcc, mine, "--emit", "measurements", "-o", results)
    for device, times in second.items():
        mine = folder / f"{program}.{device[0].replace(':', '_')}.results.clbin"
        rest = [
            path
            for place in [folder, *others]
            for path in place.glob(f"{program}.*.results.clbin")
            if path != mine
        ]
        if times and rest:
            united = folder / "united.clbin"
            run(oclcc, "--merge", bare, *rest, "-o", united)
            left_out = choice(oclcc, united, device[0], program)
            if left_out in times:
                print(f"    left out {device[1]:<33} {describe(times, left_out)}")
            else:
                print(f"    left out {device[1]:<33} {left_out} does not run there")
    assert first.keys() == second.keys()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--large", action="store_true", help="sizes for a GPU")
    parser.add_argument("--others", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    oclcc = options.build / "oclcc" / "oclcc"
    for program, (_, _, launch) in PROGRAMS.items():
        print(f"{program}: {launch.format(**SIZES[options.large]).split('=')[0]}")
        examine(oclcc, options.folder, program, options, options.others)


if __name__ == "__main__":
    main()

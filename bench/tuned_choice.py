#!/usr/bin/env python3
"""Whether a load takes the fastest variant: tuned_choice.py BUILD FOLDER [--scale N] [--others DIR...]

Tunes four programs of kernels/ on every device that oclcc sees, twice: the first run says how long
each variant takes, the second one which of them a load takes. FOLDER keeps the results of the second
one, PROGRAM.DEVICE.results, for --others on another machine. Also prints what a load takes on a
device whose own results are left out.
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


def sizes(scale):
    """Of the launches; 4 is for a GPU, where they would be too short."""
    squared = scale * scale
    return {
        "n": 512 * scale,
        "t": 2048 * scale,
        "m": 256 * scale,
        "d": squared << 20,
        "g": 64 * squared,
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


def examine(oclcc, folder, program, options):
    source, variants, launch = PROGRAMS[program]
    launch = launch.format(**sizes(options.scale))
    bare, again, united = (folder / f"{program}.{end}" for end in ("clbin", "again", "united"))
    # From source: each device builds the variants that it is asked for.
    run(
        oclcc, "--program", f"{program}={K / source}", "--source-only", *words(variants), "-o", bare
    )
    tune = ["--tune", "--tolerance", "0.05", "--launch", f"{program}/{launch}", "--json"]
    devices = times_of(run(oclcc, *tune, bare, "-o", again))
    devices = {device: times for device, times in devices.items() if times}  # others lack a feature
    mine = {}
    for device in devices:
        mine[device] = folder / f"{program}.{device[0].replace(':', '_')}.results"
        run(oclcc, *tune, "--device", device[0], bare, "-o", united)
        run(oclcc, united, "--emit", "measurements", "-o", mine[device])
    everything = [*mine.values()]
    for place in options.others:
        everything += place.glob(f"{program}.*.results")
    for device, times in devices.items():
        for text, results in (
            (device[1], everything),
            (f"  left out {device[1]}", [path for path in everything if path != mine[device]]),
        ):
            run(oclcc, "--merge", bare, *results, "-o", united)
            variant = choice(oclcc, united, device[0], program)
            known = (
                describe(times, variant) if variant in times else f"{variant} does not run there"
            )
            print(f"  {text:<44} {known}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=1, help="of the sizes; 4 for a GPU")
    parser.add_argument("--others", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    oclcc = options.build / "oclcc" / "oclcc"
    for program, (_, _, launch) in PROGRAMS.items():
        print(f"{program}: {launch.format(**sizes(options.scale)).split('=')[0]}")
        examine(oclcc, options.folder, program, options)


if __name__ == "__main__":
    main()

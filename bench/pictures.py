#!/usr/bin/env python3
"""Draws the pictures of README.md.

    bench/pictures.py POCL_TABLE NVIDIA_TABLE >doc/start_up.svg
    bench/pictures.py HGEMM_RESULTS >doc/hgemm.svg

The first shows how long a kernel takes to start: from source, from the driver's warm cache, from a
bundle. Each file is the output of bench/first_launch.py. Reads the first table of each. Bars are create +
build + first launch. The second shows the speed of products on matrix units, from
bench/results/h100_hgemm.txt. Each panel has an axis of its own, which begins at zero, so that the
lengths of bars compare as the numbers do.
"""

import html
import math
import re
import statistics
import sys

LEFT, RIGHT, BAR, GAP, TOP, AXIS = 190, 190, 20, 8, 34, 24
WIDTH = 760
MOST_TICKS = 6


def first_table(path):
    """{way: create + build + first launch in ms}"""
    ways = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) < 3 or not line.startswith("|"):
                if ways:
                    break
                continue
            try:
                ways[cells[0]] = float(cells[1]) + float(cells[2])
            except ValueError:
                continue  # the table's head
    return ways


def chosen(path, names):
    ways = first_table(path)
    missing = [way for way, _ in names if way not in ways]
    if missing:
        sys.exit(f"pictures: {path}: no row '{missing[0]}'")
    return [(label, ways[way]) for way, label in names]


def medians(path, name):
    """The middle of the three numbers of each size, in a row of bench/results/h100_hgemm.txt."""
    with open(path, encoding="utf-8") as file:
        row = re.search(rf"^ +{name} +((?:\d+ *){{6}})$", file.read(), re.MULTILINE)
    if row is None:
        sys.exit(f"pictures: {path}: no row '{name}' of six numbers")
    numbers = [float(number) for number in row[1].split()]
    return statistics.median(numbers[:3]), statistics.median(numbers[3:])


def tick_step(most):
    """1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(most / MOST_TICKS))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most / MOST_TICKS)


def axis(y, height, scale, most, unit):
    step = tick_step(most)
    for tick in range(int(most / step) + 1):
        x = LEFT + scale * tick * step
        shown = f" {unit}" if tick == 0 else ""
        yield f'<path class="tick" d="M{x:.1f},{y} V{y + height}"/>'
        yield f'<text class="number" x="{x:.1f}" y="{y + height + 14}">{tick * step:g}{shown}</text>'


def comparison(value, first, unit):
    """How a bar compares with the first one, of which all have the work in common."""
    if unit == "ms":
        return f" ({first / value:.0f} times faster)" if first / value >= 2 else ""
    return f" ({value / first:.2f} of cuBLAS)" if value != first else ""


def panel(title, rows, top, unit):
    most = max(value for _, value in rows)
    scale = (WIDTH - LEFT - RIGHT) / most
    height = len(rows) * (BAR + GAP)
    yield f'<text class="title" x="{LEFT}" y="{top - 10}">{html.escape(title)}</text>'
    yield from axis(top - GAP // 2, height, scale, most, unit)
    for number, (label, value) in enumerate(rows):
        y = top + number * (BAR + GAP)
        length = max(scale * value, 1)
        kind = "bundle" if label.startswith("bundle") else "other"
        shown = f"{value:.1f} {unit}" if unit == "ms" else f"{value:.0f} {unit}"
        shown += comparison(value, rows[0][1], unit)
        yield f'<text class="label" x="{LEFT - 8}" y="{y + 15}">{html.escape(label)}</text>'
        yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}"/>'
        yield f'<text x="{LEFT + length + 6:.1f}" y="{y + 15}">{shown}</text>'


def panels_height(panels):
    return sum(TOP + len(rows) * (BAR + GAP) + AXIS for _, rows in panels)


def start_up_panels(pocl, nvidia):
    return [
        (
            "PoCL 3.1, two CPU cores: tiled matrix product",
            chosen(
                pocl,
                [
                    ("source, fresh", "source"),
                    ("source, driver's cache warm", "driver's warm cache"),
                    ("bundle, fresh", "bundle, empty caches"),
                ],
            ),
        ),
        (
            "NVIDIA H200, driver 580: tiled matrix product",
            chosen(
                nvidia,
                [
                    ("source", "source"),
                    ("source, driver's cache warm", "driver's warm cache"),
                    ("bundle: PTX", "bundle with PTX"),
                    ("bundle: cubin", "bundle with a cubin"),
                ],
            ),
        ),
    ]


def hgemm_panels(results):
    of_cublas, of_hgemm = medians(results, "cuBLAS"), medians(results, "hgemm")
    return [
        (
            f"NVIDIA H100: product of {size} x {size} halves",
            [("cuBLAS", cublas), ("bundle made without a GPU", hgemm)],
        )
        for size, cublas, hgemm in zip((4096, 8192), of_cublas, of_hgemm, strict=True)
    ]


def main():
    if len(sys.argv) == 3:
        panels, unit = start_up_panels(*sys.argv[1:]), "ms"
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        panels, unit = hgemm_panels(sys.argv[1]), "TFLOP/s"
    else:
        sys.exit(__doc__)
    body = []
    for number, (title, rows) in enumerate(panels):
        body += panel(title, rows, panels_height(panels[:number]) + TOP, unit)
    height = panels_height(panels)
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
    )
    print(
        "<style>.label{text-anchor:end}.number{text-anchor:middle;font-size:11px;fill:#555}"
        ".title{font-weight:bold}.tick{stroke:#ccc}.other{fill:#8a97a6}.bundle{fill:#1f7a4d}</style>"
    )
    print(f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>')
    print("\n".join(body))
    print("</svg>")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws how long a kernel takes to start: from source, from the driver's warm cache, from a bundle.

    bench/start_up_picture.py POCL_TABLE NVIDIA_TABLE >doc/start_up.svg

Each file is the output of bench/first_launch.py. Reads the first table of each. Bars are create +
build + first launch, in milliseconds. Each panel has an axis of its own, which begins at zero, so that
the lengths of bars compare as the times do.
"""

import html
import math
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
        sys.exit(f"start_up_picture: {path}: no row '{missing[0]}'")
    return [(label, ways[way]) for way, label in names]


def tick_step(most):
    """1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(most / MOST_TICKS))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most / MOST_TICKS)


def axis(y, height, scale, most):
    step = tick_step(most)
    for tick in range(int(most / step) + 1):
        x = LEFT + scale * tick * step
        unit = " ms" if tick == 0 else ""
        yield f'<path class="tick" d="M{x:.1f},{y} V{y + height}"/>'
        yield f'<text class="number" x="{x:.1f}" y="{y + height + 14}">{tick * step:g}{unit}</text>'


def panel(title, rows, top):
    most = max(value for _, value in rows)
    slowest = rows[0][1]
    scale = (WIDTH - LEFT - RIGHT) / most
    height = len(rows) * (BAR + GAP)
    yield f'<text class="title" x="{LEFT}" y="{top - 10}">{html.escape(title)}</text>'
    yield from axis(top - GAP // 2, height, scale, most)
    for number, (label, value) in enumerate(rows):
        y = top + number * (BAR + GAP)
        length = max(scale * value, 1)
        kind = "bundle" if label.startswith("bundle") else "other"
        times = f" ({slowest / value:.0f} times faster)" if slowest / value >= 2 else ""
        yield f'<text class="label" x="{LEFT - 8}" y="{y + 15}">{html.escape(label)}</text>'
        yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}"/>'
        yield f'<text x="{LEFT + length + 6:.1f}" y="{y + 15}">{value:.1f} ms{times}</text>'


def panels_height(panels):
    return sum(TOP + len(rows) * (BAR + GAP) + AXIS for _, rows in panels)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    panels = [
        (
            "PoCL 3.1, two CPU cores: tiled matrix product",
            chosen(
                sys.argv[1],
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
                sys.argv[2],
                [
                    ("source", "source"),
                    ("source, driver's cache warm", "driver's warm cache"),
                    ("bundle: PTX", "bundle with PTX"),
                    ("bundle: cubin", "bundle with a cubin"),
                ],
            ),
        ),
    ]
    body = []
    for number, (title, rows) in enumerate(panels):
        body += panel(title, rows, panels_height(panels[:number]) + TOP)
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

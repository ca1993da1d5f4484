#!/usr/bin/env python3
"""Draws how long a kernel takes to start: from source, from the driver's warm cache, from a bundle.

    bench/start_up_picture.py POCL_TABLE NVIDIA_TABLE >doc/start_up.svg

Each file is the output of bench/first_launch.py. Reads the first table of each. Bars are create +
build + first launch, on a logarithmic scale, in milliseconds.
"""

import html
import math
import sys

LEFT, RIGHT, BAR, GAP, TOP = 190, 70, 20, 8, 34
WIDTH = 760
LEAST_MS = 1.0


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


def bars(panels):
    most = max(value for _, rows in panels for _, value in rows)
    scale = (WIDTH - LEFT - RIGHT) / math.log10(most / LEAST_MS)
    y = TOP
    for title, rows in panels:
        yield f'<text class="title" x="{LEFT}" y="{y - 10}">{html.escape(title)}</text>'
        slowest = rows[0][1]
        for number, (label, value) in enumerate(rows):
            length = max(scale * math.log10(max(value, LEAST_MS) / LEAST_MS), 2)
            kind = "bundle" if label.startswith("bundle") else "other"
            times = (
                ""
                if number == 0
                else f" ({slowest / value:.0f} times faster)"
                if slowest / value >= 2
                else ""
            )
            yield f'<text class="label" x="{LEFT - 8}" y="{y + 15}">{html.escape(label)}</text>'
            yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}"/>'
            inside = length > WIDTH - LEFT - RIGHT - 90
            x = LEFT + length + (-6 if inside else 6)
            anchor = ' style="text-anchor:end;fill:#fff"' if inside else ""
            yield f'<text x="{x:.1f}" y="{y + 15}"{anchor}>{value:.1f} ms{times}</text>'
            y += BAR + GAP
        y += TOP


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
    body = list(bars(panels))
    height = TOP * 2 * len(panels) + sum(len(rows) for _, rows in panels) * (BAR + GAP) - TOP
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
    )
    print(
        "<style>.label{text-anchor:end}.title{font-weight:bold}.other{fill:#8a97a6}.bundle{fill:#1f7a4d}</style>"
    )
    print(f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>')
    print("\n".join(body))
    print("</svg>")


if __name__ == "__main__":
    main()

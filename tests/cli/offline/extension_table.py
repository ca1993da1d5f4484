#!/usr/bin/env python3
"""Compares functions of the extensions that oclcc has for NVIDIA's devices with exact results.

usage: extension_table.py cpu [--clang CLANG] [--widths 1,4] [--only REGEX]
       extension_table.py write FOLDER [--widths 1,4] [--only REGEX]

The modes are those of built_in_table.py. Functions of half are compared with all numbers of half as
arguments, functions of two and more with extremes and random ones. Functions of sub-groups and
work-groups need a device: the table contains launches in one to three dimensions, of work-groups that 32
does not divide, and calls in code where the lanes of a sub-group diverge in many ways.
"""

import dataclasses
import functools
import itertools
import math
import operator
import random
import sys

from built_in_table import (
    FLOATS,
    INTEGERS,
    Case,
    Row,
    bound_of,
    conversions,
    from_float,
    is_zero_of_either_sign,
    limits,
    main,
    math_1,
    math_2,
    math_3,
    padded,
    to_float,
    wrapped,
)
from extension_functions import EXTENSIONS


def to_bits(value, kind):
    if kind in FLOATS:
        return from_float(float(value), kind)
    return int(value) & (1 << INTEGERS[kind][0]) - 1


def from_bits(bits, kind):
    return to_float(bits, kind) if kind in FLOATS else wrapped(bits, kind)


# Half.


def quotient(x, y):
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if y == 0:
        infinity = math.copysign(math.inf, x) * math.copysign(1, y)
        return math.nan if x == 0 else infinity
    return x / y


def arithmetic_of_half(arguments):
    columns = arguments.several(["half", "half"], 9600, "arithmetic")
    operations = {
        "x + y": operator.add,
        "x - y": operator.sub,
        "x * y": operator.mul,
        "x / y": quotient,
    }
    values = [[to_float(bits, "half") for bits in column] for column in columns]
    # Exact in double: sums have 41 bits, products 22, and quotients are rounded twice harmlessly.
    rows = [
        Row(
            f"{name} of half{{n}}",
            name,
            [from_float(function(*each), "half") for each in zip(*values)],
        )
        for name, function in operations.items()
    ]
    pairs = list(zip(*columns))
    for name, function in (("max", max), ("min", min)):
        rows.append(
            Row(
                f"{name}(half{{n}})",
                f"{name}(x, y)",
                [
                    None
                    if a != a or b != b or is_zero_of_either_sign(x, y, "half")
                    else from_float(function(a, b), "half")
                    for a, b, (x, y) in zip(*values, pairs)
                ],
            )
        )
    less = [y if a < b else x for a, b, (x, y) in zip(*values, pairs)]
    rows.append(Row("select(half{n})", "select(x, y, (short{n})(isless(x, y)))", less))
    rows.append(
        Row("step(half{n})", "step(x, y)", [0 if b < a else 0x3C00 for a, b in zip(*values)])
    )
    yield Case(["half", "half"], columns, "half", rows)
    column = padded(list(range(1 << 16)))
    numbers = [to_float(bits, "half") for bits in column]
    rows = [
        Row(
            f"{name}(half{{n}})",
            f"{name}(x)",
            [
                None if name == "lgamma" and x < 0 else from_float(function(x), "half")
                for x in numbers
            ],
            bound_of((name,), "half"),
        )
        for name, function in (
            # Beside the zeros of negative numbers, the error has no bound.
            ("lgamma", lambda x: math.inf if x == 0 else math.lgamma(x)),
            ("-", lambda x: -x),
        )
    ]
    yield Case(["half"], [column], "half", rows)


def ternary_of_half(arguments):
    columns = arguments.several(["half"] * 3, 4800, "three")
    bits_of = list(zip(*columns))
    values = [tuple(to_float(bits, "half") for bits in each) for each in bits_of]

    def expected(function, is_defined=lambda *_: True):
        return [
            from_float(function(*each), "half")
            if all(map(math.isfinite, each)) and is_defined(*each)
            else None
            for each in values
        ]

    def mixed(x, y, z):
        return x + (y - x) * z

    rows = [
        Row("bitselect(half{n})", "bitselect(x, y, z)", [x & ~z | y & z for x, y, z in bits_of]),
        Row(
            "clamp(half{n})",
            "clamp(x, y, z)",
            expected(lambda x, y, z: min(max(x, y), z), lambda x, y, z: y <= z and x * y * z),
        ),
        Row(
            "mix(half{n})",
            "mix(x, y, z)",
            # Without cancellation.
            expected(mixed, lambda x, y, z: abs(mixed(x, y, z)) > (abs(x) + abs((y - x) * z)) / 64),
            1,
        ),
    ]
    yield Case(["half"] * 3, columns, "half", rows)

    def length(*each):
        return math.sqrt(sum(one * one for one in each))

    vectors = {"2": "x, y", "3": "x, y, z", "4": "x, y, z, y"}
    rows = []
    for n, text in vectors.items():
        count = int(n)
        vector, other = f"(half{n})({text})", f"(half{n})(fabs(y))"

        def of(function, count=count):
            return lambda x, y, z: function(*(x, y, z, y)[:count])

        def squares(*each):
            return sum(abs(one) for one in each) * abs(each[1])

        def distances(*each):
            return length(*(abs(one) - abs(each[1]) for one in each))

        rows += [
            Row(f"dot(half{n})", f"dot(fabs({vector}), {other})", expected(of(squares)), 1),
            Row(f"length(half{n})", f"length({vector})", expected(of(length)), 1),
            Row(
                f"distance(half{n})",
                f"distance(fabs({vector}), {other})",
                expected(of(distances)),
                1,
            ),
            Row(
                f"normalize(half{n})",
                f"normalize({vector}).x",
                expected(lambda x, y, z, of=of: x / (of(length)(x, y, z) or 1)),
                1,
            ),
        ]
    rows.append(
        Row(
            "cross(half3)",
            "cross((half3)(x, y, z), (half3)(y, z, x)).x",
            expected(lambda x, y, z: y * x - z * z),
            1,
        )
    )
    yield Case(["half"] * 3, columns, "half", rows, widths=(1,))


def half_cases(arguments):
    yield from math_1(arguments, "half")
    yield from math_2(arguments, "half")
    yield from math_3(arguments, "half")
    yield from arithmetic_of_half(arguments)
    yield from ternary_of_half(arguments)
    kinds = [*INTEGERS, "float", "double"]
    pairs = [("half", kind) for kind in kinds] + [(kind, "half") for kind in (*kinds, "half")]
    yield from conversions(arguments, pairs)


# Integers.


def bytes_of(bits, is_signed):
    return [wrapped(bits >> 8 * i & 255, "char" if is_signed else "uchar") for i in range(4)]


def dot_products(arguments):
    extremes = [0, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x01010101, 0x80FF7F01, 0xFF80017F]
    source = random.Random("dot")
    words = extremes + [source.getrandbits(32) for _ in range(60)]
    pairs = list(itertools.product(words, words))
    sums = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFF0000, 0x80008000, 0xFFFF0000]
    columns = [
        padded([a for a, _ in pairs]),
        padded([b for _, b in pairs]),
        padded([source.choice(sums) for _ in pairs]),
    ]
    for letters, result in (("uu", "uint"), ("ss", "int"), ("us", "int"), ("su", "int")):
        signs = [letter == "s" for letter in letters]
        exact = [
            sum(map(operator.mul, bytes_of(a, signs[0]), bytes_of(b, signs[1])))
            for a, b, _ in zip(*columns)
        ]
        low, high = limits(result)
        saturated = [
            min(max(one + wrapped(c, result), low), high) for one, c in zip(exact, columns[2])
        ]
        a, b = (f"as_{'char' if one else 'uchar'}4({name})" for one, name in zip(signs, "xy"))
        c = f"as_{result}(z)"
        name = f"4x8packed_{letters}_{result}"
        plain, wrapped_bits = ([to_bits(v, result) for v in one] for one in (exact, saturated))
        rows = [
            Row(f"dot({letters})", f"dot({a}, {b})", plain),
            Row(f"dot_{name}", f"dot_{name}(x, y)", plain),
            Row(f"dot_acc_sat({letters})", f"dot_acc_sat({a}, {b}, {c})", wrapped_bits),
            Row(f"dot_acc_sat_{name}", f"dot_acc_sat_{name}(x, y, {c})", wrapped_bits),
        ]
        yield Case(["uint"] * 3, columns, result, rows, widths=(1,))


def bit_functions(arguments):
    for kind, (bits, _) in INTEGERS.items():
        columns = arguments.several([kind, kind], 480, "bits")
        unsigned, signed = ("u" + kind.lstrip("u"), kind.lstrip("u"))
        rows = {kind: [], unsigned: [], signed: []}
        reverse = [int(format(x, f"0{bits}b")[::-1], 2) for x in columns[0]]
        rows[kind].append(Row(f"bit_reverse({kind}{{n}})", "bit_reverse(x)", reverse))
        half = bits // 2
        for offset, count in ((0, 0), (0, bits), (0, 1), (bits - 1, 1), (3, half), (half, half)):
            field = ((1 << count) - 1) << offset
            place = f"{offset}, {count})"
            rows[kind].append(
                Row(
                    f"bitfield_insert({kind}{{n}}, {place}",
                    f"bitfield_insert(x, y, {place}",
                    [x & ~field | y << offset & field for x, y in zip(*columns)],
                )
            )
            parts = [(x & field) >> offset for x in columns[0]]
            signs = [1 << count - 1 if count else 0 for _ in parts]
            extended = [to_bits((x ^ s) - s, unsigned) for x, s in zip(parts, signs)]
            for word, result, expected in (
                ("unsigned", unsigned, parts),
                ("signed", signed, extended),
            ):
                name = f"bitfield_extract_{word}"
                rows[result].append(
                    Row(f"{name}({kind}{{n}}, {place}", f"{name}(x, {place}", expected)
                )
        for result, of_result in rows.items():
            yield Case([kind, kind], columns, result, of_result)


# Sub-groups.

WARP = 32
# Local sizes, and numbers of work-groups.
LAUNCHES = (
    ((32, 1, 1), (2, 1, 1)),
    ((1, 1, 1), (3, 1, 1)),
    ((37, 1, 1), (2, 1, 1)),
    ((128, 1, 1), (3, 1, 1)),
    ((7, 5, 1), (2, 2, 1)),
    ((32, 4, 1), (1, 2, 1)),
    ((5, 3, 7), (2, 1, 2)),
    ((2, 8, 8), (1, 2, 1)),
)
CLASSES = 4
IDENTITIES = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0}
OPERATIONS = {
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def identity_of(name, kind):
    if name in IDENTITIES:
        return IDENTITIES[name]
    if kind in FLOATS:
        return math.inf if name == "min" else -math.inf
    return limits(kind)[1 if name == "min" else 0]


def reduced(values, name, kind):
    result = functools.reduce(OPERATIONS[name], values, identity_of(name, kind))
    return result if kind in FLOATS else wrapped(int(result), kind)


@dataclasses.dataclass
class SubGroupFunction:
    """`result` gets the lanes that call a function together, and returns a value for each, or None. The
    lanes are the sub-group if `is_uniform`, otherwise those of one class."""

    expression: str
    result: object
    is_uniform: bool = False


@dataclasses.dataclass
class SubGroupRow(Row):
    is_uniform: bool = False


def folds(kind):
    """Yields the reductions and scans of a type."""
    names = ["add", "min", "max", "mul"] + ([] if kind in FLOATS else ["and", "or", "xor"])
    for name in names:
        letter = "y" if name == "mul" else "x"

        def values_of(lanes, letter=letter):
            return [lane[letter] for lane in lanes]

        def reduce(lanes, name=name, values_of=values_of):
            return [reduced(values_of(lanes), name, kind)] * len(lanes)

        def scan(lanes, last, name=name, values_of=values_of):
            values = values_of(lanes)
            return [reduced(values[: i + last], name, kind) for i in range(len(lanes))]

        def cluster(lanes, size, name=name, letter=letter):
            return [
                reduced(
                    [one[letter] for one in lanes if one["lane"] // size == lane["lane"] // size],
                    name,
                    kind,
                )
                for lane in lanes
            ]

        groups = [("sub_group_non_uniform_", False)]
        if name in ("add", "min", "max"):
            groups.append(("sub_group_", True))
        for prefix, is_uniform in groups:
            yield SubGroupFunction(f"{prefix}reduce_{name}({letter})", reduce, is_uniform)
            for word, last in (("inclusive", 1), ("exclusive", 0)):
                yield SubGroupFunction(
                    f"{prefix}scan_{word}_{name}({letter})",
                    functools.partial(scan, last=last),
                    is_uniform,
                )
        for size in (1, 2, 8, 32):
            yield SubGroupFunction(
                f"sub_group_clustered_reduce_{name}({letter}, {size})",
                functools.partial(cluster, size=size),
            )


def moves(kind):
    """Yields the functions that return a value of another lane."""

    def from_lane(source):
        def result(lanes):
            values = {lane["lane"]: lane["x"] for lane in lanes}
            return [values.get(source(lane["lane"])) for lane in lanes]

        return result

    last = "sub_group_ballot_find_msb(sub_group_ballot(1))"
    functions = {
        "sub_group_shuffle(x, (lane * 7 + 3) % 32)": lambda lane: (lane * 7 + 3) % 32,
        "sub_group_shuffle_xor(x, 5)": lambda lane: lane ^ 5,
        "sub_group_shuffle_up(x, 3)": lambda lane: lane - 3,
        "sub_group_shuffle_down(x, 2)": lambda lane: lane + 2,
        "sub_group_rotate(x, 5)": lambda lane: (lane + 5) % 32,
        "sub_group_rotate(x, -3)": lambda lane: (lane - 3) % 32,
        "sub_group_clustered_rotate(x, 3, 8)": lambda lane: (lane + 3) % 8 + lane // 8 * 8,
    }
    for expression, source in functions.items():
        yield SubGroupFunction(expression, from_lane(source))
    places = {
        "sub_group_broadcast_first(x)": ("x", 0, False),
        f"sub_group_non_uniform_broadcast(x, {last})": ("x", -1, False),
        f"sub_group_non_uniform_broadcast(({kind}3)(y, y, x), {last}).z": ("x", -1, False),
        "sub_group_broadcast(x, get_sub_group_size() - 1)": ("x", -1, True),
        "sub_group_broadcast(x, 0)": ("x", 0, True),
        f"sub_group_broadcast(({kind}2)(x, y), 0).y": ("y", 0, True),
        f"sub_group_broadcast(({kind}16)(x), get_sub_group_size() - 1).sf": ("x", -1, True),
    }
    for expression, (letter, place, is_uniform) in places.items():
        yield SubGroupFunction(
            expression,
            lambda lanes, letter=letter, place=place: [lanes[place][letter]] * len(lanes),
            is_uniform,
        )
    yield SubGroupFunction(
        "sub_group_non_uniform_all_equal(x)",
        lambda lanes: [int(len({lane["x"] for lane in lanes}) == 1)] * len(lanes),
    )
    yield SubGroupFunction(
        f"sub_group_non_uniform_all_equal(({kind})j)", lambda lanes: [1] * len(lanes)
    )
    yield SubGroupFunction(
        "(tile[me] = x, sub_group_barrier(CLK_LOCAL_MEM_FENCE), tile[me - 2 * lane +"
        " get_sub_group_size() - 1])",
        lambda lanes: [lane["x"] for lane in reversed(lanes)],
        True,
    )


def mask_of(lanes):
    return sum(1 << lane["lane"] for lane in lanes)


def queries():
    """Yields the functions of int and uint: positions, votes, and ballots."""
    for expression, key in (
        ("get_sub_group_size()", "size"),
        ("get_num_sub_groups()", "count"),
        ("get_enqueued_num_sub_groups()", "count"),
        ("get_sub_group_id()", "id"),
        ("get_sub_group_local_id()", "lane"),
    ):
        yield SubGroupFunction(expression, lambda lanes, key=key: [lane[key] for lane in lanes])
    yield SubGroupFunction("get_max_sub_group_size()", lambda lanes: [WARP] * len(lanes))

    def odd(lanes):
        return [lane["x"] & 1 for lane in lanes]

    def odd_bits(lanes):
        return mask_of([lane for lane in lanes if lane["x"] & 1])

    def for_each(function):
        return lambda lanes: [function(lanes, lane["lane"]) for lane in lanes]

    for prefix, is_uniform in (("sub_group_", True), ("sub_group_non_uniform_", False)):
        for name, function in (("all", all), ("any", any)):
            yield SubGroupFunction(
                f"{prefix}{name}(x & 1)",
                for_each(lambda lanes, _, function=function: int(function(odd(lanes)))),
                is_uniform,
            )
    votes = {"logical_and": all, "logical_or": any, "logical_xor": lambda v: sum(v) & 1}
    for name, function in votes.items():
        yield SubGroupFunction(
            f"sub_group_non_uniform_reduce_{name}(x & 1)",
            for_each(lambda lanes, _, function=function: int(function(odd(lanes)))),
        )
        yield SubGroupFunction(
            f"sub_group_non_uniform_scan_exclusive_{name}(x & 1)",
            for_each(
                lambda lanes, lane, function=function: int(
                    function(odd([one for one in lanes if one["lane"] < lane]))
                )
            ),
        )
    ballot = "sub_group_ballot(x & 1)"
    active = "sub_group_ballot(1)"
    for expression, function in {
        "sub_group_elect()": lambda lanes, lane: int(lane == lanes[0]["lane"]),
        f"{ballot}.x": lambda lanes, _: odd_bits(lanes),
        f"{ballot}.y": lambda lanes, _: 0,
        f"sub_group_inverse_ballot({ballot})": lambda lanes, lane: odd_bits(lanes) >> lane & 1,
        f"sub_group_ballot_bit_extract({ballot}, 3)": lambda lanes, _: odd_bits(lanes) >> 3 & 1,
        f"sub_group_ballot_bit_count({ballot})": lambda lanes, _: bin(odd_bits(lanes)).count("1"),
        f"sub_group_ballot_inclusive_scan({ballot})": lambda lanes, lane: bin(
            odd_bits(lanes) & (2 << lane) - 1
        ).count("1"),
        f"sub_group_ballot_exclusive_scan({ballot})": lambda lanes, lane: bin(
            odd_bits(lanes) & (1 << lane) - 1
        ).count("1"),
        f"sub_group_ballot_find_lsb({active})": lambda lanes, _: lanes[0]["lane"],
        f"sub_group_ballot_find_msb({active})": lambda lanes, _: lanes[-1]["lane"],
        "get_sub_group_eq_mask().x": lambda _, lane: 1 << lane,
        "get_sub_group_ge_mask().x": lambda _, lane: -1 << lane,
        "get_sub_group_gt_mask().x": lambda _, lane: -2 << lane,
        "get_sub_group_le_mask().x": lambda _, lane: (2 << lane) - 1,
        "get_sub_group_lt_mask().x": lambda _, lane: (1 << lane) - 1,
    }.items():
        yield SubGroupFunction(expression, for_each(function))


class SubGroupCase(Case):
    def kernel(self, name, width):
        kind = self.kinds[0]
        lines = [
            f"kernel void {name}(global const {kind}* a, global const {kind}* b,"
            f" global const int* c, global {kind}* r, uint n) {{",
            f"  local {kind} tile[256];",
            "  const size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) *"
            " get_num_groups(0) + get_group_id(0);",
            "  const size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);",
            "  const size_t me = get_local_linear_id(), i = group * size + me;",
            f"  const {kind} x = a[i], y = b[i];",
            "  const uint lane = get_sub_group_local_id();",
            f"  for (int j = 0; j < {CLASSES}; ++j) if (c[i] == j) {{",
        ]
        ends = ["  }", "  uint spin = c[i];"]
        # The lanes arrive at what follows at different times.
        ends += ["  for (uint k = 0; k < lane * 5; ++k) spin = spin * 1664525u + 1013904223u;"]
        ends += ["  if (spin == 7) r[0] = x;"]
        for number, row in enumerate(self.rows):
            line = f"    r[{number}UL * n + i] = ({kind})({row.expression});"
            (ends if row.is_uniform else lines).append(line)
        return "\n".join([*lines, *ends, "}", ""])


def sub_group_values(kind, source, count):
    if kind in FLOATS:
        return (
            [source.randrange(-32, 33) / 4 for _ in range(count)],
            [source.choice((1.0, -1.0)) for _ in range(count)],
        )
    values = [
        wrapped(source.getrandbits(INTEGERS[kind][0]) >> source.randrange(INTEGERS[kind][0]), kind)
        for _ in range(count)
    ]
    return values, [wrapped(source.getrandbits(INTEGERS[kind][0]) | 1, kind) for _ in range(count)]


def classes(source, count):
    """How lanes diverge: not at all, by parity, by halves, one alone, or in any way."""
    ways = (
        lambda lane: 0,
        lambda lane: lane & 1,
        lambda lane: lane // 16,
        lambda lane: int(lane == 9),
        lambda lane: source.randrange(CLASSES),
        lambda lane: source.randrange(CLASSES),
    )
    result = []
    while len(result) < count:
        way = source.choice(ways)
        result += [way(lane) for lane in range(WARP)]
    return result[:count]


def expected_of(row, sub_groups, kind):
    results = []
    for lanes in sub_groups:
        of_lane = {}
        keys = {0 if row.is_uniform else lane["class"] for lane in lanes}
        for key in keys:
            together = [lane for lane in lanes if row.is_uniform or lane["class"] == key]
            for lane, value in zip(together, row.result(together)):
                of_lane[lane["lane"]] = None if value is None else to_bits(value, kind)
        results += [of_lane[lane["lane"]] for lane in lanes]
    return results


def sub_group_cases():
    for kind in (*INTEGERS, *FLOATS):
        rows = [*folds(kind), *moves(kind), *(queries() if kind == "uint" else ())]
        for local, groups in LAUNCHES:
            source = random.Random(f"{kind} {local}")
            size = math.prod(local)
            xs, ys, of_class, sub_groups = [], [], [], []
            for _ in range(math.prod(groups)):
                x, y = sub_group_values(kind, source, size)
                for first in range(0, size, WARP):
                    lanes = range(min(WARP, size - first))
                    way = classes(source, len(lanes))
                    of_class += way
                    sub_groups.append(
                        [
                            {
                                "x": x[first + lane],
                                "y": y[first + lane],
                                "class": way[lane],
                                "lane": lane,
                                "size": len(lanes),
                                "id": first // WARP,
                                "count": -(-size // WARP),
                            }
                            for lane in lanes
                        ]
                    )
                xs += [to_bits(value, kind) for value in x]
                ys += [to_bits(value, kind) for value in y]
            shape = "x".join(map(str, local))
            case = SubGroupCase(
                [kind, kind, "int"],
                [xs, ys, of_class],
                kind,
                [],
                widths=(1,),
                program="sub_groups",
                launch=(local, tuple(a * b for a, b in zip(local, groups))),
            )
            for row in rows:
                label = f"{row.expression} of {kind}, {shape}"
                expected = functools.partial(expected_of, row, sub_groups, kind)
                case.rows.append(
                    SubGroupRow(label, row.expression, expected, is_uniform=row.is_uniform)
                )
            yield case


# Work-groups.

WORK_GROUPS = [(size, 1, 1) for size in (1, 31, 32, 33, 100, 256, 1024)]
WORK_GROUPS += [(7, 5, 1), (32, 32, 1), (5, 3, 7), (2, 8, 8), (16, 8, 8)]
COUNT = 3  # of work-groups


def work_group_rows(kind, local):
    """Yields functions, and what gets x and y of a work-group, and its number, and returns results."""
    size = math.prod(local)
    for name, letter in (("add", "x"), ("min", "y"), ("max", "y")):

        def scan(x, y, _, name=name, letter=letter):
            values = itertools.accumulate(x if letter == "x" else y, OPERATIONS[name])
            return [one if kind in FLOATS else wrapped(int(one), kind) for one in values]

        def reduce(x, y, _, scan=scan):
            return [scan(x, y, _)[-1]] * size

        def exclusive(x, y, _, name=name, scan=scan):
            return [identity_of(name, kind), *scan(x, y, _)[:-1]]

        yield f"work_group_reduce_{name}({letter})", reduce
        yield f"work_group_scan_inclusive_{name}({letter})", scan
        yield f"work_group_scan_exclusive_{name}({letter})", exclusive
    places = (
        ("get_local_size(0) / 2", local[0] // 2),
        ("get_local_size(1) - 1", local[1] - 1),
        ("get_local_size(2) / 2", local[2] // 2),
    )
    # As many dimensions as the work-group has, or more.
    for count in range(1 + sum(one > 1 for one in local[1:]), 4):
        place = sum(number * math.prod(local[:i]) for i, (_, number) in enumerate(places[:count]))
        expression = f"work_group_broadcast(y, {', '.join(text for text, _ in places[:count])})"
        yield expression, lambda _, y, __, place=place: [y[place]] * size
    # The last work-item decides: in odd work-groups for it.
    for vote in ("all((group & 1 || me + 1 < size) * 2)", "any((group & 1 && me + 1 == size) * 2)"):
        yield f"work_group_{vote}", lambda _, __, group: [group & 1] * size


class WorkGroupCase(Case):
    def kernel(self, name, width):
        kind = self.kinds[0]
        lines = [
            f"kernel void {name}(global const {kind}* a, global const {kind}* b, global {kind}* r,"
            " uint n) {",
            "  const uint group = get_group_id(0);",
            "  const uint size = get_local_size(0) * get_local_size(1) * get_local_size(2);",
            "  const uint me = get_local_linear_id(), i = group * size + me;",
            f"  const {kind} x = a[i], y = b[i];",
            "  uint spin = i + 100;",
        ]
        for number, row in enumerate(self.rows):
            # Sub-groups arrive at different times, in another order each.
            lines.append(f"  for (uint k = (me / 32 * 5 + {number * 7}) % 32 * 4; k > 0; --k)")
            lines.append("    spin = spin * 1664525u + 1013904223u;")
            lines.append(f"  r[{number}UL * n + i] = ({kind})({row.expression});")
        return "\n".join([*lines, "  if (spin == 7) r[0] = x;", "}", ""])


def work_group_values(kind, source, count):
    """Returns values whose sums are exact, and others."""
    if kind in INTEGERS:
        bits = INTEGERS[kind][0]
        return [[wrapped(source.getrandbits(bits), kind) for _ in range(count)] for _ in "xy"]
    most, unit = (1, 1) if kind == "half" else (32, 4)
    return (
        [source.randrange(-most, most + 1) / unit for _ in range(count)],
        [source.randrange(-400, 401) / 4 for _ in range(count)],
    )


def expected_of_groups(function, groups, kind):
    results = [function(x, y, group) for group, (x, y) in enumerate(groups)]
    return [to_bits(value, kind) for value in itertools.chain(*results)]


def work_group_cases():
    for kind, local in itertools.product(
        ("int", "uint", "long", "ulong", "half", "float", "double"), WORK_GROUPS
    ):
        source = random.Random(f"{kind} {local}")
        groups = [work_group_values(kind, source, math.prod(local)) for _ in range(COUNT)]
        columns = [[to_bits(v, kind) for group in groups for v in group[i]] for i in (0, 1)]
        rows = [
            Row(
                f"{expression} of {kind}, {'x'.join(map(str, local))}",
                expression,
                functools.partial(expected_of_groups, function, groups, kind),
            )
            for expression, function in work_group_rows(kind, local)
        ]
        yield WorkGroupCase(
            [kind, kind],
            columns,
            kind,
            rows,
            widths=(1,),
            program="work_groups",
            launch=(local, (local[0] * COUNT, *local[1:])),
        )


# Pointers whose address space is known at run time only: global, local, and private memory.


class GenericCase(Case):
    def kernel(self, name, width):
        return f"""kernel void {name}(global const int* a, global int* r, uint n) {{
  local int tile[{WARP}], pairs[{2 * WARP}];
  const size_t i = get_global_id(0), me = get_local_id(0);
  int mine = a[i] + 2;
  int pair[2] = {{a[i], a[i] + 3}};
  vstore2((int2)(a[i], a[i] + 3), me, pairs);
  int* q = pair;
  if (i & 1) q = pairs + 2 * me;
  tile[me] = a[i] + 1;
  r[i] = a[i];
  int* p = &mine;
  if (i % 3 == 0) p = r + i;
  if (i % 3 == 1) p = tile + me;
  r[n + i] = *p;
  r[2 * n + i] = (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0);
  r[3 * n + i] = get_fence(p);
  r[4 * n + i] = to_global(p) ? *to_global(p) : to_local(p) ? *to_local(p) : *to_private(p);
  if (i % 3 != 2)
    atomic_fetch_add_explicit((volatile atomic_int*)p, 7, memory_order_relaxed, memory_scope_device);
  float fraction = fract((float)*p + 0.5f, (float*)p);
  r[5 * n + i] = (int)(*(float*)p * 2 + fraction * 2);
  r[i] = vload2(0, q).s1;
}}
"""


def generic_cases():
    values = [(i * 7919) % 1000 - 500 for i in range(8 * WARP)]
    ways = [i % 3 for i in range(len(values))]
    seen = [value + way for value, way in zip(values, ways)]
    doubled = [2 * (one + (7 if way != 2 else 0)) + 1 for one, way in zip(seen, ways)]
    expected = {
        "vload2 of a generic pointer": [value + 3 for value in values],
        "*p of a generic pointer": seen,
        "to_global, to_local, to_private": [1 << way for way in ways],
        "get_fence": [(2, 1, 0)[way] for way in ways],
        "*to_global, *to_local, *to_private": seen,
        "atomic_fetch_add_explicit, fract of a generic pointer": doubled,
    }
    rows = [Row(name, name, [to_bits(v, "int") for v in of]) for name, of in expected.items()]
    yield GenericCase(
        ["int"],
        [[to_bits(value, "int") for value in values]],
        "int",
        rows,
        widths=(1,),
        program="generic",
        launch=((WARP, 1, 1), (len(values), 1, 1)),
    )


def extension_cases(arguments):
    for case in half_cases(arguments):
        yield dataclasses.replace(case, program="half")
    yield from dot_products(arguments)
    yield from bit_functions(arguments)
    yield from sub_group_cases()
    yield from work_group_cases()
    yield from generic_cases()


if __name__ == "__main__":
    sys.exit(main(extension_cases, EXTENSIONS))

#!/usr/bin/env python3
"""Compares built-in functions of oclcc's code for NVIDIA's devices with exact results.

usage: built_in_table.py cpu [--clang CLANG] [--widths 1,4] [--only REGEX]
       built_in_table.py write FOLDER [--widths 1,4] [--only REGEX]

cpu: compiles kernels as oclcc does for nvptx, with the built-in functions of oclcc/targets/nvptx
linked, up to the back end. The back end is that of this machine: instructions of
NVIDIA's devices become calls of built_in_instructions.c. Runs the kernels, compares, and prints
every mismatch. The exit status is 1 if there is one.

write: writes FOLDER/table.cl for oclcc, and FOLDER/table.txt and FOLDER/table.bin, which
bench/nvidia_built_ins compares on a device.

Expected results are computed with integers and fractions, from the arguments' exact values, and
rounded once. Functions for which the specification has an error bound are compared with glibc's
long double functions. Arguments are the extremes of each type, values around every power of two and
every limit of another type, halves, and random values.
"""

import argparse
import ctypes
import dataclasses
import fractions
import functools
import itertools
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

Fraction = fractions.Fraction
BITS = {"char": 8, "short": 16, "int": 32, "long": 64}
INTEGERS = {
    name: (bits, name[0] != "u")
    for base, bits in BITS.items()
    for name in (base, "u" + base)
    for bits in (bits,)
}
# Precision, least and largest exponent, size in bits.
FLOATS = {"half": (11, -14, 15, 16), "float": (24, -126, 127, 32), "double": (53, -1022, 1023, 64)}
MODES = ("rte", "rtz", "rtp", "rtn")
WIDTHS = (1, 2, 3, 4, 8, 16)
# Every kernel has a multiple of this number of arguments: of 16 and of 3.
STEP = 48
NAN, INFINITY = "nan", "inf"


def size_of(kind):
    return (INTEGERS[kind][0] if kind in INTEGERS else FLOATS[kind][3]) // 8


def limits(kind):
    bits, signed = INTEGERS[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def wrapped(value, kind):
    """Returns the low bits of an integer, as a value of the type."""
    bits, signed = INTEGERS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> bits - 1 else value


def clamped(value, kind):
    low, high = limits(kind)
    return min(max(value, low), high)


def infinity_of(kind):
    precision, least, largest, _ = FLOATS[kind]
    return (largest - least + 2) << (precision - 1)


def sign_of(kind):
    return 1 << FLOATS[kind][3] - 1


def nan_of(kind):
    return infinity_of(kind) | 1 << FLOATS[kind][0] - 2


@functools.cache
def decode(bits, kind):
    """Returns (is negative, magnitude): a Fraction, NAN, or INFINITY."""
    precision, least, _, _ = FLOATS[kind]
    negative, bits = bool(bits & sign_of(kind)), bits & ~sign_of(kind)
    if bits >= infinity_of(kind):
        return negative, INFINITY if bits == infinity_of(kind) else NAN
    field = bits >> precision - 1
    significand = bits & (1 << precision - 1) - 1
    if field:
        significand |= 1 << precision - 1
    exponent = max(field, 1) - 1 + least - (precision - 1)
    return negative, Fraction(significand) * Fraction(2) ** exponent


def rounded_integer(value, negative, mode):
    """Returns a magnitude as an integer, rounded."""
    whole, rest = divmod(value.numerator, value.denominator)
    if mode == "rte":
        twice = 2 * rest - value.denominator
        up = twice > 0 or (twice == 0 and whole & 1)
    else:
        up = rest and mode == ("rtn" if negative else "rtp")
    return whole + (1 if up else 0)


@functools.cache
def encode(value, kind, mode="rte", negative=None):
    """Returns the bits of a fraction, rounded. `negative` is the sign of a zero."""
    precision, least, _, _ = FLOATS[kind]
    negative = value < 0 if negative is None else negative
    sign = sign_of(kind) if negative else 0
    value = abs(value)
    if value == 0:
        return sign
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    exponent = max(exponent, least)
    shift = exponent - precision + 1
    units = value * (1 << -shift) if shift < 0 else value / (1 << shift)
    bits = rounded_integer(units, negative, mode) + ((exponent - least) << precision - 1)
    if bits >= infinity_of(kind):
        outward = mode == "rte" or mode == ("rtn" if negative else "rtp")
        bits = infinity_of(kind) - (0 if outward else 1)
    return bits | sign


def signed_value(bits, kind):
    negative, magnitude = decode(bits, kind)
    return -magnitude if negative else magnitude


# Arguments, as bits.


def integer_arguments(kind, random_source, count=240):
    bits, signed = INTEGERS[kind]
    low, high = limits(kind)
    if bits == 8:
        return list(range(256))
    values = {low, high, 0}
    for power in range(bits):
        for distance in (-2, -1, 0, 1, 2):
            values.update({(1 << power) + distance, low + (1 << power) + distance})
        # Halfway between two numbers of float or double, and beside.
        for precision in (24, 53):
            if power > precision:
                half = 1 << power - precision
                for distance in (-1, 0, 1):
                    values.add((1 << power) + half + distance)
                    values.add((1 << power + 1) - half + distance)
    values.update(-value for value in list(values) if signed)
    values = sorted(value for value in values if low <= value <= high)
    for _ in range(count):
        values.append(
            wrapped(random_source.getrandbits(bits), kind) >> random_source.randrange(bits)
        )
    return [value & (1 << bits) - 1 for value in values]


def float_arguments(kind, random_source, count=240):
    precision, _, _, bits = FLOATS[kind]
    infinity = infinity_of(kind)
    values = {0, 1, 2, 3, infinity, infinity - 1, infinity - 2, nan_of(kind), infinity | 1}
    normal = 1 << precision - 1
    values.update({normal - 1, normal, normal + 1})
    for whole in range(12):
        for quarter in range(4):
            values.add(encode(Fraction(4 * whole + quarter, 4), kind))
    interesting = [Fraction(2) ** power for power in range(-30, 66)]
    interesting += [Fraction(2) ** power for power in (-149, -150, -126, -95, 127)]
    interesting += [
        Fraction(limits(name)[1]) + half
        for name in INTEGERS
        for half in (0, Fraction(1, 2), Fraction(1, 4), 1)
    ]
    interesting += [Fraction(65504), Fraction(65519), Fraction(65520), Fraction(2) ** 128]
    for value in interesting:
        for mode in ("rtz", "rtp"):
            at = encode(value, kind, mode)
            values.update({at, max(at - 1, 0), at + 1})
    values = sorted(
        value for value in values if value <= infinity or value in (nan_of(kind), infinity | 1)
    )
    values += [value | sign_of(kind) for value in values]
    for i in range(count):
        if i % 2:
            values.append(random_source.getrandbits(bits))
        else:
            scale = random_source.randrange(-26, 66)
            value = Fraction(random_source.getrandbits(precision)) * Fraction(2) ** (
                scale - precision
            )
            values.append(encode(-value if i % 4 else value, kind))
    return values


def padded(values):
    rest = -len(values) % STEP
    return values + values[:1] * rest


class Arguments:
    """The arguments of each type, the same in every kernel."""

    def __init__(self):
        self.of_one = {}

    def get(self, kind):
        if kind not in self.of_one:
            source = random.Random(kind)
            make = integer_arguments if kind in INTEGERS else float_arguments
            self.of_one[kind] = padded(make(kind, source))
        return self.of_one[kind]

    def several(self, kinds, count=1920, seed=""):
        """Returns lists of arguments for a function of several: extremes with extremes, and any."""
        if len(kinds) == 1:
            return [self.get(kinds[0])]
        source = random.Random(" ".join(kinds) + seed)
        pools = [self.get(kind) for kind in kinds]
        columns = [[] for _ in kinds]
        for _ in range(count):
            for column, pool in zip(columns, pools):
                column.append(source.choice(pool))
        return [padded(column) for column in columns]


@dataclasses.dataclass
class Row:
    """One function, and its results: bits, or None where any result is right."""

    label: str
    expression: str  # with x, y, z, and {n}, the width as it is written in a type's name
    expected: list  # or a function that returns it
    ulps: int = 0


@dataclasses.dataclass
class Case:
    """One kernel: functions of the same arguments and the same type of result."""

    kinds: list
    columns: list
    result: str
    rows: list
    widths: tuple = WIDTHS
    compared_as: str = ""  # the type of the bits, if it is not `result`
    program: str = "table"  # that of a device
    launch: tuple = ()  # local and global sizes of a device, if they matter

    def kernel(self, name, width):
        n = "" if width == 1 else str(width)
        arguments = [f"global const {kind}* {letter}" for kind, letter in zip(self.kinds, "abc")]
        lines = [f"kernel void {name}({', '.join(arguments)}, global {self.result}* r, uint n) {{"]
        lines.append(f"  for (uint i = FIRST; i < n / {width}; i += STEP) {{")
        for kind, source, letter in zip(self.kinds, "abc", "xyz"):
            load = f"vload{n}(i, {source})" if n else f"{source}[i]"
            lines.append(f"    const {kind}{n} {letter} = {load};")
        for number, row in enumerate(self.rows):
            value = row.expression.replace("{n}", n)
            place = f"r + {number}UL * n"
            value = value.replace("{cell}", f"({place} + i)")
            lines.append(
                f"    vstore{n}({value}, i, {place});" if n else f"    ({place})[i] = {value};"
            )
        return "\n".join([*lines, "  }", "}", ""])


# What is compared.


def converted(bits, source, to, saturated, mode):
    """Returns the bits of a conversion, or None if it is undefined."""
    if source in INTEGERS:
        value, negative = Fraction(wrapped(bits, source)), None
    else:
        negative, value = decode(bits, source)
        if value in (NAN, INFINITY):
            if to in FLOATS:
                special = nan_of(to) if value == NAN else infinity_of(to)
                return special | (sign_of(to) if negative and value == INFINITY else 0)
            if not saturated:
                return None
            low, high = limits(to)
            result = 0 if value == NAN else (low if negative else high)
            return result & (1 << INTEGERS[to][0]) - 1
        value = -value if negative else value
    if to in FLOATS:
        return encode(value, to, mode or "rte", negative)
    whole = rounded_integer(abs(value), value < 0, mode or "rtz")
    whole = -whole if value < 0 else whole
    if saturated:
        whole = clamped(whole, to)
    elif source in FLOATS and clamped(whole, to) != whole:
        return None
    return whole & (1 << INTEGERS[to][0]) - 1


def conversions(arguments, pairs):
    for source, to in pairs:
        values = arguments.get(source)
        rows = []
        for saturation, mode in itertools.product(("", "_sat"), ("", *MODES)):
            if saturation and to in FLOATS:
                continue
            name = f"convert_{to}{{n}}{saturation}{'_' + mode if mode else ''}"
            exact = functools.partial(
                lambda *rule: [converted(value, *rule) for value in arguments.get(rule[0])],
                source,
                to,
                bool(saturation),
                mode,
            )
            rows.append(Row(f"{name}({source})", f"{name}(x)", exact))
        yield Case([source], [values], to, rows)


def half_functions(arguments):
    for source in ("float", "double"):
        values = list(arguments.get(source))
        random_source = random.Random("half" + source)
        for bits in range(0, 65536, 37):  # numbers of half, halfway, and beside
            value = decode(bits & 0x7FFF, "half")[1]
            if value not in (NAN, INFINITY):
                sign = sign_of(source) * (bits >> 15)
                step = encode(Fraction(1, 1 << 25), source)
                at = encode(value, source)
                next_value = decode((bits & 0x7FFF) + 1, "half")[1]
                middle = at
                if next_value != INFINITY:
                    middle = encode((value + next_value) / 2, source)
                values += [
                    sign | one
                    for one in (at, at + 1, middle - 1 if middle else step, middle, middle + 1)
                ]
        values += [random_source.getrandbits(FLOATS[source][3]) for _ in range(48)]
        values = padded(values)
        rows = []
        for mode in ("", *MODES):
            expected = [converted(value, source, "half", False, mode) for value in values]
            suffix = "_" + mode if mode else ""
            rows.append(
                Row(f"vstore_half{{n}}{suffix}({source})", f"stored_half{suffix}(x)", expected)
            )
        yield Case([source], [values], "ushort", rows, compared_as="half")
    every = padded(list(range(65536)))
    rows = [
        Row(
            "vload_half{n}",
            "loaded_half(x)",
            [converted(v, "half", "float", False, "") for v in every],
        )
    ]
    yield Case(["ushort"], [every], "float", rows)


# vstore_half and vstorea_half write to private memory here, and vload_half reads it.
def half_helpers(width):
    n = "" if width == 1 else str(width)
    lines = []
    for source, mode in itertools.product(("float", "double"), ("", *MODES)):
        suffix = "_" + mode if mode else ""
        lines += [
            f"__attribute__((overloadable)) ushort{n} stored_half{suffix}({source}{n} x) {{",
            "  ushort16 bits = 0, aligned = 0;",
            f"  vstore_half{n}{suffix}(x, 0, (private half*)&bits);",
            f"  vstorea_half{n}{suffix}(x, 0, (private half*)&aligned);"
            if n
            else "  aligned = bits;",
        ]
        both = [
            f"bits.s{i:x} == aligned.s{i:x} ? bits.s{i:x} : (ushort)0xdead" for i in range(width)
        ]
        lines += [f"  return (ushort{n})({', '.join(both)});", "}"]
    lines += [
        f"__attribute__((overloadable)) float{n} loaded_half(ushort{n} x) {{",
        "  ushort16 bits = 0;",
    ]
    lines += [f"  bits.s{i:x} = x{f'.s{i:x}' if n else ''};" for i in range(width)]
    lines += [f"  return vload_half{n}(0, (private half*)&bits);", "}", ""]
    return "\n".join(lines)


def integer_results(kind):
    """Yields (function, number of arguments, expression, exact result of values)."""
    bits, signed = INTEGERS[kind]
    unsigned = kind if not signed else "u" + kind
    mask = (1 << bits) - 1
    yield "abs", 1, abs, unsigned
    yield "clz", 1, lambda a: bits - (a & mask).bit_length(), kind
    yield "ctz", 1, lambda a: ((a & mask) & -(a & mask)).bit_length() - 1 if a else bits, kind
    yield "popcount", 1, lambda a: bin(a & mask).count("1"), kind
    yield "abs_diff", 2, lambda a, b: abs(a - b), unsigned
    yield "add_sat", 2, lambda a, b: clamped(a + b, kind), kind
    yield "sub_sat", 2, lambda a, b: clamped(a - b, kind), kind
    yield "hadd", 2, lambda a, b: (a + b) >> 1, kind
    yield "rhadd", 2, lambda a, b: (a + b + 1) >> 1, kind
    yield "mul_hi", 2, lambda a, b: (a * b) >> bits, kind
    yield "max", 2, max, kind
    yield "min", 2, min, kind
    yield "rotate", 2, lambda a, b: (a & mask) << b % bits | (a & mask) >> (bits - b % bits), kind
    yield "mad_hi", 3, lambda a, b, c: ((a * b) >> bits) + c, kind
    yield "mad_sat", 3, lambda a, b, c: clamped(a * b + c, kind), kind
    yield "clamp", 3, lambda a, b, c: min(max(a, b), c) if b <= c else None, kind
    yield "bitselect", 3, lambda a, b, c: a & ~c | b & c, kind
    if bits == 32:
        low, high = limits(kind)
        low, high = low >> 8, high >> 8

        def fits(*values):
            return all(low <= value <= high for value in values)

        yield "mul24", 2, lambda a, b: a * b if fits(a, b) else None, kind
        yield "mad24", 3, lambda a, b, c: a * b + c if fits(a, b) else None, kind


def integer_functions(arguments):
    for kind in INTEGERS:
        for count, to in itertools.product((1, 2, 3), (kind, "u" + kind)):
            columns = arguments.several([kind] * count)
            if to not in INTEGERS:
                continue
            rows = []
            for name, number, exact, result in integer_results(kind):
                if number != count or result != to:
                    continue
                mask = (1 << INTEGERS[to][0]) - 1
                expected = []
                for values in zip(*columns):
                    value = exact(*(wrapped(one, kind) for one in values))
                    expected.append(None if value is None else value & mask)
                rows.append(
                    Row(f"{name}({kind}{{n}})", f"{name}({', '.join('xyz'[:count])})", expected)
                )
            if rows:
                yield Case([kind] * count, columns, to, rows)
    for narrow, wide in (("char", "short"), ("short", "int"), ("int", "long")):
        for prefix in ("", "u"):
            kinds = [prefix + narrow, "u" + narrow]
            columns = arguments.several(kinds)
            bits = INTEGERS[narrow][0]
            expected = [a << bits | b for a, b in zip(*columns)]
            yield Case(
                kinds,
                columns,
                prefix + wide,
                [Row(f"upsample({kinds[0]}{{n}})", "upsample(x, y)", expected)],
            )


def nan_codes(arguments):
    for kind, code in (("float", "uint"), ("double", "ulong")):
        values = arguments.get(code)
        # All bits of the exponent, and the first of the significand: quiet.
        shift = FLOATS[kind][0] - 2
        ones = infinity_of(kind) >> shift | 1
        row = Row(
            f"nan({code}{{n}})",
            f"as_{code}{{n}}(nan(x)) >> {shift} & {ones}",
            [ones] * len(values),
        )
        yield Case([code], [values], code, [row])


# Mathematical functions. The references are glibc's, of long double, rounded to double.

LIBM = ctypes.CDLL("libm.so.6")


def libm(name):
    function = getattr(LIBM, name + "l")
    function.restype = ctypes.c_longdouble
    return lambda *values: function(*(ctypes.c_longdouble(value) for value in values))


def to_float(bits, kind):
    return struct.unpack({"half": "<e", "float": "<f", "double": "<d"}[kind], pack([bits], kind))[0]


def from_float(value, kind):
    """Returns the bits of a double in a type, rounded to the nearest."""
    if kind == "half" and abs(value) < 65520:
        return unpack(struct.pack("<e", value), kind)[0]
    bits = unpack(struct.pack("<d", value), "double")[0]
    return bits if kind == "double" else converted(bits, "double", kind, False, "rte")


def of_quarters(value, function):
    """function(r, quadrant) for |value| = quadrant / 2 + r, exactly, with r in [-1/4, 1/4]."""
    half_turns = math.fmod(abs(value), 2.0)
    quadrant = math.floor(2 * half_turns + 0.5)
    return function(half_turns - quadrant / 2, quadrant % 4)


def sinpi(value):
    def turned(rest, quadrant):
        part = libm("cos" if quadrant & 1 else "sin")(math.pi * rest)
        part = -part if quadrant & 2 else part
        return 0.0 if part == 0 else part

    return (
        math.nan
        if not math.isfinite(value)
        else math.copysign(1, value) * of_quarters(value, turned)
    )


def cospi(value):
    def turned(rest, quadrant):
        part = libm("sin" if quadrant & 1 else "cos")(math.pi * rest)
        part = -part if quadrant in (1, 2) else part
        return 0.0 if part == 0 else part

    return math.nan if not math.isfinite(value) else of_quarters(value, turned)


def tanpi(value):
    def turned(rest, quadrant):
        if rest == 0:
            return (0.0, math.inf, -0.0, -math.inf)[quadrant]
        tangent = libm("tan")(math.pi * rest)
        return -1 / tangent if quadrant & 1 else tangent

    return (
        math.nan
        if not math.isfinite(value)
        else math.copysign(1, value) * of_quarters(value, turned)
    )


def rsqrt(value):
    root = libm("sqrt")(value)
    return math.copysign(math.inf, value) if value == 0 else 1 / root


def powr(x, y):
    if x < 0 or (x == 0 and y == 0) or (math.isinf(x) and y == 0) or (x == 1 and math.isinf(y)):
        return math.nan
    return x + y if math.isnan(x) or math.isnan(y) else libm("pow")(abs(x), y)


def over_pi(name):
    return lambda *values: libm(name)(*values) / math.pi


# Name, reference, and the bounds in ULP for float and double, OpenCL C, section "Relative Error as
# ULPs". A reference that is not one function of glibc has errors of its own, of double. Functions of
# half are computed in float: at most the neighbour of the nearest number.
def bound_of(row, kind):
    return row[2 if kind == "float" else 3] if kind != "half" else int(row[0] != "sqrt")


BOUNDED_1 = [
    *(
        (name, libm(name), bound, bound)
        for names, bound in (
            ("acos acosh asin asinh cos cosh sin sinh", 4),
            ("atan atanh tan tanh", 5),
            ("exp exp2 exp10 expm1 log log2 log10", 3),
            ("cbrt log1p", 2),
            ("erf erfc tgamma", 16),
        )
        for name in names.split()
    ),
    *((name + "pi", over_pi(name), 5, 6) for name in ("acos", "asin", "atan")),
    ("sinpi", sinpi, 4, 6),
    ("cospi", cospi, 4, 6),
    ("tanpi", tanpi, 6, 8),
    ("rsqrt", rsqrt, 2, 3),
    ("sqrt", lambda x: math.nan if x < 0 else math.sqrt(x), 3, 0),
    ("degrees", lambda x: x * (180 / math.pi), 2, 3),
    ("radians", lambda x: x * (math.pi / 180), 2, 3),
]
BOUNDED_2 = [
    ("atan2", libm("atan2"), 6, 6),
    ("atan2pi", over_pi("atan2"), 6, 7),
    ("hypot", libm("hypot"), 4, 4),
    ("pow", libm("pow"), 16, 16),
    ("powr", powr, 16, 16),
]
EXACT_1 = ["ceil", "fabs", "floor", "rint", "round", "trunc", "logb"]
EXACT_2 = ["copysign", "fdim", "fmax", "fmin", "nextafter"]
RELATIONS = {
    "isequal": lambda x, y: x == y,
    "isnotequal": lambda x, y: x != y,
    "isgreater": lambda x, y: x > y,
    "isgreaterequal": lambda x, y: x >= y,
    "isless": lambda x, y: x < y,
    "islessequal": lambda x, y: x <= y,
    "islessgreater": lambda x, y: x < y or x > y,
    "isordered": lambda x, y: x == x and y == y,
    "isunordered": lambda x, y: x != x or y != y,
}
CLASSES = {
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "signbit": lambda x: math.copysign(1, x) < 0,
}


def math_arguments(arguments, kind):
    """Extremes, and values where results are neither 0 nor infinite. Of half, all numbers."""
    if kind == "half":
        return padded(list(range(1 << 16)))
    source = random.Random("math" + kind)
    scales = (1.0, 2.0, 10.0, 100.0, 800.0, 1e5)
    values = [from_float(source.uniform(-1, 1) * source.choice(scales), kind) for _ in range(600)]
    return padded(arguments.get(kind) + values)


def results_of(function, columns, kind):
    values = [[to_float(bits, kind) for bits in column] for column in columns]
    return [from_float(function(*each), kind) for each in zip(*values)]


def next_after(x, y, kind):
    from_value, to_value = to_float(x, kind), to_float(y, kind)
    if from_value != from_value or to_value != to_value:
        return nan_of(kind)
    if from_value == to_value:
        return y
    if from_value == 0:
        return 1 | (y & sign_of(kind))
    return x + 1 if (from_value < to_value) == (from_value > 0) else x - 1


def difference(x, y, kind):
    a, b = to_float(x, kind), to_float(y, kind)
    if not math.isfinite(a) or not math.isfinite(b) or a <= b:
        return from_float(0.0 if a <= b else a - b, kind)
    return encode(Fraction(a) - Fraction(b), kind)


def is_zero_of_either_sign(x, y, kind):
    return (x | y) & ~sign_of(kind) == 0 and x != y


def math_1(arguments, kind):
    column = [math_arguments(arguments, kind)]
    rows = [
        Row(
            f"{row[0]}({kind}{{n}})",
            f"{row[0]}(x)",
            functools.partial(results_of, row[1], column, kind),
            bound_of(row, kind),
        )
        for row in BOUNDED_1
    ]
    rows += [
        Row(
            f"{name}({kind}{{n}})",
            f"{name}(x)",
            functools.partial(results_of, libm(name), column, kind),
        )
        for name in EXACT_1
    ]
    below_1 = to_float(encode(Fraction(1), kind) - 1, kind)

    def fract(x):
        if x == 0 or not math.isfinite(x):
            return x if math.isnan(x) else math.copysign(0.0, x)
        return float(min(Fraction(x) - math.floor(x), Fraction(below_1)))

    others = {
        "sign(x)": lambda x: x if x == 0 else 0.0 if math.isnan(x) else math.copysign(1.0, x),
        "({ T q; fract(x, &q); })": fract,
        "({ T q; modf(x, &q); })": lambda x: x if math.isnan(x) else math.modf(x)[0],
        "({ int{n} q; frexp(x, &q); })": lambda x: math.frexp(x)[0],
    }
    for expression, function in others.items():
        name = re.search(r"(\w+)\(x", expression).group(1)
        exact = functools.partial(results_of, function, column, kind)
        rows.append(Row(f"{name}({kind}{{n}})", expression.replace("T q", kind + "{n} q"), exact))
    yield Case([kind], column, kind, rows)
    values = [to_float(bits, kind) for bits in column[0]]
    exponents = [math.frexp(x)[1] for x in values]
    ilogb = [
        None if math.isnan(x) else 2**31 - 1 if math.isinf(x) else exponent - 1 if x else -(2**31)
        for x, exponent in zip(values, exponents)
    ]
    rows = [
        Row(
            f"exponent of frexp({kind}{{n}})",
            "({ int{n} q; frexp(x, &q); q; })",
            [
                exponent & 0xFFFFFFFF if math.isfinite(x) else None
                for x, exponent in zip(values, exponents)
            ],
        ),
        Row(
            f"ilogb({kind}{{n}})",
            "ilogb(x)",
            [None if one is None else one & 0xFFFFFFFF for one in ilogb],
        ),
    ]
    rows += [
        Row(
            f"{name}({kind}{{n}})",
            f"convert_int{{n}}({name}(x)) & 1",
            [int(function(x)) for x in values],
        )
        for name, function in CLASSES.items()
    ]
    yield Case([kind], column, "int", rows)


def math_2(arguments, kind):
    columns = arguments.several([kind, kind], 1440, "math")
    moderate = math_arguments(arguments, kind)[-600:]
    source = random.Random("math2" + kind)
    for column in columns:
        column += [source.choice(moderate) for _ in range(480)]
    rows = [
        Row(
            f"{row[0]}({kind}{{n}})",
            f"{row[0]}(x, y)",
            functools.partial(results_of, row[1], columns, kind),
            bound_of(row, kind),
        )
        for row in BOUNDED_2
    ]
    pairs = list(zip(*columns))
    for name in EXACT_2:
        if name == "nextafter":
            exact = [next_after(x, y, kind) for x, y in pairs]
        elif name == "fdim":
            exact = [difference(x, y, kind) for x, y in pairs]
        else:
            exact = results_of(libm(name), columns, kind)
        if name in ("fmax", "fmin"):
            # Of zeros, either may be returned; of a signaling NaN, a NaN, too.
            exact = [
                None
                if is_zero_of_either_sign(x, y, kind)
                or infinity_of(kind) | 1 in (x, y)
                or sign_of(kind) | infinity_of(kind) | 1 in (x, y)
                else one
                for one, (x, y) in zip(exact, pairs)
            ]
        rows.append(Row(f"{name}({kind}{{n}})", f"{name}(x, y)", exact))
    yield Case([kind, kind], columns, kind, rows)
    values = [(to_float(x, kind), to_float(y, kind)) for x, y in pairs]
    rows = [
        Row(
            f"{name}({kind}{{n}})",
            f"convert_int{{n}}({name}(x, y)) & 1",
            [int(function(x, y)) for x, y in values],
        )
        for name, function in RELATIONS.items()
    ]
    yield Case([kind, kind], columns, "int", rows)


def scaled(x, n, kind):
    negative, magnitude = decode(x, kind)
    if magnitude in (NAN, INFINITY):
        return x
    n = max(min(n, 5000), -5000)
    return encode(magnitude * Fraction(2) ** n * (-1 if negative else 1), kind, "rte", negative)


def fused(x, y, z, kind):
    parts = [decode(bits, kind) for bits in (x, y, z)]
    if any(magnitude in (NAN, INFINITY) for _, magnitude in parts):
        a, b, c = (to_float(bits, kind) for bits in (x, y, z))
        # Only the signs of finite factors matter.
        a, b = (
            math.copysign(min(abs(one), 1.0) if math.isfinite(one) else one, one) for one in (a, b)
        )
        return from_float(a * b + (c if not math.isfinite(c) else 0.0), kind)
    product_negative = parts[0][0] ^ parts[1][0]
    product = parts[0][1] * parts[1][1] * (-1 if product_negative else 1)
    total = product + parts[2][1] * (-1 if parts[2][0] else 1)
    zero_sign = product_negative and parts[2][0] if product == 0 and parts[2][1] == 0 else False
    return encode(total, kind, "rte", zero_sign if total == 0 else total < 0)


def math_3(arguments, kind):
    columns = arguments.several([kind, "int"], 960, "ldexp")
    source = random.Random("ldexp" + kind)
    columns[1] = [
        source.randrange(-1200, 1200) & 0xFFFFFFFF if i % 2 else n for i, n in enumerate(columns[1])
    ]
    exact = [scaled(x, wrapped(n, "int"), kind) for x, n in zip(*columns)]
    pown = [
        from_float(libm("pow")(to_float(x, kind), float(wrapped(n, "int"))), kind)
        for x, n in zip(*columns)
    ]
    rows = [
        Row(f"ldexp({kind}{{n}})", "ldexp(x, y)", exact),
        Row(f"pown({kind}{{n}})", "pown(x, y)", pown, 1 if kind == "half" else 16),
    ]
    yield Case([kind, "int"], columns, kind, rows)
    columns = arguments.several([kind] * 3, 1920, "fma")
    for i in range(0, len(columns[0]), 2):  # sums that cancel
        product = fused(columns[0][i], columns[1][i], 0, kind)
        columns[2][i] = product ^ sign_of(kind)
    exact = [fused(*bits, kind) for bits in zip(*columns)]
    yield Case([kind] * 3, columns, kind, [Row(f"fma({kind}{{n}})", "fma(x, y, z)", exact)])


def math_functions(arguments):
    for kind in ("float", "double"):
        yield from math_1(arguments, kind)
        yield from math_2(arguments, kind)
        yield from math_3(arguments, kind)


# A function on a cell of the results, which then is x, and what the function leaves there.
def atomics(arguments):
    every = "memory_order_acq_rel, memory_scope_device"
    for kind in ("int", "uint", "long", "ulong"):
        columns = arguments.several([kind, kind], 480)
        for i in range(0, len(columns[0]), 3):
            columns[1][i] = columns[0][i]
        exact = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
            "and": lambda a, b: a & b,
            "min": min,
            "max": max,
        }
        pairs = [(wrapped(a, kind), wrapped(b, kind)) for a, b in zip(*columns)]
        rows = []

        def add(name, use, results, kind=kind, rows=rows):
            mask = (1 << INTEGERS[kind][0]) - 1
            start = f"volatile global atomic_{kind}* p = (volatile global atomic_{kind}*){{cell}}; "
            rows.append(
                Row(
                    f"{name}({kind})",
                    f"({{ {start}atomic_init(p, x); {use}; }})",
                    [value & mask for value in results],
                )
            )

        load = "atomic_load_explicit(p, memory_order_acquire, memory_scope_work_group)"
        old = [a for a, _ in pairs]
        for name, function in exact.items():
            call = f"atomic_fetch_{name}_explicit(p, y, {every})"
            add(f"old value of atomic_fetch_{name}_explicit", call, old)
            add(
                f"new value of atomic_fetch_{name}_explicit",
                f"{call}; {load}",
                [function(a, b) for a, b in pairs],
            )
        call = "atomic_exchange_explicit(p, y, memory_order_relaxed, memory_scope_work_group)"
        add("old value of atomic_exchange_explicit", call, old)
        add("new value of atomic_exchange_explicit", f"{call}; {load}", [b for _, b in pairs])
        store = "atomic_store_explicit(p, y, memory_order_release, memory_scope_work_group)"
        add("atomic_store_explicit", f"{store}; {load}", [b for _, b in pairs])
        for strength in ("strong", "weak"):
            name = f"atomic_compare_exchange_{strength}_explicit"
            call = f"{kind} e = y; const bool is_equal = {name}(p, &e, ({kind})7, memory_order_relaxed, memory_order_relaxed, memory_scope_work_group)"
            add(f"result of {name}", f"{call}; ({kind})is_equal", [a == b for a, b in pairs])
            add(f"value after {name}", f"{call}; {load}", [7 if a == b else a for a, b in pairs])
            add(f"expected value after {name}", f"{call}; e", old)
        if kind == "int":
            flag = "volatile global atomic_flag* f = (volatile global atomic_flag*)p; "
            call = flag + f"(int)atomic_flag_test_and_set_explicit(f, {every})"
            add("atomic_flag_test_and_set_explicit", call, [a != 0 for a in old])
            clear = "atomic_flag_clear_explicit(f, memory_order_release, memory_scope_work_group)"
            fence = "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)"
            add("atomic_flag_clear_explicit", f"{flag}{clear}; {fence}; {load}", [0 for _ in old])
        yield Case([kind, kind], columns, kind, rows, widths=(1,))


# Multiples of the divisor, and the numbers beside them, are the hard dividends.
def quotient_arguments(arguments, kind):
    precision = FLOATS[kind][0]
    source = random.Random("quotient" + kind)
    columns = arguments.several([kind, kind], 960)
    columns = [list(column) for column in columns]
    for i in range(1920):
        divisor = Fraction(source.getrandbits(precision) | 1) * Fraction(2) ** source.randrange(
            -40, 60
        )
        # The most bits for which fmod of float divides.
        bits = 20 if i % 2 else source.randrange(1, precision + 6)
        quotient = source.getrandbits(bits) | 1
        product = divisor * quotient / (2 if i % 4 == 3 else 1)
        dividend = encode(product, kind, "rtz" if i % 2 else "rtp")
        columns[0].append(dividend | (sign_of(kind) if i % 5 == 0 else 0))
        columns[1].append(encode(divisor, kind) | (sign_of(kind) if i % 7 == 0 else 0))
    if kind == "float":
        columns[0].append(encode(Fraction(-0x1E5B1E << 52), kind))
        columns[1].append(encode(Fraction(0x1FE75BE << 30), kind))
    return [padded(column) for column in columns]


def remainders(x_bits, y_bits, kind):
    """Returns the bits of fmod and remainder, and the low bits of remquo's quotient."""
    x_negative, x = decode(x_bits, kind)
    y_negative, y = decode(y_bits, kind)
    if x in (NAN, INFINITY) or y == NAN or y == 0:
        return nan_of(kind), nan_of(kind), None
    if y == INFINITY:
        return x_bits, x_bits, 0
    rest = x % y
    quotient = int((x - rest) / y)
    truncated = encode(-rest if x_negative else rest, kind, negative=x_negative)
    if 2 * rest > y or (2 * rest == y and quotient & 1):
        rest, quotient = rest - y, quotient + 1
    nearest = encode(-rest if x_negative else rest, kind, negative=x_negative ^ (rest < 0))
    low = quotient & 127
    return truncated, nearest, (-low if x_negative != y_negative else low) & 0xFFFFFFFF


def quotients(arguments):
    for kind in ("float", "double"):
        columns = quotient_arguments(arguments, kind)
        results = [remainders(x, y, kind) for x, y in zip(*columns)]
        rows = [
            Row(f"fmod({kind}{{n}})", "fmod(x, y)", [one[0] for one in results]),
            Row(f"remainder({kind}{{n}})", "remainder(x, y)", [one[1] for one in results]),
            Row(
                f"remquo({kind}{{n}})",
                "({ int{n} q; remquo(x, y, &q); })",
                [one[1] for one in results],
            ),
        ]
        yield Case([kind, kind], columns, kind, rows)
        row = Row(
            f"quotient of remquo({kind}{{n}})",
            "({ int{n} q; remquo(x, y, &q); q; })",
            [one[2] for one in results],
        )
        yield Case([kind, kind], columns, "int", [row])


# Functions of the files common.cl and integer.cl that are not above.


def selections(arguments):
    for kind in (*INTEGERS, "float", "double"):
        bits = 8 * size_of(kind)
        signed = next(name for name, size in BITS.items() if size == bits)
        for condition in (signed, "u" + signed):
            columns = arguments.several([kind, kind, condition], 480)
            top = 1 << bits - 1
            for widths, chosen in (
                ((1,), [b if c else a for a, b, c in zip(*columns)]),
                (WIDTHS[1:], [b if c & top else a for a, b, c in zip(*columns)]),
            ):
                row = Row(f"select({kind}{{n}}, {condition}{{n}})", "select(x, y, z)", chosen)
                yield Case(
                    [kind, kind, condition], columns, kind, [row], widths, compared_as="u" + signed
                )
        if kind in FLOATS:
            columns = arguments.several([kind] * 3, 480)
            chosen = [a & ~c | b & c for a, b, c in zip(*columns)]
            row = Row(f"bitselect({kind}{{n}})", "bitselect(x, y, z)", chosen)
            yield Case([kind] * 3, columns, kind, [row], compared_as="u" + signed)


def of_groups(values, width, function):
    """Returns function(group) for each value of each group of `width` values."""
    results = []
    for start in range(0, len(values), width):
        results += [function(values[start : start + width])] * width
    return results


def anys(arguments):
    for kind, bits in BITS.items():
        top = 1 << bits - 1
        # Few components with or without the bit, or all results would be the same.
        source = random.Random("any" + kind)
        values = []
        for _ in range(60):
            few = source.choice((0, top))
            values += [
                source.getrandbits(bits - 1) | (few ^ top if source.random() < 0.05 else few)
                for _ in range(16)
            ]
        for width in WIDTHS:
            rows = [
                Row(
                    f"{name}({kind}{{n}})",
                    f"(int{{n}}){name}(x)",
                    of_groups(
                        values,
                        width,
                        lambda group, f=function, top=top: int(f(v & top for v in group)),
                    ),
                )
                for name, function in (("any", any), ("all", all))
            ]
            yield Case([kind], [values], "int", rows, (width,))


def shuffles(arguments):
    for kind in (*INTEGERS, "float", "double"):
        mask = "u" + next(name for name, size in BITS.items() if size == 8 * size_of(kind))
        values, masks = arguments.several([kind, mask], 480, "shuffle")
        for width in (2, 4, 8, 16):
            rows = []
            for source in (2, 4, 8, 16):
                first = [values[at : at + source] for at in range(0, 12 * source, source)]
                second = first[:11]
                one, two = [], []
                for i, m in enumerate(masks):
                    x, y = first[i // width % 12], second[i // width % 11]
                    one.append(x[m % source])
                    two.append((x + y)[m % (2 * source)])
                x, y = (f"vload{source}(i % {number}, a)" for number in (12, 11))
                label = f"({kind}{source}, {mask}{{n}})"
                rows.append(Row("shuffle" + label, f"shuffle({x}, y)", one))
                rows.append(Row("shuffle2" + label, f"shuffle2({x}, {y}, y)", two))
            yield Case([kind, mask], [values, masks], kind, rows, (width,), compared_as=mask)


def moves(arguments):
    for kind in (*INTEGERS, "float", "double"):
        values = arguments.get(kind)
        row = Row(
            f"vstore{{n}} and vload{{n}} of private {kind}",
            f"({{ {kind} p[33]; vstore{{n}}(x, 1, p + 1); vload{{n}}(1, p + 1); }})",
            values,
        )
        unsigned = "u" + next(name for name, size in BITS.items() if size == 8 * size_of(kind))
        yield Case([kind], [values], kind, [row], WIDTHS[1:], compared_as=unsigned)


def old_atomics(arguments):
    """The atomic functions of OpenCL C 1.2."""
    for kind in ("int", "uint", "long", "ulong"):
        columns = arguments.several([kind, kind], 480, "old")
        for i in range(0, len(columns[0]), 3):
            columns[1][i] = columns[0][i]
        pairs = [(wrapped(a, kind), wrapped(b, kind)) for a, b in zip(*columns)]
        calls = {
            "add(p, y)": lambda a, b: a + b,
            "sub(p, y)": lambda a, b: a - b,
            "xchg(p, y)": lambda a, b: b,
            "min(p, y)": min,
            "max(p, y)": max,
            "and(p, y)": lambda a, b: a & b,
            "or(p, y)": lambda a, b: a | b,
            "xor(p, y)": lambda a, b: a ^ b,
            "inc(p)": lambda a, b: a + 1,
            "dec(p)": lambda a, b: a - 1,
            f"cmpxchg(p, y, ({kind})7)": lambda a, b: 7 if a == b else a,
        }
        mask = (1 << INTEGERS[kind][0]) - 1
        rows = []
        start = f"volatile global {kind}* p = (volatile global {kind}*){{cell}}; *p = x; "
        for prefix in ("atom_", "atomic_") if "int" in kind else ("atom_",):
            for call, function in calls.items():
                name = prefix + call
                old, new = [a & mask for a, _ in pairs], [function(a, b) & mask for a, b in pairs]
                rows.append(Row(f"old value of {name} ({kind})", f"({{ {start}{name}; }})", old))
                rows.append(
                    Row(f"new value of {name} ({kind})", f"({{ {start}{name}; *p; }})", new)
                )
        yield Case([kind, kind], columns, kind, rows, (1,))
    columns = arguments.several(["float", "float"], 480, "old")
    start = "volatile global float* p = (volatile global float*){cell}; *p = x; "
    rows = [
        Row("old value of atomic_xchg(float)", f"({{ {start}atomic_xchg(p, y); }})", columns[0]),
        Row(
            "new value of atomic_xchg(float)", f"({{ {start}atomic_xchg(p, y); *p; }})", columns[1]
        ),
    ]
    yield Case(["float", "float"], columns, "float", rows, (1,))


def finite(bits, kind):
    """Returns the fraction; None for infinity and NaN."""
    negative, magnitude = decode(bits, kind)
    return None if magnitude in (NAN, INFINITY) else -magnitude if negative else magnitude


def common_functions(arguments):
    for kind in ("float", "double"):
        columns = arguments.several([kind, kind], 1440, "common")
        pairs = list(zip(*columns))
        values = [(to_float(x, kind), to_float(y, kind)) for x, y in pairs]

        def chosen(function, pairs=pairs, values=values, kind=kind):
            return [
                None
                if x != x or y != y or is_zero_of_either_sign(*bits, kind)
                else function(*bits, x, y)
                for bits, (x, y) in zip(pairs, values)
            ]

        def by_size(bits, other, x, y, sign):
            return (
                other
                if sign * (abs(y) - abs(x)) > 0 or (abs(x) == abs(y) and sign * (y - x) > 0)
                else bits
            )

        rows = [
            Row(f"min({kind}{{n}})", "min(x, y)", chosen(lambda a, b, x, y: b if y < x else a)),
            Row(f"max({kind}{{n}})", "max(x, y)", chosen(lambda a, b, x, y: b if x < y else a)),
            Row(
                f"maxmag({kind}{{n}})",
                "maxmag(x, y)",
                chosen(lambda a, b, x, y: by_size(a, b, x, y, 1)),
            ),
            Row(
                f"minmag({kind}{{n}})",
                "minmag(x, y)",
                chosen(lambda a, b, x, y: by_size(a, b, x, y, -1)),
            ),
            Row(
                f"step({kind}{{n}})",
                "step(x, y)",
                [from_float(0.0 if y < x else 1.0, kind) for x, y in values],
            ),
        ]
        yield Case([kind, kind], columns, kind, rows)
        yield from of_three(arguments, kind)
        normal, infinity = 1 << FLOATS[kind][0] - 1, infinity_of(kind)
        column = arguments.get(kind)
        rows = [
            Row(
                f"isnormal({kind}{{n}})",
                "convert_int{n}(isnormal(x)) & 1",
                [int(normal <= bits & ~sign_of(kind) < infinity) for bits in column],
            ),
            Row(
                f"sign of lgamma_r({kind}{{n}})",
                "({ int{n} q; lgamma_r(x, &q); q; })",
                [gamma_sign(to_float(bits, kind)) for bits in column],
            ),
        ]
        yield Case([kind], [column], "int", rows)
        column = padded(
            [bits for bits in math_arguments(arguments, kind) if has_exact_lgamma(bits, kind)]
        )
        exact = [from_float(libm("lgamma")(to_float(bits, kind)), kind) for bits in column]
        yield Case([kind], [column], kind, [Row(f"lgamma({kind}{{n}})", "lgamma(x)", exact, 8)])


def gamma_sign(x):
    if not math.isfinite(x) or (x < 0 and x == math.floor(x)):
        return None
    return (
        -1 & 0xFFFFFFFF
        if (x < 0 and math.floor(x) % 2) or (x == 0 and math.copysign(1, x) < 0)
        else 1
    )


def has_exact_lgamma(bits, kind):
    """Beside the zeros for negative arguments, only the absolute error is small."""
    x = to_float(bits, kind)
    if not math.isfinite(x) or x >= 0 or x == math.floor(x):
        return True
    return abs(math.lgamma(x)) > 4


def of_three(arguments, kind):
    columns = arguments.several([kind] * 3, 1440, "three")
    source = random.Random("three" + kind)
    for i in range(0, len(columns[0]), 2):  # x between y and z, or a part of 1
        for column in columns:
            column[i] = from_float(source.uniform(-2, 2), kind)
        columns[2][i] = from_float(source.uniform(0, 1), kind)
    mixed, clamped_, stepped, exact = [], [], [], []
    for bits in zip(*columns):
        x, y, z = (finite(one, kind) for one in bits)
        is_finite = None not in (x, y, z)
        distance = encode(y - x, kind) if is_finite else 0
        in_range = is_finite and finite(distance, kind) is not None
        mixed.append(fused(distance, bits[2], bits[0], kind) if in_range and y != x else None)
        a, b, c = (to_float(one, kind) for one in bits)
        is_clamped = b <= c and a == a and 0 not in (a, b, c)
        clamped_.append(
            (bits[1] if a < b else bits[2] if a > c else bits[0]) if is_clamped else None
        )
        exact.append(fused(*bits, kind))
        t = None
        if (
            is_finite
            and y != z
            and max(abs(x), abs(y), abs(z)) < 1000
            and abs(z - y) > Fraction(1, 1000)
        ):
            t = min(max((x - y) / (z - y), 0), 1)
        # A small t has the rounding errors of x - y.
        stepped.append(
            None if t is None or 0 < t < Fraction(1, 8) else encode(t * t * (3 - 2 * t), kind)
        )
    rows = [
        Row(f"mix({kind}{{n}})", "mix(x, y, z)", mixed),
        Row(f"mad({kind}{{n}})", "mad(x, y, z)", exact),
        Row(f"clamp({kind}{{n}})", "clamp(x, y, z)", clamped_),
        Row(f"smoothstep({kind}{{n}})", "smoothstep(y, z, x)", stepped, 40),
    ]
    yield Case([kind] * 3, columns, kind, rows)


def root(value):
    """Returns the square root of a fraction, with an error below 2^-100 of it."""
    if value == 0:
        return Fraction(0)
    shift = 220 - (value.numerator.bit_length() - value.denominator.bit_length())
    shift += shift & 1
    return Fraction(math.isqrt(int(value * Fraction(2) ** shift))) / Fraction(2) ** (shift // 2)


def geometry(arguments):
    for kind in ("float", "double"):
        least, largest = FLOATS[kind][1:3]
        source = random.Random("geometry" + kind)
        columns = [[], []]
        for i in range(40):
            # Beyond the middle, squares overflow or vanish.
            scale = Fraction(2) ** (source.randrange(least - 20, largest - 3) if i % 2 else 0)
            for column in columns:
                for _ in range(STEP):
                    value = (
                        Fraction(source.uniform(-1, 1)) if source.random() < 0.9 else Fraction(0)
                    )
                    column.append(encode(value * scale, kind))
        for width in (1, 2, 3, 4):
            yield geometry_case(kind, columns, width)
            yield special_directions(kind, width)


def special_directions(kind, width):
    """normalize of zeros, infinities and NaNs (OpenCL C, "Geometric Functions")."""
    specials = [
        0,
        sign_of(kind),
        infinity_of(kind),
        infinity_of(kind) | sign_of(kind),
        nan_of(kind),
    ]
    specials.append(encode(Fraction(1), kind))
    source, column, directions = random.Random("special"), [], []
    for _ in range(10 * STEP // width):
        group = [source.choice(specials) for _ in range(width)]
        column += group
        values = [to_float(bits, kind) for bits in group]
        if any(map(math.isnan, values)):
            directions += [nan_of(kind)] * width
            continue
        if any(map(math.isinf, values)):
            values = [math.copysign(float(math.isinf(value)), value) for value in values]
        size = math.sqrt(sum(value * value for value in values)) or 1.0
        directions += [from_float(value / size, kind) for value in values]
    n = "" if width == 1 else str(width)
    row = Row(f"normalize({kind}{n}) of special numbers", "normalize(x)", directions, 6)
    return Case([kind], [column], kind, [row], (width,))


def geometry_case(kind, columns, width):
    pairs = list(zip(*columns))
    lengths, distances, dots, directions = [], [], [], []
    for start in range(0, len(pairs), width):
        group = pairs[start : start + width]
        x, y = ([finite(bits, kind) for bits in side] for side in zip(*group))
        size = root(sum(a * a for a in x))
        differences = [finite(encode(a - b, kind), kind) for a, b in zip(x, y)]
        far = None if None in differences else encode(root(sum(a * a for a in differences)), kind)
        total = encode(x[0] * y[0], kind)
        for a, b in group[1:]:
            total = fused(a, b, total, kind)
        dots += [total] * width
        lengths += [encode(size, kind)] * width
        distances += [far] * width
        directions += [
            encode(a / size, kind, negative=a < 0) if size else bits[0] for a, bits in zip(x, group)
        ]
    n, bound = "" if width == 1 else str(width), 6
    cast = f"({kind}{n})"
    rows = [
        Row(
            f"dot({kind}{n})", f"{cast}dot(x, y)", [v if v & ~sign_of(kind) else None for v in dots]
        ),
        Row(f"length({kind}{n})", f"{cast}length(x)", lengths, bound),
        Row(f"distance({kind}{n})", f"{cast}distance(x, y)", distances, bound),
        Row(f"normalize({kind}{n})", "normalize(x)", directions, bound),
    ]
    return Case([kind, kind], columns, kind, rows, (width,))


def all_cases(arguments):
    yield from selections(arguments)
    yield from anys(arguments)
    yield from shuffles(arguments)
    yield from moves(arguments)
    yield from old_atomics(arguments)
    yield from common_functions(arguments)
    yield from geometry(arguments)
    yield from quotients(arguments)
    kinds = [*INTEGERS, "float", "double"]
    yield from conversions(arguments, itertools.product(kinds, kinds))
    yield from half_functions(arguments)
    yield from nan_codes(arguments)
    yield from integer_functions(arguments)
    yield from atomics(arguments)
    for case in math_functions(arguments):
        yield dataclasses.replace(case, program="math")


# Compiling and running.

LIBRARY = """prologue work_items conversions pairs common integer atomics math_float math_double""".split()
LIBRARY_OF_EXTENSIONS = ("half", "sub_groups", "integer_extensions", "generic")
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "oclcc/targets/nvptx"


def made_by(program):
    """Returns what a program of SOURCES prints."""
    command = [sys.executable, SOURCES / program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def library_text(has_extensions):
    """Returns the built-in functions in OpenCL C, in oclcc's order."""
    names = [*LIBRARY, *(LIBRARY_OF_EXTENSIONS if has_extensions else ())]
    return "".join(
        made_by("make_conversions.py") if name == "pairs" else (SOURCES / f"{name}.cl").read_text()
        for name in names
    )


EXTENSIONS = (
    "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes"
    " cl_khr_depth_images __opencl_c_3d_image_writes __opencl_c_images"
)
# clang 22 has generic pointers unless they are turned off.
GENERIC_OFF = ["-__opencl_c_generic_address_space"]
NVPTX = "-triple nvptx64-nvidia-nvcl -target-cpu sm_80 -target-feature +ptx70 -mframe-pointer=none"


def program_text(cases, width, first="0", step="1"):
    """Returns the source of the kernels of the cases, and the name of each, which equal kernels share."""
    text = f"#define FIRST {first}\n#define STEP {step}\n"
    text += "#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#endif\n"
    if any("ed_half" in row.expression for case in cases for row in case.rows):
        text += half_helpers(width)
    kernels = {}
    for case in cases:
        kernels.setdefault(case.kernel("NAME", width), f"k{len(kernels)}")
    text += "".join(one.replace("NAME", name, 1) for one, name in kernels.items())
    return text, [kernels[case.kernel("NAME", width)] for case in cases]


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{result.stderr[:4000]}")


def for_this_machine(ir):
    """Returns NVIDIA's IR for the compiler's own target: instructions are functions."""
    ir = re.sub(r"^target (triple|datalayout) = .*\n", "", ir, flags=re.M)
    ir = re.sub(r"\b(spir_kernel|spir_func|ptx_kernel) ", "", ir)
    ir = re.sub(r' "target-(cpu|features)"="[^"]*"', "", ir)
    ir = ir.replace("@llvm.nvvm.", "@nvvm.")
    ir = re.sub(r"(@nvvm\.ex2\.approx(?:\.ftz)?\.f)32", r"\1", ir)  # of clang 22
    # div.full.f32, as oclcc asks the back end.
    ir = re.sub(
        r"= fdiv (?:[a-z]+ )*float ([^,]+), (\S+?)(,|$)",
        r"= call float @nvvm.div.full.f(float \1, float \2)\3",
        ir,
        flags=re.M,
    )
    if "@nvvm.div.full.f(" in ir:
        ir += "declare float @nvvm.div.full.f(float, float)\n"
    declarations = {}

    def call(match):
        # "asm "shl.b64 $0, $1, $2;", "=l,l,r"(i64 %x, i32 %d)" → "@asm.shl.b64(i64 %x, i32 %d)"
        name = "@asm." + re.match(r"[\w.]+", match.group(2).split(" ")[0].rstrip(";")).group(0)
        kinds = ", ".join(word.rsplit(" ", 1)[0] for word in match.group(3).split(", ") if word)
        declarations[name] = f"declare {match.group(1)} {name}({kinds})"
        return f"call {match.group(1)} {name}({match.group(3)})"

    ir = re.sub(
        r'call (\S+) asm (?:sideeffect )?"([^"]*)", "[^"]*"\(((?:[^()]|\([^)]*\))*)\)', call, ir
    )
    return ir + "\n".join(declarations.values()) + "\n"


class Machine:
    """Compiles programs with the built-in functions for this machine."""

    def __init__(self, clang, folder, extensions):
        self.clang, self.folder = clang, folder
        self.extensions = ["+" + name for name in (*EXTENSIONS.split(), *extensions)]
        self.language = SOURCES / "language.clh"
        (folder / "overlay.cl").write_text(library_text(bool(extensions)))
        (folder / "macros.clh").write_text(
            "".join(f"#define {name} 1\n" for name in extensions if name.startswith("cl_"))
        )
        self.front_end(
            "-cl-std=CL1.2 -O2 -ffp-contract=off -disable-llvm-passes -w -emit-llvm-bc -o overlay.bc"
            " -DOCLCC_SM=80 -cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes -x cl overlay.cl"
        )
        self.shims = pathlib.Path(__file__).resolve().parent / "built_in_instructions.c"
        run(
            [
                clang,
                "-O1",
                "-fPIC",
                "-w",
                "-ffp-contract=off",
                "-mfma",
                "-c",
                self.shims,
                "-o",
                folder / "shims.o",
            ]
        )

    def front_end(self, words):
        run([self.clang, "-cc1", *NVPTX.split(), *words.split()], cwd=self.folder)

    def build(self, text, name):
        (self.folder / f"{name}.cl").write_text(text)
        self.front_end(
            "-cl-std=CL3.0 -finclude-default-header -fdeclare-opencl-builtins -include macros.clh"
            f" -include {self.language} -cl-ext={','.join(GENERIC_OFF + self.extensions)}"
            " -O2 -ffp-contract=on -disable-llvm-passes -w -mlink-builtin-bitcode overlay.bc"
            f" -emit-llvm -o {name}.ll -x cl {name}.cl"
        )
        path = self.folder / f"{name}.ll"
        path.write_text(for_this_machine(path.read_text()))
        library = self.folder / f"{name}.so"
        run(
            [
                self.clang,
                "-O1",
                "-fPIC",
                "-w",
                "-mfma",
                "-mf16c",
                "-ffp-contract=off",
                "-shared",
                "-Wl,-z,defs",
                path,
                self.folder / "shims.o",
                "-lm",
                "-o",
                library,
            ]
        )
        return ctypes.CDLL(str(library))


def pack(values, kind):
    letter = {1: "B", 2: "H", 4: "I", 8: "Q"}[size_of(kind)]
    mask = (1 << 8 * size_of(kind)) - 1
    return struct.pack(f"<{len(values)}{letter}", *(value & mask for value in values))


def unpack(data, kind):
    letter = {1: "B", 2: "H", 4: "I", 8: "Q"}[size_of(kind)]
    return struct.unpack(f"<{len(data) // size_of(kind)}{letter}", data)


def ordered(bits, kind):
    return -(bits & ~sign_of(kind)) if bits & sign_of(kind) else bits


def is_right(got, expected, kind, ulps):
    if expected is None or got == expected:
        return True
    if kind not in FLOATS:
        return False
    if expected & ~sign_of(kind) > infinity_of(kind):
        return got & ~sign_of(kind) > infinity_of(kind)
    if not ulps or got & ~sign_of(kind) > infinity_of(kind):
        return False
    return abs(ordered(got, kind) - ordered(expected, kind)) <= ulps


def shown(bits, kind):
    if kind in INTEGERS:
        return f"{wrapped(bits, kind)} ({bits:#x})"
    value = {"float": "<f", "double": "<d", "half": "<e"}[kind]
    return f"{struct.unpack(value, pack([bits], kind))[0].hex()} ({bits:#x})"


def compare(case, width, results):
    """Prints mismatches, the first three of each function. Returns their number."""
    failures, kind_of_result = 0, case.compared_as or case.result
    for row, got in zip(case.rows, results):
        wrong = [
            i
            for i, (one, expected) in enumerate(zip(got, row.expected))
            if not is_right(one, expected, kind_of_result, row.ulps)
        ]
        label = row.label.replace("{n}", "" if width == 1 else str(width))
        for i in wrong[:3]:
            values = ", ".join(
                shown(column[i], kind) for column, kind in zip(case.columns, case.kinds)
            )
            print(
                f"{label}: {values}: got {shown(got[i], kind_of_result)},"
                f" expected {shown(row.expected[i], kind_of_result)}"
            )
        if wrong:
            print(f"{label}: {len(wrong)} of {len(got)} wrong")
        failures += bool(wrong)
    return failures


def run_case(library, name, case):
    count = len(case.columns[0])
    inputs = [
        ctypes.create_string_buffer(pack(column, kind), len(column) * size_of(kind))
        for column, kind in zip(case.columns, case.kinds)
    ]
    size = count * size_of(case.result)
    output = ctypes.create_string_buffer(size * len(case.rows))
    library[name](*inputs, output, ctypes.c_uint(count))
    return [
        unpack(output.raw[i * size : (i + 1) * size], case.result) for i in range(len(case.rows))
    ]


def selected(cases, only):
    for case in cases:
        rows = [row for row in case.rows if re.search(only, row.label)]
        for row in rows:
            row.expected = row.expected() if callable(row.expected) else row.expected
        if rows:
            yield dataclasses.replace(case, rows=rows)


def run_on_cpu(cases, widths, options, extensions):
    failures = functions = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = options.folder or folder
        machine = Machine(options.clang, pathlib.Path(folder), extensions)
        for width in widths:
            of_width = [case for case in cases if width in case.widths and not case.launch]
            if not of_width:
                continue
            text, names = program_text(of_width, width)
            library = machine.build(text, f"table{width}")
            for name, case in zip(names, of_width):
                failures += compare(case, width, run_case(library, name, case))
                functions += len(case.rows)
    print(f"{functions} functions, {failures} wrong")
    return 1 if failures else 0


class Blobs:
    """Bytes of a file; equal ones are written once."""

    def __init__(self):
        self.data, self.places = bytearray(), {}

    def place(self, data):
        if data not in self.places:
            self.places[data] = len(self.data)
            self.data += data
        return self.places[data]


def write(cases, widths, folder):
    """Writes the kernels for a device, and what bench/nvidia_built_ins compares (see there)."""
    folder.mkdir(parents=True, exist_ok=True)
    blobs, lines = Blobs(), []
    programs = sorted({case.program for case in cases})
    for width, program in itertools.product(widths, programs):
        of_width = [case for case in cases if width in case.widths and case.program == program]
        if not of_width:
            continue
        text, names = program_text(of_width, width, "get_global_id(0)", "get_global_size(0)")
        (folder / f"{program}{width}.cl").write_text(text)
        for name, case in zip(names, of_width):
            compared = case.compared_as or case.result
            lines.append(
                f"case {program}{width} {name} {len(case.columns[0])} {case.result} {compared}"
            )
            if case.launch:
                lines.append(f"launch {' '.join(str(size) for size in sum(case.launch, ()))}")
            for kind, column in zip(case.kinds, case.columns):
                lines.append(f"input {kind} {blobs.place(pack(column, kind))}")
            for row in case.rows:
                expected = blobs.place(pack([value or 0 for value in row.expected], case.result))
                undefined = blobs.place(bytes(value is None for value in row.expected))
                label = row.label.replace("{n}", "" if width == 1 else str(width))
                lines.append(f"row {row.ulps} {expected} {undefined} {label}")
    (folder / "table.txt").write_text("\n".join(lines) + "\n")
    (folder / "table.bin").write_bytes(blobs.data)


def main(cases_of=all_cases, extensions=()):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mode", choices=("cpu", "write"))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--clang", default="clang-15")
    parser.add_argument("--widths", default=",".join(map(str, WIDTHS)))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    widths = [int(width) for width in options.widths.split(",")]
    cases = list(selected(cases_of(Arguments()), options.only))
    if options.mode == "cpu":
        return run_on_cpu(cases, widths, options, extensions)
    write(cases, widths, pathlib.Path(options.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes pairs.cl: the functions convert_TO of OpenCL C 1.2, in OpenCL C with macros of conversions.cl.

There are 5,880 of them, for each pair of types, rounding mode, saturation and width. Each follows from
the types' sizes (OpenCL C, "Explicit Conversions"):

- To an integer from an integer: no mode matters. Without saturation, the low bits. With it, the nearest
  number of the type; a limit of a type is compared only if the other type exceeds it.
- To an integer from a floating-point number: toward zero unless there is a mode. Beyond the type the
  result is undefined without saturation. With it, the nearest number, and zero for a NaN.
- To a floating-point number: to nearest unless there is a mode, which does not matter if the type has
  each number of the other.
"""

INTEGERS = {
    "char": 8,
    "uchar": 8,
    "short": 16,
    "ushort": 16,
    "int": 32,
    "uint": 32,
    "long": 64,
    "ulong": 64,
}
DIGITS = {"float": 24, "double": 53}
MODES = {"_rte": "rn", "_rtz": "rz", "_rtp": "rp", "_rtn": "rm"}
# As instructions and conversions.cl name them.
LETTERS = {"int": "i", "uint": "ui", "long": "ll", "ulong": "ull", "float": "f", "double": "d"}


def is_signed(kind):
    return kind[0] != "u"


def limits(kind):
    bits = INTEGERS[kind]
    return (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


def literal(value, kind):
    """Returns a constant of the type. The least long has no literal of its own."""
    suffix = {"uint": "u", "long": "L", "ulong": "UL"}.get(kind, "")
    bits = INTEGERS[kind]
    if value == -1 << bits - 1 and bits >= 32:
        return f"(-{-value - 1}{suffix} - 1)"
    return f"{value}{suffix}"


def saturated(to, source):
    """The nearest number of `to`, as an expression of `source`, whose components are compared."""
    (low, high), (least, largest) = limits(to), limits(source)
    value = "x"
    if least < low:
        value = f"OCLCC_AT_LEAST({value}, {literal(low, source)})"
    if largest > high:
        value = f"OCLCC_AT_MOST({value}, {literal(high, source)})"
    return value


def rounded_integer(to, source, mode):
    """An integer of a floating-point number, by an instruction, which saturates. The result is undefined
    beyond a type of less than 32 bits."""
    if INTEGERS[to] == 64:
        # Two instructions, but no assembler text.
        function = {"rn": "rint", "rp": "ceil", "rm": "floor"}[mode]
        return f"({to})__builtin_{function}{'f' if source == 'float' else ''}(x)"
    wide = to if INTEGERS[to] == 32 else "int"
    return f"oclcc_{LETTERS[source]}2{LETTERS[wide]}_{mode}(x)"


def saturated_integer(to, source, mode):
    wide = to if INTEGERS[to] >= 32 else "int"
    value = f"oclcc_{LETTERS[source]}2{LETTERS[wide]}_{mode}(x)"
    # The instructions convert a NaN to zero if neither type has 64 bits.
    if source == "double" or INTEGERS[to] == 64:
        value = f"OCLCC_NUMBER({value})"
    if INTEGERS[to] < 32:
        low, high = limits(to)
        value = f"oclcc_limit_int({value}, {low}, {high})"
    return value


def limited_number(to):
    """A number of float within a narrow type. The greater one of zero and a NaN is zero."""
    low, high = limits(to)
    value = "OCLCC_SOME_NUMBER(x)" if low else "x"
    return f"OCLCC_AT_MOST(OCLCC_AT_LEAST({value}, {low}), {high})"


def conversions(to, source):
    """Yields macro, suffix and value of the functions of a pair; without a suffix, of every mode."""
    if to in INTEGERS and source in INTEGERS:
        yield "EVERY_MODE", "", "x"
        yield "EVERY_MODE", "_sat", saturated(to, source)
    elif to in INTEGERS:
        yield "COMPONENTS", "", "x"
        yield "COMPONENTS", "_rtz", "x"
        is_narrow = source == "float" and INTEGERS[to] < 32
        for suffix, mode in {"": "rz", **MODES}.items():
            if mode != "rz":
                yield "CONVERT", suffix, rounded_integer(to, source, mode)
            if mode == "rz" and is_narrow:
                yield "COMPONENTS", "_sat" + suffix, limited_number(to)
            else:
                yield "CONVERT", "_sat" + suffix, saturated_integer(to, source, mode)
    else:
        digits = DIGITS.get(source) or INTEGERS[source] - is_signed(source)
        if (to, source) == ("double", "float"):
            # The back end of clang 15 loads vectors of float as double, which no instruction does.
            for suffix in ("", *MODES):
                yield "CONVERT", suffix, "(double)x"
            return
        if digits <= DIGITS[to]:
            yield "EVERY_MODE", "", "x"
            return
        yield "COMPONENTS", "", "x"
        yield "COMPONENTS", "_rte", "x"
        for suffix, mode in MODES.items():
            if mode != "rn":
                yield "CONVERT", suffix, f"oclcc_{LETTERS[source]}2{LETTERS[to]}_{mode}(x)"


def main():
    print("// Made by make_conversions.py.")
    for to in (*INTEGERS, *DIGITS):
        for source in (*INTEGERS, *DIGITS):
            for macro, suffix, value in conversions(to, source):
                print(f"OCLCC_{macro}({to}, {source}, {suffix}, {value})")


if __name__ == "__main__":
    main()

"""Checks code objects of AMD's GPUs without one, by LLVM's tools.

    check_code_objects.py FILE.hsaco...

The instructions, as llvm-objdump prints them, are what llvm-mc assembles to the same bytes: none is
an encoding that LLVM does not know, or of another processor. The arguments of each kernel lie where
AMDGPUUsage ("Code Object V3 Metadata") says: aligned, one behind the other, the hidden ones behind
those of the source, and inside the segment whose size the kernel's descriptor contains, too.
"""

import pathlib
import re
import struct
import subprocess
import sys

INSTRUCTION = re.compile(r"^\t(.+?) *// ([0-9A-F]{12}): ((?:[0-9A-F]{8} ?)+)")
SYMBOL = re.compile(r"^([0-9a-f]{16}) .* (\.rodata|\.text)\s+[0-9a-f]{16} (?:\.protected )?(\S+)$")
FIELD = re.compile(r"^( *)(- )?\.(\w+): *(\S+)?$")
POINTERS = ("global_buffer", "image", "sampler", "pipe", "queue")
KERNARG_SIZE_AT = 8  # in the descriptor of a kernel: AMDGPUUsage, "Kernel Descriptor"


def output_of(*words, text=None):
    return subprocess.run(words, input=text, check=True, capture_output=True, text=True).stdout


def processor_of(file):
    """By the name of the file, which --extract gives it: PROGRAM.VARIANT.amdgcn_PROCESSOR.hsaco."""
    return re.search(r"amdgcn_(gfx\w+?)(?:_|\.)", pathlib.Path(file).name + ".")[1]


def check_instructions(file):
    """Returns how many instructions were assembled again."""
    lines = [
        found
        for line in output_of("llvm-objdump", "--disassemble", file).splitlines()
        if (found := INSTRUCTION.match(line))
    ]
    again = output_of(
        "llvm-mc",
        "-arch=amdgcn",
        f"-mcpu={processor_of(file)}",
        "--show-encoding",
        text="\n".join(line[1] for line in lines) + "\n",
    )
    encodings = re.findall(r"encoding: \[([0-9a-fx,]+)\]", again)
    assert len(encodings) == len(lines) > 0, (file, len(encodings), len(lines))
    for line, encoding in zip(lines, encodings):
        words = b"".join(struct.pack("<I", int(word, 16)) for word in line[3].split())
        assert bytes(int(byte, 16) for byte in encoding.split(",")) == words, (file, line[1])
    return len(lines)


def kernels_of(file):
    """The metadata of each kernel, whose "args" are those of its arguments."""
    kernels = []
    for line in output_of("llvm-readelf", "--notes", file).splitlines():
        if not (field := FIELD.match(line)):
            continue
        depth, starts, name, value = len(field[1]), field[2], field[3], field[4]
        if depth == 2 and starts:
            kernels.append({"args": []})
        if kernels and depth > 4 and starts:
            kernels[-1]["args"].append({})
        if kernels and value:
            (kernels[-1]["args"][-1] if depth > 4 else kernels[-1])[name] = value
    return kernels


def check_arguments(file, kernel, descriptor_size):
    size = int(kernel["kernarg_segment_size"])
    assert descriptor_size == size, (file, kernel["name"], descriptor_size)
    end = 0
    hidden = False
    for argument in kernel["args"]:
        kind, offset, bytes_of = (
            argument["value_kind"],
            int(argument["offset"]),
            int(argument["size"]),
        )
        assert offset >= end, (file, kernel["name"], argument)
        assert not hidden or kind.startswith("hidden_"), (file, kernel["name"], argument)
        hidden = hidden or kind.startswith("hidden_")
        if kind in POINTERS:
            assert bytes_of == 8 and offset % 8 == 0, (file, kernel["name"], argument)
        elif kind == "dynamic_shared_pointer":
            assert bytes_of == 4 and offset % 4 == 0, (file, kernel["name"], argument)
        elif kind == "by_value" and bytes_of in (1, 2, 4, 8, 16):
            assert offset % bytes_of == 0, (file, kernel["name"], argument)
        elif hidden:
            assert offset % min(bytes_of, 8) == 0, (file, kernel["name"], argument)
        end = offset + bytes_of
    assert end <= size, (file, kernel["name"], end, size)


def descriptors_of(file):
    """The size of the segment of arguments in the descriptor of each kernel."""
    sections = output_of("llvm-readelf", "--wide", "--sections", file)
    address, offset = (
        int(number, 16)
        for number in re.search(r"\.rodata +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", sections).groups()
    )
    data = pathlib.Path(file).read_bytes()
    sizes = {}
    for line in output_of("llvm-objdump", "--syms", file).splitlines():
        if (symbol := SYMBOL.match(line)) and symbol[3].endswith(".kd"):
            place = int(symbol[1], 16) - address + offset + KERNARG_SIZE_AT
            sizes[symbol[3]] = struct.unpack_from("<I", data, place)[0]
    return sizes


def main():
    instructions = arguments = 0
    for file in sys.argv[1:]:
        instructions += check_instructions(file)
        sizes = descriptors_of(file)
        for kernel in kernels_of(file):
            check_arguments(file, kernel, sizes[kernel["symbol"]])
            arguments += len(kernel["args"])
    assert instructions > 1000 and arguments > 100, (instructions, arguments)
    print("the instructions and the arguments are right")


main()

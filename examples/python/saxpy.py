"""Compiles examples/saxpy.cl, loads it from the bundle, and builds changed source at run time.

usage: saxpy.py [BUNDLE]: writes the bundle unless it exists.
"""

import pathlib
import sys
import tempfile

import clbin
import numpy
import pyopencl as cl

SOURCE = pathlib.Path(__file__).parent.parent / "saxpy.cl"


def run(context, program):
    """Returns 2 * x + y for four numbers."""
    x = numpy.array([1, 2, 3, 4], dtype=numpy.float32)
    y = numpy.array([10, 20, 30, 40], dtype=numpy.float32)
    queue = cl.CommandQueue(context)
    on_device = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=each) for each in (x, y)]
    program.saxpy(queue, x.shape, None, numpy.float32(2), *on_device)
    cl.enqueue_copy(queue, y, on_device[1])
    return y


def main():
    context = cl.create_some_context(interactive=False)
    device = context.devices[0]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/saxpy.clbin")
        if not path.exists():
            try:
                clbin.compile(SOURCE, output=path)
            except clbin.CompileError as error:
                sys.exit(f"{error.file}:{error.line}: {error.message}")

        report = clbin.Report()
        with clbin.Bundle(path) as bundle:
            program = bundle.load(context, device, "saxpy", report=report)
        print(report, file=sys.stderr)
        print(*run(context, program))

        # Source that is known only at run time. The second process takes it from the user cache.
        program = clbin.build(context, SOURCE.read_text(), report=report)
        print(report, file=sys.stderr)
        print(*run(context, program))


main()

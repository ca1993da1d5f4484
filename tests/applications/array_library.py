"""Arrays and generated kernels of PyOpenCL, and a program of the application's own."""

import warnings

warnings.simplefilter("ignore")

import numpy  # noqa: E402
import pyopencl  # noqa: E402
import pyopencl.array  # noqa: E402
from pyopencl.elementwise import ElementwiseKernel  # noqa: E402
from pyopencl.reduction import ReductionKernel  # noqa: E402

device = pyopencl.get_platforms()[0].get_devices()[0]
context = pyopencl.Context([device])
queue = pyopencl.CommandQueue(context)
numbers = numpy.arange(1000, dtype=numpy.int32)
a = pyopencl.array.to_device(queue, numbers)
b = pyopencl.array.to_device(queue, numbers[::-1].copy())
c = pyopencl.array.empty_like(a)
ElementwiseKernel(context, "int *x, int *y, int *z", "z[i] = 3*x[i] + y[i]", "combine")(a, b, c)
print("combined", int(c.get().sum()), int(c.get()[17]))
total = ReductionKernel(
    context,
    numpy.int32,
    neutral="0",
    reduce_expr="a+b",
    map_expr="x[i]*2",
    arguments="__global int *x",
)
print("reduced", int(total(a).get()))
program = pyopencl.Program(
    context,
    """
__kernel void scale(__global int *values, int factor) {
  values[get_global_id(0)] *= factor;
}
""",
).build(options=["-DUNUSED=1"])
program.scale(queue, (1000,), None, a.data, numpy.int32(2))
print("scaled", int(a.get().sum()))
print(
    "kernels",
    [kernel.function_name for kernel in program.all_kernels()],
    program.scale.num_args,
    program.num_kernels,
)
information = program.get_build_info(device, pyopencl.program_build_info.OPTIONS)
print("options", "-DUNUSED=1" in information)
print("source", "values[get_global_id(0)] *= factor" in program.source)

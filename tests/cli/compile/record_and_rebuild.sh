#!/bin/bash
# A recording with the layer itself, and a compile of it: first launches then compile nothing.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash"
see_only 'Portable Computing Language'
cat > app.c << 'END'
#include <CL/cl.h>
#include <signal.h>
#include <string.h>
int main(int count, char** words) {
  (void)words;
  const char* source = "kernel void scale(global float* a) { a[get_global_id(0)] *= N; }";
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  clGetPlatformIDs(16, platforms, &platform_count);
  for (cl_uint i = 0; i < platform_count; ++i) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strcmp(name, "Portable Computing Language") != 0) continue;
    cl_device_id device;
    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "-DN=2 -I /nowhere", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    size_t global = 1024, local = 64, prime = 1009, offset = 16, wide = 65536;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &prime, NULL, 0, NULL, NULL);
    // With an offset: PoCL needs other code for each of them.
    clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &local, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &prime, NULL, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &wide, &local, 0, NULL, NULL);
    clFinish(queue);
  }
  if (count > 1) raise(SIGKILL);
  return 5;
}
END
cc -DCL_TARGET_OPENCL_VERSION=120 app.c -o app -lOpenCL || exit 77
for words in '' kill; do
  # shellcheck disable=SC2086 # none, or one
  oclcc -q --record "app$words.clbin" -- ./app $words; echo "exit $?"
  oclcc --info -v "app$words.clbin" | grep -E '^  (options|source|built|launched)' | sed 's/on  .* (Port/on  CPU (Port/'
done
oclcc --diff app.clbin appkill.clbin
oclcc app.clbin --device "$device" -o app.clbin; echo "exit $?"
oclcc --info -v app.clbin | grep -o 'specialized for.*\|^  entry.*'
# PoCL itself tells whether it compiles for a launch, and where it finds the code otherwise.
launches() {
  rm -rf cache
  mkdir cache
  POCL_DEBUG=general POCL_CACHE_DIR=$PWD/cache ./app 2>&1 | grep -a -o 'Built a .* function\|Using a cached WG function'
}
echo "== launches of the application's own builds"
launches
echo "== served from the compiled recording"
# shellcheck disable=SC2016 # for the inner shell
layer=$(oclcc -q --record none.clbin -- sh -c 'echo "$OPENCL_LAYERS"')
OPENCL_LAYERS=$layer CLBIN_LAYER_MODE=strict CLBIN_LAYER_BUNDLES=$PWD/app.clbin launches
# expected output:
#| exit 5
#|   options   -DN=2
#|   source    kept: 1 file, 64 bytes
#|   built on  CPU (Portable Computing Language): scale
#|   launched  scale: NULL in 1 dimension, NULL in 1 dimension with an offset, 64, 64 with an offset, 1009, 1009 with an offset
#| exit 137
#|   options   -DN=2
#|   source    kept: 1 file, 64 bytes
#|   built on  CPU (Portable Computing Language): scale
#|   launched  scale: NULL in 1 dimension, NULL in 1 dimension with an offset, 64, 64 with an offset, 1009, 1009 with an offset
#| exit 0
#|   entry     PoCL binary
#| specialized for 64x1x1, 1009x1x1
#| == launches of the application's own builds
#| Built a specialized WG function
#| Built a specialized WG function
#| Built a specialized WG function
#| Built a specialized WG function
#| Built a specialized WG function
#| == served from the compiled recording
#| Using a cached WG function
#| Using a cached WG function
#| Using a cached WG function
#| Using a cached WG function
#| Using a cached WG function

#!/bin/bash
# Compiles of what the layer recorded.

### record_and_rebuild
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

### launched_only
# --launched-only: of a recording, the kernels that were launched.
# shellcheck source=tests/cli/driver.bash
source "$CLI_TESTS/driver.bash" one_platform
cat > k.cl << 'END'
#define KERNEL __kernel
int twice(int x) { return 2 * x; }
KERNEL void used(global int* a) { *a = twice(*a); }
#if 1
KERNEL
#else
kernel
#endif
void unused(global int* a) {
  local int shared[4]; // not allowed in a function that is no kernel }
  shared[0] = twice(a[0]);
  a[0] = shared[0];
}
kernel void called(global int* a) { *a = 3; }
kernel void caller(global int* a) { called(a); }
END
kernels='called caller unused used'
make_bundle recording k.cl one a '' "$kernels" cpu-a 'used 1 64 1 1' 1.clbin
make_bundle recording k.cl one b -DB "$kernels" cpu-a 'unused 1 64 1 1;caller 1 64 1 1' 2.clbin
make_bundle recording k.cl two a '' "$kernels" cpu-a '' 3.clbin
oclcc --merge 1.clbin 2.clbin 3.clbin -o app.clbin
compiled() { # BUNDLE
  oclcc --info --json "$1" | python3 -c "
import json, sys
for group in json.load(sys.stdin)['bundles'][0]['groups']:
    names = {kernel['name'] for entry in group['entries'] for kernel in entry['kernels']}
    print(group['program'], group['variant'], sorted(names))"
}
echo "== the launched kernels"
oclcc app.clbin --launched-only -o less.clbin; echo "exit $?"
oclcc --verify --run -q less.clbin; echo "exit $?"
compiled less.clbin
echo "== all of them"
oclcc app.clbin -o all.clbin; echo "exit $?"
compiled all.clbin
echo "== nothing was launched, or what is left is not enough"
oclcc 3.clbin --launched-only -o none.clbin; echo "exit $?"
printf 'kernel void b(global int* a) {\n#ifdef X\n  {\n#else\n  {\n#endif\n  }\n}\nkernel void used(global int* a) { *a = 1; }\n' > odd.cl
make_bundle recording odd.cl odd a '' 'b used' cpu-a 'used 1 64 1 1' odd.clbin
oclcc odd.clbin --launched-only -o none.clbin 2> errors; echo "exit $?"
grep -o "has no kernel 'used': compile without.*" errors | sort -u
echo "== not for sources"
oclcc k.cl --launched-only -o none.clbin; echo "exit $?"
# expected output:
#| == the launched kernels
#| exit 0
#| exit 0
#| one a ['used']
#| one b ['called', 'caller', 'unused']
#| two a []
#| == all of them
#| exit 0
#| one a ['called', 'caller', 'unused', 'used']
#| one b ['called', 'caller', 'unused', 'used']
#| two a ['called', 'caller', 'unused', 'used']
#| == nothing was launched, or what is left is not enough
#| exit 2
#| exit 1
#| has no kernel 'used': compile without '--launched-only'
#| == not for sources
#| exit 2
# expected errors:
#| oclcc: note: app.clbin: a variant of a program is not built, because no kernel was launched
#| oclcc: error: 3.clbin: '--launched-only': no kernel of it was launched
#| oclcc: error: '--launched-only' requires a recording, and 'k.cl' is none

#!/usr/bin/env bash
# manual_test.sh BUILD_FOLDER: compiles the programs of libclbin(3) and oclcc(1) against an
# installed prefix, with the flags of pkg-config, and runs them.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/pocl
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
cd "$scratch"
say() { printf 'manual_test: %s\n' "$*"; }

cmake --install "$build" --prefix "$scratch/prefix" > install.log
PATH=$scratch/prefix/bin:$PATH
if ! oclcc --list-devices > devices; then
  say "there is no OpenCL device"
  exit 77
fi
PKG_CONFIG_PATH=$scratch/$(dirname "$(find prefix -name clbin.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
read -ra flags <<< "$(pkg-config --cflags --libs clbin) -lOpenCL -DCL_TARGET_OPENCL_VERSION=300 \
  -DCL_HPP_TARGET_OPENCL_VERSION=120 -DCL_HPP_MINIMUM_OPENCL_VERSION=120"

# example PAGE LINE: prints the literal block of the page that contains the line.
example() {
  awk -v wanted="$2" '
    /^\.Bd -literal/ { inside = 1; text = ""; next }
    /^\.Ed/ { if (index(text, wanted)) { printf "%s", text }; inside = 0 }
    inside { text = text $0 "\n" }' "prefix/share/man/$1" | sed 's/\\e/\\/g'
}
statements() { grep -v '^#include' "$1"; }
includes() { grep '^#include' "$1" || true; }

printf 'kernel void matmul(global float* p) { *p = 1; }\n' > matmul.cl
cat > blas.cl << 'END'
kernel void saxpy(float a, global const float* x, global float* y) {
  y[get_global_id(0)] += a * x[get_global_id(0)];
}
END

example man3/libclbin.3 'clbin_bundle *bundle = NULL;' > c_example
{
  printf '#include <CL/cl.h>\n#include <clbin/clbin.h>\n#include <stdio.h>\n'
  cat << 'END'
int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return 2;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
END
  cat c_example
  cat << 'END'
  if (program == NULL) {
    return 1;
  }
  cl_kernel kernel = clCreateKernel(program, "matmul", NULL);
  printf("%s\n", kernel == NULL ? "no kernel" : "a kernel");
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clbin_close(bundle);
  clReleaseContext(context);
  return 0;
}
END
} > example.c
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror example.c "${flags[@]}" -o c_program

example man3/libclbin.3 'clbin_listing_group_count(listing)' > listing_example
{
  printf '#include <clbin/clbin.h>\n#include <stdio.h>\n'
  cat << 'END'
int main(void) {
  clbin_bundle *bundle = NULL;
  clbin_listing *listing = NULL;
  if (clbin_open("kernels.clbin", NULL, &bundle, NULL) != CLBIN_SUCCESS ||
      clbin_list(bundle, &listing, NULL) != CLBIN_SUCCESS) {
    return 1;
  }
END
  cat listing_example
  cat << 'END'
  clbin_listing_free(listing);
  clbin_close(bundle);
  return 0;
}
END
} > listing.c
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror listing.c "${flags[@]}" -o listing_program

example man3/libclbin.3 'clbin::Bundle::open("kernels.clbin");' > cpp_example
example man3/libclbin.3 'clbin::Presence::optional' > builder_example
example man7/oclcc-bundles.7 'kernels::blas::saxpy saxpy' > launcher_example
machine='
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device device = devices.at(0);
  const cl::Context context(device);'
{ # one source, because the headers take most of the time
  includes cpp_example
  printf '#include "blas.hpp"\n#include <iostream>\nvoid load() {%s\n' "$machine"
  statements cpp_example
  printf '  std::cout << (cl::Kernel(program, "matmul")() ? "a kernel\\n" : "no kernel\\n");\n}\n'
  printf 'void build() {%s\n' "$machine"
  printf '  const std::string text = "kernel void fill(global int* v) { *v = 1; }";\n'
  cat builder_example
  printf '  std::cout << (cl::Kernel(program, "fill")() ? "a kernel\\n" : "no kernel\\n");\n}\n'
  printf 'void launch() {%s\n' "$machine"
  cat << 'END'
  cl::CommandQueue queue(context, device);
  const auto bundle = clbin::Bundle::open("blas.clbin");
  constexpr std::size_t n = 2;
  const float ones[n] = {1, 1};
  clbin::Buffer<cl_float> x(context, CL_MEM_READ_WRITE, n);
  clbin::Buffer<cl_float> y(context, CL_MEM_READ_WRITE, n);
  queue.enqueueWriteBuffer(x, CL_TRUE, 0, sizeof(ones), ones);
  queue.enqueueWriteBuffer(y, CL_TRUE, 0, sizeof(ones), ones);
END
  cat launcher_example
  cat << 'END'
  float result[n];
  queue.enqueueReadBuffer(y, CL_TRUE, 0, sizeof(result), result);
  std::cout << result[0] << ' ' << result[1] << '\n';
}
int main(int, char** words) {
  const std::string which = words[1];
  which == "load" ? load() : which == "build" ? build() : launch();
}
END
} > programs.cpp
oclcc blas.cl -o blas.clbin
oclcc blas.clbin -o blas.hpp
g++ -std=c++17 -Wall -Wextra -Werror programs.cpp "${flags[@]}" -o cpp_programs

expect() { # expect STATUS OUTPUT COMMAND…
  local got status=0
  got=$("${@:3}" 2>&1) || status=$?
  [[ $status == "$1" && $got == "$2" ]] || { say "${*:3}: exit $status: '$got'"; exit 1; }
}
expect 1 "cannot open 'kernels.clbin': No such file or directory" ./c_program
oclcc matmul.cl -o kernels.clbin
expect 0 "a kernel" ./c_program
expect 0 "a kernel" ./cpp_programs load
expect 0 "a kernel" ./cpp_programs build
# A driver may not tell the arguments.
./listing_program > listing
grep -q '^matmul .*: matmul$' listing
if grep -v -e '^matmul .*: matmul$' -e '^  float\* p$' listing; then
  say "another line in the listing"
  exit 1
fi
expect 0 "3 3" ./cpp_programs launch
say "passed"

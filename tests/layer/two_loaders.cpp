// Uses two ICD loaders in one process: the one that it is linked with, and a copy of it.
//
//   two_loaders COPY unused|unseen|unasked
//
// unused: builds nothing. unseen: builds through the copy. unasked: as unseen, but the copy does
// not know of layers. The last line is "built CODE" of the copy's build, or "end".

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace {

template <typename Function>
Function function_of(void* library, const char* name, Function /*type*/) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

void build_through(void* copy) {
  cl_platform_id platform = nullptr;
  (void)function_of(copy, "clGetPlatformIDs", &clGetPlatformIDs)(1, &platform, nullptr);
  cl_device_id device = nullptr;
  (void)function_of(copy, "clGetDeviceIDs", &clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1,
                                                             &device, nullptr);
  cl_int code = CL_SUCCESS;
  cl_context context = function_of(copy, "clCreateContext",
                                   &clCreateContext)(nullptr, 1, &device, nullptr, nullptr, &code);
  const char* source = "kernel void fill(global int* a) { a[0] = 1; }\n";
  cl_program program = function_of(copy, "clCreateProgramWithSource",
                                   &clCreateProgramWithSource)(context, 1, &source, nullptr, &code);
  code = function_of(copy, "clBuildProgram", &clBuildProgram)(program, 0, nullptr, "", nullptr,
                                                              nullptr);
  std::printf("built %d\n", code);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    std::printf("no platform\n");
    return 0;
  }
  if (std::strcmp(argv[2], "unasked") == 0) {
    (void)::unsetenv("OPENCL_LAYERS");
  }
  void* copy = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (copy == nullptr) {
    std::printf("%s\n", ::dlerror());
    return 3;
  }
  if (std::strcmp(argv[2], "unused") != 0) {
    build_through(copy);
    return 0;
  }
  std::printf("end\n");
  return 0;
}

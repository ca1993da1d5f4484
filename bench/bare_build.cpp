// The bare program that oclcc is held against: clBuildProgram on one device, by hand, as small as
// OpenCL allows. Prints nothing but errors; exit 0 built, 1 refused, 2 used wrongly.
//
//   bare_build [--binary] PLATFORM:DEVICE OPTIONS FILE
//
// --binary also asks for CL_PROGRAM_BINARIES, which is when PoCL compiles its kernels.

#include <CL/cl.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

cl_device_id find_device(const char* place) {
  char* rest = nullptr;
  const unsigned long platform_index = std::strtoul(place, &rest, 10);
  const unsigned long device_index = *rest == ':' ? std::strtoul(rest + 1, nullptr, 10) : 0;
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  if (platform_index >= platforms.size()) {
    return nullptr;
  }
  cl_uint device_count = 0;
  clGetDeviceIDs(platforms[platform_index], CL_DEVICE_TYPE_ALL, 0, nullptr, &device_count);
  std::vector<cl_device_id> devices(device_count);
  clGetDeviceIDs(platforms[platform_index], CL_DEVICE_TYPE_ALL, device_count, devices.data(),
                 nullptr);
  return device_index < devices.size() ? devices[device_index] : nullptr;
}

bool binary_is_there(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
          CL_SUCCESS ||
      size == 0) {
    return false;
  }
  std::vector<unsigned char> bytes(size);
  unsigned char* pointer = bytes.data();
  return clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr) ==
         CL_SUCCESS;
}

int build(cl_device_id device, const char* options, const std::string& source, bool want_binary) {
  cl_int code = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  const char* text = source.c_str();
  const std::size_t length = source.size();
  cl_program program = clCreateProgramWithSource(context, 1, &text, &length, &code);
  code = clBuildProgram(program, 1, &device, options, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    std::fprintf(stderr, "clBuildProgram: %d\n%s\n", code, log.c_str());
    return 1;
  }
  return want_binary && !binary_is_there(program) ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  const bool want_binary = argc > 1 && std::strcmp(argv[1], "--binary") == 0;
  const int first = want_binary ? 2 : 1;
  if (argc - first != 3) {
    std::fprintf(stderr, "usage: bare_build [--binary] PLATFORM:DEVICE OPTIONS FILE\n");
    return 2;
  }
  std::ifstream file(argv[first + 2], std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  cl_device_id device = find_device(argv[first]);
  if (!file || device == nullptr) {
    std::fprintf(stderr, "bare_build: no such file or device\n");
    return 2;
  }
  return build(device, argv[first + 1], source, want_binary);
}

// The minimal program with which oclcc is compared: direct calls of clBuildProgram for one device
// in one context. Prints nothing but errors. Exit status: 0 built, 1 rejected, 2 wrong usage.
//
//   bare_build [--binary] [--kernels] [--flavour NAME]... PLATFORM:DEVICE OPTIONS FILE
//              [OPTIONS FILE]...
//
// --binary also queries CL_PROGRAM_BINARIES, which makes PoCL compile its kernels. --flavour
// queries it with POCL_BINARY_SPECIALIZE_WG=NAME. PoCL reads the variable once per process, so each
// flavour is queried in a child process (oclcc/worker/driver_rules.cpp). --kernels also creates
// every kernel, as oclcc does.

#include <CL/cl.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

struct Task {
  bool want_binary = false;
  bool want_kernels = false;
  std::vector<const char*> flavours;
  const char* place = "";
  std::vector<std::pair<const char*, const char*>> builds; // options, file
};

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

bool flavour_is_made(cl_program program, const char* flavour) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("POCL_BINARY_SPECIALIZE_WG", flavour, 1);
    ::_exit(binary_is_there(program) ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool kernels_are_there(cl_program program) {
  cl_uint count = 0;
  if (clCreateKernelsInProgram(program, 0, nullptr, &count) != CL_SUCCESS) {
    return false;
  }
  std::vector<cl_kernel> kernels(count);
  return clCreateKernelsInProgram(program, count, kernels.data(), nullptr) == CL_SUCCESS;
}

bool asked_for(cl_program program, const Task& task) {
  for (const char* const flavour : task.flavours) {
    if (!flavour_is_made(program, flavour)) {
      return false;
    }
  }
  const bool has_binary = !task.flavours.empty() || !task.want_binary || binary_is_there(program);
  return has_binary && (!task.want_kernels || kernels_are_there(program));
}

int build(cl_context context, cl_device_id device, const char* options, const std::string& source,
          const Task& task) {
  cl_int code = CL_SUCCESS;
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
  return asked_for(program, task) ? 0 : 1; // the exit of the process releases all objects
}

// Returns false after wrong usage.
bool read_words(const std::vector<const char*>& words, Task& task) {
  std::size_t next = 0;
  for (; next < words.size() && std::strncmp(words[next], "--", 2) == 0; ++next) {
    if (std::strcmp(words[next], "--binary") == 0) {
      task.want_binary = true;
    } else if (std::strcmp(words[next], "--kernels") == 0) {
      task.want_kernels = true;
    } else if (std::strcmp(words[next], "--flavour") == 0 && next + 1 < words.size()) {
      task.flavours.push_back(words[++next]);
    } else {
      return false;
    }
  }
  if (words.size() - next < 3 || (words.size() - next) % 2 == 0) {
    return false;
  }
  task.place = words[next++];
  for (; next < words.size(); next += 2) {
    task.builds.emplace_back(words[next], words[next + 1]);
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  Task task;
  if (!read_words({argv + 1, argv + argc}, task)) {
    std::fprintf(stderr, "usage: bare_build [--binary] [--kernels] [--flavour NAME]... "
                         "PLATFORM:DEVICE OPTIONS FILE [OPTIONS FILE]...\n");
    return 2;
  }
  cl_device_id device = find_device(task.place);
  cl_context context =
      device == nullptr ? nullptr : clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  for (const auto& [options, path] : task.builds) {
    std::ifstream file(path, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    if (!file || context == nullptr) {
      std::fprintf(stderr, "bare_build: no such file or device\n");
      return 2;
    }
    if (const int refused = build(context, device, options, source, task); refused != 0) {
      return refused;
    }
  }
  return 0;
}

// Loads tiled_product.cl on a device and launches it once, for first_launch.py; or loads another
// PROGRAM and launches nothing. Opens OpenCL at run time in every mode, so that all start alike.
//
//   one_launch source|binary|bundle|fallback FILE PLATFORM [PROGRAM]
//
// PLATFORM is a part of the name of the platform. source and binary: create and build with direct
// calls; bundle: libclbin, which must find an entry; fallback: libclbin, including the user cache
// and source. Prints microseconds: until the context exists, create + build, and the first launch
// with its clFinish (0 for another program). Exit status 0; otherwise 1, with the reason.

#include "clbin/clbin.hpp"
#include "opencl_functions.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using runtime_demo::OpenclFunctions;
using runtime_demo::OpenclLibrary;

constexpr int k_size = 64;
constexpr std::size_t k_elements = std::size_t{k_size} * k_size;

struct Request {
  std::string way;
  std::string file;
  std::string platform;
  std::string program;
};

constexpr const char* k_launched_program = "tiled_product";

void require(cl_int code, const char* function) {
  if (code != CL_SUCCESS) {
    throw std::runtime_error(runtime_demo::describe_failure(function, code));
  }
}

template <typename Function>
Function* find(const OpenclLibrary& library, const char* name) {
  auto* const function = reinterpret_cast<Function*>(library.resolve(name));
  if (function == nullptr) {
    throw std::runtime_error(fmt::format("the OpenCL library has no {}", name));
  }
  return function;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(fmt::format("cannot open '{}'", path));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

cl_device_id find_device(const OpenclFunctions& cl, const std::string& platform_part) {
  cl_uint count = 0;
  require(cl.get_platform_ids(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  require(cl.get_platform_ids(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    char name[256] = {};
    cl.get_platform_info(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    cl_device_id device = nullptr;
    if (std::string_view(name).find(platform_part) != std::string_view::npos &&
        cl.get_device_ids(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  throw std::runtime_error(fmt::format("no platform '{}' with a device", platform_part));
}

void build(const OpenclLibrary& library, cl_program program, cl_device_id device,
           const std::string& options) {
  const auto build_program = find<decltype(clBuildProgram)>(library, "clBuildProgram");
  require(build_program(program, 1, &device, options.c_str(), nullptr, nullptr), "clBuildProgram");
}

cl_program from_source(const OpenclLibrary& library, cl_context context, cl_device_id device,
                       const std::string& file) {
  const auto create =
      find<decltype(clCreateProgramWithSource)>(library, "clCreateProgramWithSource");
  const std::string source = contents(file);
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int code = CL_SUCCESS;
  cl_program program = create(context, 1, &text, &length, &code);
  require(code, "clCreateProgramWithSource");
  build(library, program, device, "-I" + std::filesystem::path(file).parent_path().string());
  return program;
}

cl_program from_binary(const OpenclLibrary& library, cl_context context, cl_device_id device,
                       const std::string& file) {
  const auto create =
      find<decltype(clCreateProgramWithBinary)>(library, "clCreateProgramWithBinary");
  const std::string binary = contents(file);
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t length = binary.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  cl_program program = create(context, 1, &device, &length, &bytes, &status, &code);
  require(code == CL_SUCCESS ? status : code, "clCreateProgramWithBinary");
  build(library, program, device, "");
  return program;
}

void* resolve(const char* name, void* library) {
  return static_cast<const OpenclLibrary*>(library)->resolve(name);
}

cl_program from_bundle(const OpenclLibrary& library, cl_context context, cl_device_id device,
                       const Request& request, clbin::Fallback fallback) {
  const auto bundle = clbin::Bundle::open(request.file);
  clbin::LoadOptions options;
  options.fallback(fallback).resolver(resolve, const_cast<OpenclLibrary*>(&library));
  return bundle.load(context, device, request.program, options);
}

cl_program make_program(const OpenclLibrary& library, cl_context context, cl_device_id device,
                        const Request& request) {
  if (request.way == "bundle") {
    return from_bundle(library, context, device, request, clbin::Fallback::never);
  }
  if (request.way == "fallback") {
    return from_bundle(library, context, device, request, clbin::Fallback::if_needed);
  }
  return request.way == "binary" ? from_binary(library, context, device, request.file)
                                 : from_source(library, context, device, request.file);
}

struct Operands {
  cl_mem result;
  cl_mem ones;
};

Operands make_operands(const OpenclFunctions& cl, cl_context context) {
  std::vector<float> ones(k_elements, 1.0f);
  cl_int code = CL_SUCCESS;
  const std::size_t bytes = k_elements * sizeof(float);
  cl_mem result = cl.create_buffer(context, CL_MEM_WRITE_ONLY, bytes, nullptr, &code);
  require(code, "clCreateBuffer");
  cl_mem input =
      cl.create_buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, ones.data(), &code);
  require(code, "clCreateBuffer");
  return {result, input};
}

void check_result(const OpenclFunctions& cl, cl_command_queue queue, cl_mem result) {
  const auto read = cl.enqueue_read_buffer;
  std::vector<float> values(k_elements);
  require(read(queue, result, CL_TRUE, 0, k_elements * sizeof(float), values.data(), 0, nullptr,
               nullptr),
          "clEnqueueReadBuffer");
  for (const float value : values) {
    if (value != static_cast<float>(k_size)) {
      throw std::runtime_error(fmt::format("the product holds {} and not {}", value, k_size));
    }
  }
}

// Returns the microseconds of a launch and its clFinish.
double launch(const OpenclFunctions& cl, cl_command_queue queue, cl_program program,
              const Operands& operands) {
  constexpr int n = k_size;
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = cl.create_kernel(program, k_launched_program, &code);
  require(code, "clCreateKernel");
  cl.set_kernel_arg(kernel, 0, sizeof(cl_mem), &operands.result);
  cl.set_kernel_arg(kernel, 1, sizeof(cl_mem), &operands.ones);
  cl.set_kernel_arg(kernel, 2, sizeof(cl_mem), &operands.ones);
  cl.set_kernel_arg(kernel, 3, sizeof n, &n);
  const std::size_t global[2] = {k_size, k_size};
  const std::size_t local[2] = {16, 16};
  const auto start = Clock::now();
  require(cl.enqueue_nd_range_kernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  require(cl.finish(queue), "clFinish");
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double launch_and_check(const OpenclFunctions& cl, cl_context context, cl_device_id device,
                        cl_program program) {
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = cl.create_command_queue(context, device, 0, &code);
  require(code, "clCreateCommandQueue");
  const Operands operands = make_operands(cl, context);
  const double microseconds = launch(cl, queue, program, operands);
  check_result(cl, queue, operands.result);
  return microseconds;
}

void run(const Request& request) {
  const auto begin = Clock::now();
  const auto library = OpenclLibrary::open();
  if (!library) {
    throw std::runtime_error(library.error().message);
  }
  const OpenclFunctions& cl = library->functions();
  cl_device_id device = find_device(cl, request.platform);
  cl_int code = CL_SUCCESS;
  cl_context context = cl.create_context(nullptr, 1, &device, nullptr, nullptr, &code);
  require(code, "clCreateContext");
  const auto ready = Clock::now();
  cl_program program = make_program(*library, context, device, request);
  const auto loaded = Clock::now();
  const double first =
      request.program == k_launched_program ? launch_and_check(cl, context, device, program) : 0.0;
  const auto microseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  fmt::print("{:.1f} {:.1f} {:.1f}\n", microseconds(ready - begin), microseconds(loaded - ready),
             first);
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 3 && words.size() != 4) {
    std::fputs("usage: one_launch source|binary|bundle|fallback FILE PLATFORM [PROGRAM]\n", stderr);
    return 2;
  }
  try {
    run({words[0], words[1], words[2], words.size() == 4 ? words[3] : k_launched_program});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "one_launch: %s\n", failure.what());
    return 1;
  }
  // Exits as a product does: the destructors of the drivers are part of the process.
  return 0;
}

#include "timed_driver.hpp"

#include "opencl/driver.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace bench {

namespace opencl = clbin::opencl;

namespace {

// The functions of the driver have no user pointer, so the state of their wrappers must be static.
struct DriverClock {
  opencl::Driver real;
  double microseconds = 0;
};

DriverClock& driver_clock() {
  static DriverClock clock;
  return clock;
}

cl_program CL_API_CALL timed_create(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const std::size_t* lengths, const unsigned char** binaries,
                                    cl_int* statuses, cl_int* code) {
  const auto start = Clock::now();
  cl_program program = driver_clock().real.CreateProgramWithBinary(context, count, devices, lengths,
                                                                   binaries, statuses, code);
  driver_clock().microseconds += microseconds_since(start);
  return program;
}

cl_int CL_API_CALL timed_build(cl_program program, cl_uint count, const cl_device_id* devices,
                               const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                               void* user_data) {
  const auto start = Clock::now();
  const cl_int code =
      driver_clock().real.BuildProgram(program, count, devices, options, notify, user_data);
  driver_clock().microseconds += microseconds_since(start);
  return code;
}

} // namespace

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

opencl::Driver timed_driver(const opencl::Driver& real) {
  driver_clock().real = real;
  opencl::Driver timed = real;
  timed.CreateProgramWithBinary = timed_create;
  timed.BuildProgram = timed_build;
  return timed;
}

double take_driver_time() {
  return std::exchange(driver_clock().microseconds, 0.0);
}

std::string kernel_source(int kernels) {
  std::string text;
  for (int i = 0; i < kernels; ++i) {
    text += fmt::format("kernel void k{}(global float* a, const int n) {{\n"
                        "  const int i = get_global_id(0);\n"
                        "  if (i < n) {{ a[i] = a[i] * {}.5f + native_sin(a[i]); }}\n}}\n",
                        i, i);
  }
  return text;
}

clbin::base::Result<double> time_bare(const opencl::Driver& driver,
                                      const clbin::base::Bytes& binary, cl_context context,
                                      cl_device_id device) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const auto start = Clock::now();
  const opencl::Program program(
      driver.CreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code),
      driver.ReleaseProgram);
  if (code == CL_SUCCESS) {
    code = driver.BuildProgram(program.get(), 1, &device, "", nullptr, nullptr);
  }
  const double time = microseconds_since(start);
  if (code != CL_SUCCESS) {
    return clbin::base::fail(clbin::base::ErrorCode::binary_refused,
                             "the driver refuses its own binary: {}", code);
  }
  return time;
}

} // namespace bench

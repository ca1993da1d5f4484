// What load_overhead and build_overhead share: a driver whose create and build calls are timed, and
// the bare calls beside which libclbin is measured.
#pragma once

#include "base/byte_codec.hpp"
#include "base/result.hpp"
#include "opencl/driver.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] double microseconds_since(Clock::time_point start);
// `values` is not empty.
[[nodiscard]] double median(std::vector<double> values);

// Returns functions that measure clCreateProgramWithBinary and clBuildProgram and pass all calls to
// `real`. One driver at a time, because the functions have no user pointer.
[[nodiscard]] clbin::opencl::Driver timed_driver(const clbin::opencl::Driver& real);
// Returns the microseconds in both functions of timed_driver() since the last call, and sets them
// to 0.
double take_driver_time();

// Returns the source of kernels k0, k1, …
[[nodiscard]] std::string kernel_source(int kernels);

// Returns the microseconds of clCreateProgramWithBinary and clBuildProgram. binary_refused: the
// driver rejects the binary.
[[nodiscard]] clbin::base::Result<double> time_bare(const clbin::opencl::Driver& driver,
                                                    const clbin::base::Bytes& binary,
                                                    cl_context context, cl_device_id device);

} // namespace bench

#include "opencl/program_info.hpp"

#include "opencl/cl_error.hpp"
#include "opencl/program_build.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <iterator>
#include <string_view>
#include <unordered_set>

namespace clbin::opencl {
namespace {

using base::ErrorCode;
using base::Result;

// No real log or list of names is longer; a driver that reports a larger size is wrong.
constexpr std::size_t k_max_answer_bytes = 64U << 20U;
// Longer build logs are shortened to about this size.
constexpr std::size_t k_max_log_bytes = 1U << 20U;
// No real device binary is larger.
constexpr std::size_t k_max_binary_bytes = 1U << 30U;
// No real program has more devices.
constexpr cl_uint k_max_devices = 4096;

std::string trimmed(std::string_view text) {
  constexpr std::string_view k_space = " \t\r\n\0";
  text = text.substr(0, text.find('\0'));
  const std::size_t end = text.find_last_not_of(k_space);
  if (end == std::string_view::npos) {
    return {};
  }
  text = text.substr(0, end + 1);
  return std::string(text.substr(std::min(text.find_first_not_of("\r\n"), text.size())));
}

std::string device_build_log(const Driver& driver, cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (driver.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      size == 0 || size > k_max_answer_bytes) {
    return {};
  }
  std::string log(size, '\0');
  if (driver.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                                 nullptr) != CL_SUCCESS) {
    return {};
  }
  return both_ends(trimmed(log), k_max_log_bytes);
}

tl::unexpected<base::Error> query_failed(std::string_view what, cl_int code) {
  return base::fail(ErrorCode::opencl_call, "clGetProgramInfo({}) failed: {}", what,
                    cl_error_name(code));
}

// Returns the devices of the program. If it has only one, does not query it, and returns one null
// element.
Result<std::vector<cl_device_id>> program_devices(const Driver& driver, cl_program program) {
  cl_uint count = 0;
  cl_int code =
      driver.GetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  if (code != CL_SUCCESS) {
    return query_failed("CL_PROGRAM_NUM_DEVICES", code);
  }
  if (count == 0 || count > k_max_devices) {
    return base::fail(ErrorCode::opencl_call, "the driver reports a program of {} devices", count);
  }
  std::vector<cl_device_id> devices(count);
  if (count > 1) {
    code = driver.GetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                                 static_cast<void*>(devices.data()), nullptr);
  }
  if (code != CL_SUCCESS) {
    return query_failed("CL_PROGRAM_DEVICES", code);
  }
  return devices;
}

} // namespace

std::string both_ends(std::string log, std::size_t max_bytes) {
  if (log.size() <= max_bytes) {
    return log;
  }
  const std::size_t half = max_bytes / 2;
  std::size_t head = log.rfind('\n', half);
  if (head == std::string::npos || head < half / 2) {
    head = half;
  }
  std::size_t tail = log.find('\n', log.size() - half);
  if (tail == std::string::npos || log.size() - tail < half / 2) {
    tail = log.size() - half;
  }
  return log.substr(0, head) +
         fmt::format("\n({} bytes of the build log are omitted)\n", tail - head) +
         log.substr(log[tail] == '\n' ? tail + 1 : tail);
}

Result<std::vector<std::string>> program_kernel_names(const Driver& driver, cl_program program) {
  // NVIDIA's driver (580.159) crashes if the names of a program without kernels are queried
  // (bench/results/nvidia_h200.txt).
  std::size_t count = 1;
  if (driver.GetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr) ==
          CL_SUCCESS &&
      count == 0) {
    return std::vector<std::string>();
  }
  // One call suffices for nearly every program. This function is on the load path.
  std::string text(2048, '\0');
  std::size_t size = 0;
  cl_int code =
      driver.GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, text.size(), text.data(), &size);
  if (code == CL_INVALID_VALUE &&
      driver.GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) == CL_SUCCESS &&
      size > text.size() && size <= k_max_answer_bytes) {
    text.assign(size, '\0');
    code = driver.GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, text.size(), text.data(), &size);
  }
  if (code != CL_SUCCESS) {
    return query_failed("CL_PROGRAM_KERNEL_NAMES", code);
  }
  std::string_view rest = std::string_view(text).substr(0, text.find('\0'));
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    if (end > 0 && seen.insert(rest.substr(0, end)).second) {
      names.emplace_back(rest.substr(0, end));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

std::string build_log(const Driver& driver, cl_program program,
                      const std::vector<cl_device_id>& devices) {
  std::vector<std::string> logs;
  for (cl_device_id device : devices) {
    std::string log = device_build_log(driver, program, device);
    if (!log.empty() && std::find(logs.begin(), logs.end(), log) == logs.end()) {
      logs.push_back(std::move(log));
    }
  }
  std::string all;
  for (const std::string& log : logs) {
    all += all.empty() ? "" : "\n";
    all += log;
  }
  return all;
}

Result<base::Bytes> program_binary(const Driver& driver, cl_program program, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const std::vector<cl_device_id> devices, program_devices(driver, program));
  const auto found =
      devices.size() == 1 ? devices.begin() : std::find(devices.begin(), devices.end(), device);
  if (found == devices.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      "the program has {} devices, which do not include the requested device",
                      devices.size());
  }
  std::vector<std::size_t> sizes(devices.size());
  cl_int code = driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                      sizes.size() * sizeof(std::size_t), sizes.data(), nullptr);
  if (code != CL_SUCCESS) {
    return query_failed("CL_PROGRAM_BINARY_SIZES", code);
  }
  const auto wanted = static_cast<std::size_t>(std::distance(devices.begin(), found));
  if (sizes[wanted] == 0) {
    return base::fail(ErrorCode::binary_refused, "the driver returned a binary of 0 bytes");
  }
  // Allocates memory for all binaries, because some drivers do not skip a binary whose pointer is
  // null, as the specification allows.
  std::vector<base::Bytes> binaries;
  std::vector<unsigned char*> pointers;
  for (const std::size_t size : sizes) {
    if (size > k_max_binary_bytes) {
      return base::fail(ErrorCode::binary_refused, "the driver returned a binary of {} bytes",
                        size);
    }
    binaries.emplace_back(size);
    pointers.push_back(reinterpret_cast<unsigned char*>(binaries.back().data()));
  }
  code =
      driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(unsigned char*),
                            static_cast<void*>(pointers.data()), nullptr);
  if (code != CL_SUCCESS) {
    return query_failed("CL_PROGRAM_BINARIES", code);
  }
  return std::move(binaries[wanted]);
}

} // namespace clbin::opencl

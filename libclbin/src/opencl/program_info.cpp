// What a program says of itself after its build: logs, binaries and kernels.
#include "base/text.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"

#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <unordered_set>

namespace clbin::opencl {
namespace {

// Longer build logs are shortened to about this size.
constexpr std::size_t k_max_log_bytes = 1U << 20U;
// No real device binary is larger.
constexpr std::size_t k_max_binary_bytes = 1U << 30U;
// No real program has more devices.
constexpr cl_uint k_max_devices = 4096;

std::string trimmed(std::string_view text) {
  constexpr std::string_view k_space = " \t\r\n";
  const std::size_t end = text.find_last_not_of(k_space);
  if (end == std::string_view::npos) {
    return {};
  }
  text = text.substr(0, end + 1);
  return std::string(text.substr(std::min(text.find_first_not_of("\r\n"), text.size())));
}

struct ProgramQuery {
  cl_program_info name;
  std::string_view text;
};
constexpr ProgramQuery k_device_count{CL_PROGRAM_NUM_DEVICES, "CL_PROGRAM_NUM_DEVICES"};
constexpr ProgramQuery k_devices{CL_PROGRAM_DEVICES, "CL_PROGRAM_DEVICES"};
constexpr ProgramQuery k_binary_sizes{CL_PROGRAM_BINARY_SIZES, "CL_PROGRAM_BINARY_SIZES"};
constexpr ProgramQuery k_binaries{CL_PROGRAM_BINARIES, "CL_PROGRAM_BINARIES"};

Result<void> fill(const Driver& driver, cl_program program, const ProgramQuery& query,
                  std::span<std::byte> bytes) {
  const cl_int code =
      driver.GetProgramInfo(program, query.name, bytes.size(), bytes.data(), nullptr);
  if (code != CL_SUCCESS) {
    return call_failed("clGetProgramInfo", query.text, code);
  }
  return {};
}

// Returns the devices of the program; if there is only one, one null element, without a query.
Result<std::vector<cl_device_id>> program_devices(const Driver& driver, cl_program program) {
  cl_uint count = 0;
  CLBIN_TRY(fill(driver, program, k_device_count, std::as_writable_bytes(std::span(&count, 1))));
  if (count == 0 || count > k_max_devices) {
    return base::fail(ErrorCode::opencl_call, "the driver reports a program of {} devices", count);
  }
  std::vector<cl_device_id> devices(count);
  if (count > 1) {
    CLBIN_TRY(fill(driver, program, k_devices, std::as_writable_bytes(std::span(devices))));
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
  // NVIDIA's driver (580.159) crashes if there are none (bench/results/nvidia_h200.txt).
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
    return call_failed("clGetProgramInfo", "CL_PROGRAM_KERNEL_NAMES", code);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const std::string_view name : base::words_between(";", text)) {
    if (seen.insert(name).second) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::string build_options(const Driver& driver, cl_program program, cl_device_id device) {
  return ask_text(std::bind_front(driver.GetProgramBuildInfo, program, device,
                                  cl_program_build_info{CL_PROGRAM_BUILD_OPTIONS}));
}

std::string build_log(const Driver& driver, cl_program program,
                      const std::vector<cl_device_id>& devices) {
  std::vector<std::string> logs;
  for (cl_device_id device : devices) {
    std::string log =
        both_ends(trimmed(ask_text(std::bind_front(driver.GetProgramBuildInfo, program, device,
                                                   cl_program_build_info{CL_PROGRAM_BUILD_LOG}))),
                  k_max_log_bytes);
    if (!log.empty() && std::ranges::find(logs, log) == logs.end()) {
      logs.push_back(std::move(log));
    }
  }
  return fmt::format("{}", fmt::join(logs, "\n"));
}

Result<base::Bytes> program_binary(const Driver& driver, cl_program program, cl_device_id device) {
  CLBIN_TRY_ASSIGN(const std::vector<cl_device_id> devices, program_devices(driver, program));
  const auto found = devices.size() == 1 ? devices.begin() : std::ranges::find(devices, device);
  if (found == devices.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      "the program has {} devices, which do not include the requested device",
                      devices.size());
  }
  std::vector<std::size_t> sizes(devices.size());
  CLBIN_TRY(fill(driver, program, k_binary_sizes, std::as_writable_bytes(std::span(sizes))));
  const auto wanted = static_cast<std::size_t>(std::distance(devices.begin(), found));
  if (sizes[wanted] == 0) {
    return base::fail(ErrorCode::binary_refused, "the driver returned a binary of 0 bytes");
  }
  // For all binaries: some drivers do not skip a null pointer, as the specification allows.
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
  CLBIN_TRY(fill(driver, program, k_binaries, std::as_writable_bytes(std::span(pointers))));
  return std::move(binaries[wanted]);
}

namespace {

using format::KernelArgument;
using format::KernelReflection;

// No kernel has more arguments; a driver that reports more is wrong.
constexpr cl_uint k_max_arguments = 1U << 16U;
constexpr std::size_t k_max_text_bytes = 1U << 20U;

// Returns the value if the driver has it.
template <typename T, typename Ask>
std::optional<T> value_if_told(const Ask& ask) {
  const auto value = ask_value<T>(ask);
  return value.has_value() ? std::optional<T>(*value) : std::nullopt;
}

// Returns the enumerator of a code in a table of `codes`; the first one if there is none.
template <typename Enum, typename Code, std::size_t count, typename Ask>
Enum ask_enumerator(const Code (&codes)[count], const Ask& ask) {
  const auto* const found = std::find(codes, codes + count, value_if_told<Code>(ask));
  return static_cast<Enum>(found == codes + count ? 0 : found - codes);
}

KernelArgument reflect_argument(const Driver& driver, cl_kernel kernel, cl_uint index) {
  const auto about = [&](cl_kernel_arg_info name) {
    return std::bind_front(driver.GetKernelArgInfo, kernel, index, name);
  };
  KernelArgument argument;
  argument.name = ask_text(about(CL_KERNEL_ARG_NAME), k_max_text_bytes);
  argument.type_name = ask_text(about(CL_KERNEL_ARG_TYPE_NAME), k_max_text_bytes);
  argument.address_space = ask_enumerator<format::AddressSpace>(
      k_address_qualifiers, about(CL_KERNEL_ARG_ADDRESS_QUALIFIER));
  argument.access = ask_enumerator<format::AccessQualifier>(k_access_qualifiers,
                                                            about(CL_KERNEL_ARG_ACCESS_QUALIFIER));
  const auto type =
      ask_value<cl_kernel_arg_type_qualifier>(about(CL_KERNEL_ARG_TYPE_QUALIFIER)).value_or(0);
  argument.is_const = (type & CL_KERNEL_ARG_TYPE_CONST) != 0;
  argument.is_restrict = (type & CL_KERNEL_ARG_TYPE_RESTRICT) != 0;
  argument.is_volatile = (type & CL_KERNEL_ARG_TYPE_VOLATILE) != 0;
  argument.is_pipe = (type & CL_KERNEL_ARG_TYPE_PIPE) != 0;
  return argument;
}

} // namespace

std::optional<std::vector<KernelArgument>> reflect_arguments(const Driver& driver, cl_kernel kernel,
                                                             cl_uint count) {
  if (driver.GetKernelArgInfo == nullptr) {
    return std::nullopt;
  }
  std::vector<KernelArgument> arguments;
  for (cl_uint index = 0; index < count; ++index) {
    if (!ask_value<cl_kernel_arg_address_qualifier>(
            std::bind_front(driver.GetKernelArgInfo, kernel, index,
                            cl_kernel_arg_info{CL_KERNEL_ARG_ADDRESS_QUALIFIER}))) {
      return std::nullopt;
    }
    arguments.push_back(reflect_argument(driver, kernel, index));
  }
  return arguments;
}

namespace {

void reflect_work_group(const Driver& driver, cl_kernel kernel, cl_device_id device,
                        KernelReflection& result) {
  const auto about = [&](cl_kernel_work_group_info name) {
    return std::bind_front(driver.GetKernelWorkGroupInfo, kernel, device, name);
  };
  using Size3 = std::array<std::size_t, 3>;
  const Size3 required =
      ask_value<Size3>(about(CL_KERNEL_COMPILE_WORK_GROUP_SIZE)).value_or(Size3{});
  std::copy(required.begin(), required.end(), result.required_work_group_size.begin());
  result.max_work_group_size = value_if_told<std::size_t>(about(CL_KERNEL_WORK_GROUP_SIZE));
  result.preferred_multiple =
      value_if_told<std::size_t>(about(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
  result.local_bytes = value_if_told<cl_ulong>(about(CL_KERNEL_LOCAL_MEM_SIZE));
  result.private_bytes = value_if_told<cl_ulong>(about(CL_KERNEL_PRIVATE_MEM_SIZE));
}

// Oclgrind 21.10 returns CL_KERNEL_ATTRIBUTES from a string that it has freed: bytes that differ
// between runs (program_build_driver_test shows it with direct OpenCL calls).
bool is_oclgrind(const Driver& driver, cl_device_id device) {
  cl_platform_id platform = device_platform(driver, device).value_or(nullptr);
  return platform != nullptr &&
         platform_text(driver, platform, CL_PLATFORM_NAME).value_or("") == "Oclgrind";
}

// Without the attributes.
KernelReflection reflect_kernel(const Driver& driver, cl_kernel kernel, cl_device_id device,
                                std::string name) {
  KernelReflection result;
  result.name = std::move(name);
  const auto count = ask_value<cl_uint>(
      std::bind_front(driver.GetKernelInfo, kernel, cl_kernel_info{CL_KERNEL_NUM_ARGS}));
  if (count.has_value() && *count <= k_max_arguments) {
    result.argument_count = *count;
    result.arguments = reflect_arguments(driver, kernel, *count);
  }
  reflect_work_group(driver, kernel, device, result);
  return result;
}

// 25 of "25.0.7-2+deb13u1"; 0 of a version that does not begin with a number.
unsigned major_version(const format::DeviceIdentity& identity) {
  std::string_view version = identity.driver_version;
  return base::take_number<unsigned>(version).value_or(0);
}

} // namespace

bool creates_kernels_safely(const format::DeviceIdentity& identity) {
  return format::device_family(identity) != format::DeviceFamily::rusticl ||
         major_version(identity) >= 25;
}

bool returns_binaries_during_launches(const format::DeviceIdentity& identity) {
  return format::device_family(identity) != format::DeviceFamily::pocl ||
         major_version(identity) >= 6;
}

namespace {

std::string attributes_of(const Driver& driver, cl_kernel kernel) {
  return ask_text(
      std::bind_front(driver.GetKernelInfo, kernel, cl_kernel_info{CL_KERNEL_ATTRIBUTES}),
      k_max_text_bytes);
}

} // namespace

Result<ProgramReflection> reflect_kernels(const Driver& driver, cl_program program,
                                          cl_device_id device, const KernelCreation& creation) {
  CLBIN_TRY_ASSIGN(std::vector<std::string> names, program_kernel_names(driver, program));
  std::ranges::sort(names);
  const bool has_attributes = !is_oclgrind(driver, device);
  ProgramReflection result;
  for (std::string& name : names) {
    std::string obstacle;
    if (const auto left_out = creation.left_out.find(name); left_out != creation.left_out.end()) {
      obstacle = left_out->second;
    } else {
      if (creation.before) {
        creation.before(name);
      }
      cl_int code = CL_SUCCESS;
      const Kernel kernel(driver.CreateKernel(program, name.c_str(), &code), driver.ReleaseKernel);
      if (code == CL_SUCCESS && kernel) {
        result.kernels.push_back(reflect_kernel(driver, kernel.get(), device, std::move(name)));
        result.kernels.back().attributes =
            has_attributes ? attributes_of(driver, kernel.get()) : std::string();
        continue;
      }
      obstacle = code == CL_SUCCESS ? "it returned null" : cl_error_name(code);
    }
    // The build has succeeded nevertheless. Oclgrind 21.10 does not support llvm.fshl, which clang
    // generates for every rotation (program_build_driver_test shows it with direct OpenCL calls).
    // rusticl 22.3 crashes on an array of char that is indexed by a variable.
    result.problems.push_back(
        fmt::format("the driver builds kernel '{}', but cannot create it: {}", name, obstacle));
    result.kernels.emplace_back().name = std::move(name);
  }
  return result;
}

} // namespace clbin::opencl

#include "opencl/cl_error.hpp"
#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"
#include "opencl/program_info.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace clbin::opencl {
namespace {

using base::Result;
using format::AccessQualifier;
using format::AddressSpace;
using format::KernelArgument;
using format::KernelReflection;

// No kernel has more arguments; a driver that reports more is wrong.
constexpr cl_uint k_max_arguments = 1U << 16U;
constexpr std::size_t k_max_text_bytes = 1U << 20U;

// Returns an empty string if the driver does not report the text.
template <typename Ask>
std::string ask_text(const Ask& ask) {
  std::size_t size = 0;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size == 0 || size > k_max_text_bytes) {
    return {};
  }
  std::string text(size, '\0');
  if (ask(size, text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

template <typename T, typename Ask>
std::optional<T> ask_value(const Ask& ask) {
  T value{};
  if (ask(sizeof(value), &value, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

AddressSpace address_space_of(cl_kernel_arg_address_qualifier value) {
  switch (value) {
  case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    return AddressSpace::global;
  case CL_KERNEL_ARG_ADDRESS_LOCAL:
    return AddressSpace::local;
  case CL_KERNEL_ARG_ADDRESS_CONSTANT:
    return AddressSpace::constant;
  default:
    return AddressSpace::private_;
  }
}

AccessQualifier access_of(cl_kernel_arg_access_qualifier value) {
  switch (value) {
  case CL_KERNEL_ARG_ACCESS_READ_ONLY:
    return AccessQualifier::read_only;
  case CL_KERNEL_ARG_ACCESS_WRITE_ONLY:
    return AccessQualifier::write_only;
  case CL_KERNEL_ARG_ACCESS_READ_WRITE:
    return AccessQualifier::read_write;
  default:
    return AccessQualifier::none;
  }
}

KernelArgument reflect_argument(const Driver& driver, cl_kernel kernel, cl_uint index) {
  const auto about = [&](cl_kernel_arg_info name) {
    return [&driver, kernel, index, name](std::size_t size, void* value, std::size_t* size_out) {
      return driver.GetKernelArgInfo(kernel, index, name, size, value, size_out);
    };
  };
  KernelArgument argument;
  argument.name = ask_text(about(CL_KERNEL_ARG_NAME));
  argument.type_name = ask_text(about(CL_KERNEL_ARG_TYPE_NAME));
  argument.address_space = address_space_of(
      ask_value<cl_kernel_arg_address_qualifier>(about(CL_KERNEL_ARG_ADDRESS_QUALIFIER))
          .value_or(CL_KERNEL_ARG_ADDRESS_PRIVATE));
  argument.access =
      access_of(ask_value<cl_kernel_arg_access_qualifier>(about(CL_KERNEL_ARG_ACCESS_QUALIFIER))
                    .value_or(CL_KERNEL_ARG_ACCESS_NONE));
  const auto type =
      ask_value<cl_kernel_arg_type_qualifier>(about(CL_KERNEL_ARG_TYPE_QUALIFIER)).value_or(0);
  argument.is_const = (type & CL_KERNEL_ARG_TYPE_CONST) != 0;
  argument.is_restrict = (type & CL_KERNEL_ARG_TYPE_RESTRICT) != 0;
  argument.is_volatile = (type & CL_KERNEL_ARG_TYPE_VOLATILE) != 0;
  argument.is_pipe = (type & CL_KERNEL_ARG_TYPE_PIPE) != 0;
  return argument;
}

// Returns std::nullopt if the driver keeps no argument information. In that case, the first query
// fails.
std::optional<std::vector<KernelArgument>> reflect_arguments(const Driver& driver, cl_kernel kernel,
                                                             cl_uint count) {
  if (driver.GetKernelArgInfo == nullptr) {
    return std::nullopt;
  }
  std::vector<KernelArgument> arguments;
  for (cl_uint index = 0; index < count; ++index) {
    cl_kernel_arg_address_qualifier qualifier = 0;
    if (driver.GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(qualifier),
                                &qualifier, nullptr) != CL_SUCCESS) {
      return std::nullopt;
    }
    arguments.push_back(reflect_argument(driver, kernel, index));
  }
  return arguments;
}

void reflect_work_group(const Driver& driver, cl_kernel kernel, cl_device_id device,
                        KernelReflection& result) {
  const auto about = [&](cl_kernel_work_group_info name) {
    return [&driver, kernel, device, name](std::size_t size, void* value, std::size_t* size_out) {
      return driver.GetKernelWorkGroupInfo(kernel, device, name, size, value, size_out);
    };
  };
  using Size3 = std::array<std::size_t, 3>;
  const Size3 required =
      ask_value<Size3>(about(CL_KERNEL_COMPILE_WORK_GROUP_SIZE)).value_or(Size3{});
  std::copy(required.begin(), required.end(), result.required_work_group_size.begin());
  result.max_work_group_size = ask_value<std::size_t>(about(CL_KERNEL_WORK_GROUP_SIZE));
  result.preferred_multiple =
      ask_value<std::size_t>(about(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
  result.local_bytes = ask_value<cl_ulong>(about(CL_KERNEL_LOCAL_MEM_SIZE));
  result.private_bytes = ask_value<cl_ulong>(about(CL_KERNEL_PRIVATE_MEM_SIZE));
}

enum class AttributeQuery : std::uint8_t { ask, skip };

// Oclgrind 21.10 returns CL_KERNEL_ATTRIBUTES from a string that it has freed: bytes that differ
// between runs (program_build_driver_test shows it with direct OpenCL calls).
AttributeQuery attribute_query_for(const Driver& driver, cl_device_id device) {
  cl_platform_id platform = device_platform(driver, device).value_or(nullptr);
  const bool is_oclgrind =
      platform != nullptr &&
      platform_text(driver, platform, CL_PLATFORM_NAME).value_or("") == "Oclgrind";
  return is_oclgrind ? AttributeQuery::skip : AttributeQuery::ask;
}

KernelReflection reflect_kernel(const Driver& driver, cl_kernel kernel, cl_device_id device,
                                std::string name, AttributeQuery attributes) {
  const auto about = [&](cl_kernel_info what) {
    return [&driver, kernel, what](std::size_t size, void* value, std::size_t* size_out) {
      return driver.GetKernelInfo(kernel, what, size, value, size_out);
    };
  };
  KernelReflection result;
  result.name = std::move(name);
  if (attributes == AttributeQuery::ask) {
    result.attributes = ask_text(about(CL_KERNEL_ATTRIBUTES));
  }
  const auto count = ask_value<cl_uint>(about(CL_KERNEL_NUM_ARGS));
  if (count.has_value() && *count <= k_max_arguments) {
    result.argument_count = *count;
    result.arguments = reflect_arguments(driver, kernel, *count);
  }
  reflect_work_group(driver, kernel, device, result);
  return result;
}

} // namespace

bool creates_kernels_safely(const format::DeviceIdentity& identity) {
  const std::string& version = identity.driver_version; // "25.0.7-2+deb13u1"
  unsigned major = 0;
  (void)std::from_chars(version.data(), version.data() + version.size(), major);
  return format::device_family(identity) != format::DeviceFamily::rusticl || major >= 25;
}

Result<ProgramReflection> reflect_kernels(const Driver& driver, cl_program program,
                                          cl_device_id device, const KernelCreation& creation) {
  CLBIN_TRY_ASSIGN(std::vector<std::string> names, program_kernel_names(driver, program));
  std::sort(names.begin(), names.end());
  const AttributeQuery attributes = attribute_query_for(driver, device);
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
        result.kernels.push_back(
            reflect_kernel(driver, kernel.get(), device, std::move(name), attributes));
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

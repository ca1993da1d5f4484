#include "opencl/driver.hpp"

#include "base/file_io.hpp"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>

namespace clbin::opencl {
namespace {

using base::ErrorCode;

enum class Need : std::uint8_t { required, optional };

// Development packages install the second name. Some machines have only that one.
constexpr const char* k_loader_names[] = {"libOpenCL.so.1", "libOpenCL.so"};

struct NamedCode {
  cl_int code;
  std::string_view name;
};

// Written as numbers, because the headers that define the names (cl.h, cl_ext.h and those for
// graphics sharing) cannot all be included on one system. In descending order.
constexpr NamedCode k_codes[] = {
    {0, "CL_SUCCESS"},
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-60, "CL_INVALID_GL_OBJECT"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-62, "CL_INVALID_MIP_LEVEL"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {-69, "CL_INVALID_PIPE_SIZE"},
    {-70, "CL_INVALID_DEVICE_QUEUE"},
    {-71, "CL_INVALID_SPEC_ID"},
    {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    {-1000, "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-1002, "CL_INVALID_D3D10_DEVICE_KHR"},
    {-1003, "CL_INVALID_D3D10_RESOURCE_KHR"},
    {-1004, "CL_D3D10_RESOURCE_ALREADY_ACQUIRED_KHR"},
    {-1005, "CL_D3D10_RESOURCE_NOT_ACQUIRED_KHR"},
    {-1006, "CL_INVALID_D3D11_DEVICE_KHR"},
    {-1007, "CL_INVALID_D3D11_RESOURCE_KHR"},
    {-1008, "CL_D3D11_RESOURCE_ALREADY_ACQUIRED_KHR"},
    {-1009, "CL_D3D11_RESOURCE_NOT_ACQUIRED_KHR"},
    {-1010, "CL_INVALID_DX9_MEDIA_ADAPTER_KHR"},
    {-1011, "CL_INVALID_DX9_MEDIA_SURFACE_KHR"},
    {-1012, "CL_DX9_MEDIA_SURFACE_ALREADY_ACQUIRED_KHR"},
    {-1013, "CL_DX9_MEDIA_SURFACE_NOT_ACQUIRED_KHR"},
    {-1057, "CL_DEVICE_PARTITION_FAILED_EXT"},
    {-1058, "CL_INVALID_PARTITION_COUNT_EXT"},
    {-1059, "CL_INVALID_PARTITION_NAME_EXT"},
    {-1092, "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR"},
    {-1093, "CL_INVALID_EGL_OBJECT_KHR"},
    {-1094, "CL_INVALID_ACCELERATOR_INTEL"},
    {-1095, "CL_INVALID_ACCELERATOR_TYPE_INTEL"},
    {-1096, "CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL"},
    {-1097, "CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL"},
    {-1098, "CL_INVALID_VA_API_MEDIA_ADAPTER_INTEL"},
    {-1099, "CL_INVALID_VA_API_MEDIA_SURFACE_INTEL"},
    {-1100, "CL_VA_API_MEDIA_SURFACE_ALREADY_ACQUIRED_INTEL"},
    {-1101, "CL_VA_API_MEDIA_SURFACE_NOT_ACQUIRED_INTEL"},
    {-1108, "CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM"},
    {-1121, "CL_CONTEXT_TERMINATED_KHR"},
    {-1138, "CL_INVALID_COMMAND_BUFFER_KHR"},
    {-1139, "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR"},
    {-1140, "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR"},
    {-1141, "CL_INVALID_MUTABLE_COMMAND_KHR"},
    {-1142, "CL_INVALID_SEMAPHORE_KHR"},
};

} // namespace

base::Result<Driver> resolve_driver(const Resolve& resolve, TableUse use, std::string_view source) {
  Driver driver;
  const char* missing = nullptr; // the first required function that is
  const auto fill = [&](auto& slot, const char* name, TableUse first_use, Need need) {
    if (first_use > use) {
      return;
    }
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(resolve(name));
    if (slot == nullptr && need == Need::required && missing == nullptr) {
      missing = name;
    }
  };
#define CLBIN_FILL(name, first_use, need)                                                          \
  fill(driver.name, "cl" #name, TableUse::first_use, Need::need);
  CLBIN_DRIVER_FUNCTIONS(CLBIN_FILL)
  CLBIN_FILL(GetExtensionFunctionAddress, programs, optional)
#undef CLBIN_FILL
  if (missing != nullptr) {
    return base::fail(ErrorCode::no_opencl, "{} has no function '{}'", source, missing);
  }
  return driver;
}

base::Result<Driver> driver_of_library(void* library, TableUse use) {
  return resolve_driver([library](const char* function) { return dlsym(library, function); }, use);
}

Driver for_secret_programs(const Driver& driver) {
  Driver secret = driver;
  if (driver.GetExtensionFunctionAddress != nullptr) {
    secret.KeepNothingOf =
        reinterpret_cast<KeepNothingOf>(driver.GetExtensionFunctionAddress(k_keep_nothing_of));
  }
  return secret;
}

Driver for_labelled_programs(const Driver& driver, const char* label) {
  Driver labelled = driver;
  if (driver.GetExtensionFunctionAddress != nullptr) {
    labelled.LabelProgram =
        reinterpret_cast<LabelProgram>(driver.GetExtensionFunctionAddress(k_label_program));
    labelled.label = label;
  }
  return labelled;
}

base::Result<Driver> open_icd_driver() {
  std::string reason;
  for (const char* name : k_loader_names) {
    // RTLD_NODELETE and no dlclose: see the header. Opening it again only increments a count.
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != nullptr) {
      return driver_of_library(library, TableUse::everything);
    }
    const char* const text = dlerror();
    if (reason.empty() && text != nullptr) {
      reason = text;
    }
  }
  const bool is_missing = reason.find(base::reason_of(ENOENT)) != std::string::npos;
  return base::fail(ErrorCode::no_opencl, "cannot open the OpenCL loader ({}){}", reason,
                    is_missing ? "; install the package ocl-icd-libopencl1" : "");
}

std::string cl_error_name(cl_int code) {
  const auto* const found =
      std::find_if(std::begin(k_codes), std::end(k_codes),
                   [code](const NamedCode& named) { return named.code == code; });
  if (found == std::end(k_codes)) {
    return fmt::format("unknown error ({})", code);
  }
  return fmt::format("{} ({})", found->name, code);
}

tl::unexpected<base::Error> call_failed(std::string_view function, std::string_view query,
                                        cl_int code) {
  const std::string asked = query.empty() ? std::string() : fmt::format("({})", query);
  return tl::unexpected(base::Error{
      ErrorCode::opencl_call, fmt::format("{}{} failed: {}", function, asked, cl_error_name(code)),
      std::make_shared<base::FailedCall>(base::FailedCall{std::string(function), code, {}})});
}

} // namespace clbin::opencl

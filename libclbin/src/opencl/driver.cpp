#include "opencl/driver.hpp"

#include "base/file_io.hpp"
#include "base/system/process.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <iterator>

namespace clbin::opencl {
namespace {

enum class Need : std::uint8_t { required, optional, to_launch };

// The names of codes that follow one another in descending order, with spaces between them.
struct CodeRun {
  cl_int first;
  std::string_view names;
};

// Written as numbers, because the headers that define the names (cl.h, cl_ext.h and those for
// graphics sharing) cannot all be included on one system.
constexpr CodeRun k_runs[] = {
    {0, "CL_SUCCESS CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_COMPILER_NOT_AVAILABLE "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_OUT_OF_RESOURCES CL_OUT_OF_HOST_MEMORY "
        "CL_PROFILING_INFO_NOT_AVAILABLE CL_MEM_COPY_OVERLAP CL_IMAGE_FORMAT_MISMATCH "
        "CL_IMAGE_FORMAT_NOT_SUPPORTED CL_BUILD_PROGRAM_FAILURE CL_MAP_FAILURE "
        "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "
        "CL_COMPILE_PROGRAM_FAILURE CL_LINKER_NOT_AVAILABLE CL_LINK_PROGRAM_FAILURE "
        "CL_DEVICE_PARTITION_FAILED CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30,
     "CL_INVALID_VALUE CL_INVALID_DEVICE_TYPE CL_INVALID_PLATFORM CL_INVALID_DEVICE "
     "CL_INVALID_CONTEXT CL_INVALID_QUEUE_PROPERTIES CL_INVALID_COMMAND_QUEUE CL_INVALID_HOST_PTR "
     "CL_INVALID_MEM_OBJECT CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_SIZE "
     "CL_INVALID_SAMPLER CL_INVALID_BINARY CL_INVALID_BUILD_OPTIONS CL_INVALID_PROGRAM "
     "CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_KERNEL_NAME CL_INVALID_KERNEL_DEFINITION "
     "CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE CL_INVALID_ARG_SIZE "
     "CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_WORK_GROUP_SIZE "
     "CL_INVALID_WORK_ITEM_SIZE CL_INVALID_GLOBAL_OFFSET CL_INVALID_EVENT_WAIT_LIST "
     "CL_INVALID_EVENT CL_INVALID_OPERATION CL_INVALID_GL_OBJECT CL_INVALID_BUFFER_SIZE "
     "CL_INVALID_MIP_LEVEL CL_INVALID_GLOBAL_WORK_SIZE CL_INVALID_PROPERTY "
     "CL_INVALID_IMAGE_DESCRIPTOR CL_INVALID_COMPILER_OPTIONS CL_INVALID_LINKER_OPTIONS "
     "CL_INVALID_DEVICE_PARTITION_COUNT CL_INVALID_PIPE_SIZE CL_INVALID_DEVICE_QUEUE "
     "CL_INVALID_SPEC_ID CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    {-1000, "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR CL_PLATFORM_NOT_FOUND_KHR "
            "CL_INVALID_D3D10_DEVICE_KHR CL_INVALID_D3D10_RESOURCE_KHR "
            "CL_D3D10_RESOURCE_ALREADY_ACQUIRED_KHR CL_D3D10_RESOURCE_NOT_ACQUIRED_KHR "
            "CL_INVALID_D3D11_DEVICE_KHR CL_INVALID_D3D11_RESOURCE_KHR "
            "CL_D3D11_RESOURCE_ALREADY_ACQUIRED_KHR CL_D3D11_RESOURCE_NOT_ACQUIRED_KHR "
            "CL_INVALID_DX9_MEDIA_ADAPTER_KHR CL_INVALID_DX9_MEDIA_SURFACE_KHR "
            "CL_DX9_MEDIA_SURFACE_ALREADY_ACQUIRED_KHR CL_DX9_MEDIA_SURFACE_NOT_ACQUIRED_KHR"},
    {-1057,
     "CL_DEVICE_PARTITION_FAILED_EXT CL_INVALID_PARTITION_COUNT_EXT CL_INVALID_PARTITION_NAME_EXT"},
    {-1092,
     "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR CL_INVALID_EGL_OBJECT_KHR CL_INVALID_ACCELERATOR_INTEL "
     "CL_INVALID_ACCELERATOR_TYPE_INTEL CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL "
     "CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL CL_INVALID_VA_API_MEDIA_ADAPTER_INTEL "
     "CL_INVALID_VA_API_MEDIA_SURFACE_INTEL CL_VA_API_MEDIA_SURFACE_ALREADY_ACQUIRED_INTEL "
     "CL_VA_API_MEDIA_SURFACE_NOT_ACQUIRED_INTEL"},
    {-1108, "CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM"},
    {-1121, "CL_CONTEXT_TERMINATED_KHR"},
    {-1138,
     "CL_INVALID_COMMAND_BUFFER_KHR CL_INVALID_SYNC_POINT_WAIT_LIST_KHR "
     "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR CL_INVALID_MUTABLE_COMMAND_KHR CL_INVALID_SEMAPHORE_KHR"},
};

template <typename Function>
Function function_of_layer(const Driver& driver, const char* name) {
  return driver.GetExtensionFunctionAddress == nullptr
             ? nullptr
             : reinterpret_cast<Function>(driver.GetExtensionFunctionAddress(name));
}

} // namespace

base::Result<Driver> resolve_driver(const Resolve& resolve, TableUse use, std::string_view source) {
  Driver driver;
  const char* missing = nullptr; // the first required function that is
  const auto fill = [&](auto& slot, const char* name, TableUse first_use, Need need) {
    if (first_use > use) {
      return;
    }
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(resolve(name));
    const bool is_required =
        need == Need::required || (need == Need::to_launch && use == TableUse::launches);
    if (slot == nullptr && is_required && missing == nullptr) {
      missing = name;
    }
  };
#define CLBIN_FILL(name, first_use, need)                                                          \
  fill(driver.name, "cl" #name, TableUse::first_use, Need::need);
  CLBIN_DRIVER_FUNCTIONS(CLBIN_FILL)
  CLBIN_FILL(CreateCommandQueue, launches, to_launch)
  CLBIN_FILL(CreateSampler, launches, optional)
  CLBIN_FILL(GetExtensionFunctionAddress, programs, optional)
#undef CLBIN_FILL
  if (missing != nullptr) {
    return base::fail(ErrorCode::no_opencl, "{} has no function '{}'", source, missing);
  }
  return driver;
}

base::Result<void> require_launches(const Driver& driver) {
  const auto missing = [](std::string_view name) {
    return base::fail(ErrorCode::no_opencl, "the OpenCL library has no function '{}'", name);
  };
  if (driver.CreateCommandQueue == nullptr) {
    return missing("clCreateCommandQueue");
  }
#define CLBIN_REQUIRE(name, first_use, need)                                                       \
  if (Need::need == Need::to_launch && driver.name == nullptr) {                                   \
    return missing("cl" #name);                                                                    \
  }
  CLBIN_DRIVER_FUNCTIONS(CLBIN_REQUIRE)
#undef CLBIN_REQUIRE
  return {};
}

base::Result<Driver> driver_of_library(void* library, TableUse use) {
  return resolve_driver(
      [library](const char* function) { return base::function_of(library, function); }, use);
}

Driver for_secret_programs(const Driver& driver) {
  Driver secret = driver;
  secret.KeepNothingOf = function_of_layer<KeepNothingOf>(driver, k_keep_nothing_of);
  return secret;
}

Driver for_labelled_programs(const Driver& driver, const char* label) {
  Driver labelled = driver;
  labelled.LabelProgram = function_of_layer<LabelProgram>(driver, k_label_program);
  labelled.label = label;
  return labelled;
}

base::Result<Driver> open_icd_driver() {
  std::string reason;
  for (const std::string& name : base::library_names("OpenCL", "1")) {
    const auto library = base::open_library(name);
    if (library) {
      return driver_of_library(*library, TableUse::everything);
    }
    reason = reason.empty() ? library.error() : reason;
  }
  const bool is_missing = reason.find(base::reason_of(ENOENT)) != std::string::npos;
  return base::fail(ErrorCode::no_opencl, "cannot open the OpenCL loader ({}){}", reason,
                    is_missing ? "; install the package ocl-icd-libopencl1" : "");
}

std::string cl_error_name(cl_int code) {
  for (const CodeRun& run : k_runs) {
    const std::int64_t index = std::int64_t{run.first} - code;
    const auto names = base::words_between_spaces(run.names);
    if (index >= 0 && index < std::ssize(names)) {
      return fmt::format("{} ({})", names[static_cast<std::size_t>(index)], code);
    }
  }
  return fmt::format("unknown error ({})", code);
}

tl::unexpected<base::Error> call_failed(std::string_view function, std::string_view query,
                                        cl_int code) {
  const std::string asked = query.empty() ? std::string() : fmt::format("({})", query);
  return tl::unexpected(base::Error{
      ErrorCode::opencl_call, fmt::format("{}{} failed: {}", function, asked, cl_error_name(code)),
      std::make_shared<base::FailedCall>(base::FailedCall{std::string(function), code, {}})});
}

} // namespace clbin::opencl

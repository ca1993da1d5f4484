#include "opencl/driver.hpp"

#include "base/file_io.hpp"

#include <cerrno>
#include <dlfcn.h>

namespace clbin::opencl {
namespace {

using base::ErrorCode;

enum class Need : std::uint8_t { required, optional };

// Records the first required function that is missing.
class Resolver {
public:
  explicit Resolver(const std::function<void*(const char*)>& resolve) : m_resolve(resolve) {}

  template <typename Function>
  void fill(Function& slot, const char* name, Need need) {
    slot = reinterpret_cast<Function>(m_resolve(name));
    if (slot == nullptr && need == Need::required && m_missing == nullptr) {
      m_missing = name;
    }
  }

  [[nodiscard]] const char* missing() const noexcept { return m_missing; }

private:
  const std::function<void*(const char*)>& m_resolve;
  const char* m_missing = nullptr;
};

// Development packages install the second name. Some machines have only that one.
constexpr const char* k_loader_names[] = {"libOpenCL.so.1", "libOpenCL.so"};

} // namespace

base::Result<Driver> resolve_driver(const std::function<void*(const char* name)>& resolve) {
  Driver driver;
  Resolver functions(resolve);
  functions.fill(driver.GetPlatformIDs, "clGetPlatformIDs", Need::required);
  functions.fill(driver.GetPlatformInfo, "clGetPlatformInfo", Need::required);
  functions.fill(driver.GetDeviceIDs, "clGetDeviceIDs", Need::required);
  functions.fill(driver.GetDeviceInfo, "clGetDeviceInfo", Need::required);
  functions.fill(driver.CreateContext, "clCreateContext", Need::required);
  functions.fill(driver.ReleaseContext, "clReleaseContext", Need::required);
  functions.fill(driver.GetContextInfo, "clGetContextInfo", Need::required);
  functions.fill(driver.CreateProgramWithSource, "clCreateProgramWithSource", Need::required);
  functions.fill(driver.CreateProgramWithBinary, "clCreateProgramWithBinary", Need::required);
  functions.fill(driver.BuildProgram, "clBuildProgram", Need::required);
  functions.fill(driver.CompileProgram, "clCompileProgram", Need::optional);
  functions.fill(driver.LinkProgram, "clLinkProgram", Need::optional);
  functions.fill(driver.CreateProgramWithIL, "clCreateProgramWithIL", Need::optional);
  functions.fill(driver.SetProgramSpecializationConstant, "clSetProgramSpecializationConstant",
                 Need::optional);
  functions.fill(driver.GetProgramInfo, "clGetProgramInfo", Need::required);
  functions.fill(driver.GetProgramBuildInfo, "clGetProgramBuildInfo", Need::required);
  functions.fill(driver.ReleaseProgram, "clReleaseProgram", Need::required);
  functions.fill(driver.CreateKernel, "clCreateKernel", Need::required);
  functions.fill(driver.ReleaseKernel, "clReleaseKernel", Need::required);
  functions.fill(driver.GetKernelInfo, "clGetKernelInfo", Need::required);
  functions.fill(driver.GetKernelArgInfo, "clGetKernelArgInfo", Need::optional);
  functions.fill(driver.GetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo", Need::required);
  functions.fill(driver.GetExtensionFunctionAddress, "clGetExtensionFunctionAddress",
                 Need::optional);
  if (functions.missing() != nullptr) {
    return base::fail(ErrorCode::no_opencl, "the OpenCL library has no function '{}'",
                      functions.missing());
  }
  return driver;
}

Driver for_secret_programs(const Driver& driver) {
  Driver secret = driver;
  if (driver.GetExtensionFunctionAddress != nullptr) {
    secret.KeepNothingOf =
        reinterpret_cast<KeepNothingOf>(driver.GetExtensionFunctionAddress(k_keep_nothing_of));
  }
  return secret;
}

base::Result<Driver> open_icd_driver() {
  std::string reason;
  for (const char* name : k_loader_names) {
    // RTLD_NODELETE and no dlclose: see the header. Opening the library again only increments its
    // reference count.
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != nullptr) {
      return resolve_driver([library](const char* function) { return dlsym(library, function); });
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

} // namespace clbin::opencl

#include "opencl/driver.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

static std::string* loader_path() {
  static std::string path; // empty: there is none
  return &path;
}

// A machine without OpenCL: this executable's dlopen takes precedence over libc's. It finds no such
// library, or a file that is not a library, and does not change the message of dlerror.
extern "C" void* dlopen(const char* name, int flags) {
  using Open = void* (*)(const char*, int);
  const auto real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  const std::string hidden = name == nullptr ? "" : name;
  if (!hidden.starts_with("libOpenCL")) {
    return real(name, flags);
  }
  return real(loader_path()->empty() ? ("/nowhere/" + hidden).c_str() : loader_path()->c_str(),
              flags);
}

namespace clbin::opencl {
namespace {

using ::testing::HasSubstr;

TEST(OpenIcdDriver, SaysWhatToInstallWhereThereIsNoLoader) {
  const auto driver = open_icd_driver();
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().code, base::ErrorCode::no_opencl);
  EXPECT_THAT(driver.error().message, HasSubstr("cannot open the OpenCL loader ("));
  EXPECT_THAT(driver.error().message, HasSubstr("/nowhere/libOpenCL.so.1"));
  EXPECT_THAT(driver.error().message, HasSubstr("ocl-icd-libopencl1"));
}

TEST(OpenIcdDriver, NamesNoPackageWhereTheLoaderIsThereButCannotBeLoaded) {
  *loader_path() = "/proc/version";
  const auto driver = open_icd_driver();
  loader_path()->clear();
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().code, base::ErrorCode::no_opencl);
  EXPECT_THAT(driver.error().message, HasSubstr("cannot open the OpenCL loader (/proc/version: "));
  EXPECT_THAT(driver.error().message, ::testing::Not(HasSubstr("package")));
}

} // namespace
} // namespace clbin::opencl

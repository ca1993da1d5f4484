#include "opencl/driver.hpp"
#include "support/fake_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace clbin::opencl {
namespace {

using ::testing::HasSubstr;

base::Result<Driver> resolve_without(const std::set<std::string>& missing) {
  test::FakeDriver fake;
  return resolve_driver([&](const char* name) {
    return missing.contains(name) ? nullptr : test::FakeDriver::resolve(name, &fake);
  });
}

TEST(ResolveDriver, FillsTheTableByName) {
  const auto driver = resolve_without({});
  ASSERT_TRUE(driver.has_value()) << driver.error().message;
  const test::FakeDriver fake;
  EXPECT_EQ(driver->BuildProgram, fake.functions().BuildProgram);
  EXPECT_EQ(driver->GetKernelWorkGroupInfo, fake.functions().GetKernelWorkGroupInfo);
}

TEST(ResolveDriver, NamesTheFirstFunctionThatIsMissing) {
  const auto driver = resolve_without({"clReleaseProgram", "clCreateContext"});
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().code, base::ErrorCode::no_opencl);
  EXPECT_EQ(driver.error().message, "the OpenCL library has no function 'clReleaseProgram'");
}

TEST(ResolveDriver, DoesWithoutFunctionsOfLaterVersions) {
  const auto driver =
      resolve_without({"clCompileProgram", "clLinkProgram", "clCreateProgramWithIL"});
  ASSERT_TRUE(driver.has_value()) << driver.error().message;
  EXPECT_EQ(driver->CompileProgram, nullptr);
  EXPECT_EQ(driver->CreateProgramWithIL, nullptr);
}

} // namespace
} // namespace clbin::opencl

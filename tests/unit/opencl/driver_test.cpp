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

TEST(ResolveDriver, RequiresFunctionsOfLaunchesForLaunchesOnly) {
  test::FakeDriver fake;
  const auto without = [&](std::string_view missing, TableUse use) {
    return resolve_driver(
        [&](const char* name) {
          return name == missing ? nullptr : test::FakeDriver::resolve(name, &fake);
        },
        use);
  };
  for (const char* name : {"clCreateCommandQueue", "clSetKernelArg", "clReleaseEvent"}) {
    const std::string message = std::string("the OpenCL library has no function '") + name + "'";
    EXPECT_EQ(without(name, TableUse::launches).error().message, message);
    const auto everything = without(name, TableUse::everything);
    ASSERT_TRUE(everything.has_value()) << everything.error().message;
    EXPECT_EQ(require_launches(*everything).error().message, message);
  }
  EXPECT_TRUE(require_launches(fake.functions()).has_value());
}

TEST(ResolveDriver, DoesWithoutFunctionsOfLaterVersions) {
  const auto driver =
      resolve_without({"clCompileProgram", "clLinkProgram", "clCreateProgramWithIL"});
  ASSERT_TRUE(driver.has_value()) << driver.error().message;
  EXPECT_EQ(driver->CompileProgram, nullptr);
  EXPECT_EQ(driver->CreateProgramWithIL, nullptr);
}

TEST(ClErrorName, NamesCodesOfTheSpecification) {
  EXPECT_EQ(cl_error_name(CL_SUCCESS), "CL_SUCCESS (0)");
  EXPECT_EQ(cl_error_name(CL_BUILD_PROGRAM_FAILURE), "CL_BUILD_PROGRAM_FAILURE (-11)");
  EXPECT_EQ(cl_error_name(CL_INVALID_BINARY), "CL_INVALID_BINARY (-42)");
  EXPECT_EQ(cl_error_name(CL_MAX_SIZE_RESTRICTION_EXCEEDED),
            "CL_MAX_SIZE_RESTRICTION_EXCEEDED (-72)");
}

TEST(ClErrorName, NamesCodesOfExtensions) {
  EXPECT_EQ(cl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR (-1001)");
  EXPECT_EQ(cl_error_name(-1000), "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR (-1000)");
  EXPECT_EQ(cl_error_name(-1121), "CL_CONTEXT_TERMINATED_KHR (-1121)");
}

TEST(ClErrorName, GivesTheNumberOfACodeOutsideTheSpecification) {
  EXPECT_EQ(cl_error_name(-9999), "unknown error (-9999)");
  EXPECT_EQ(cl_error_name(7), "unknown error (7)");
}

} // namespace
} // namespace clbin::opencl

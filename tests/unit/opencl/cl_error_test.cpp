#include "opencl/driver.hpp"

#include <gtest/gtest.h>

namespace clbin::opencl {
namespace {

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

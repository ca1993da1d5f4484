#include "terminal/diagnostics.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

TEST(LineMap, CountsLinesThatEndWithACarriageReturn) {
  const LineMap map("int a;\r#line 5 \"x\"\nint b;\n");
  EXPECT_EQ(map.text_of(3), "int b;");
  EXPECT_EQ(map.physical({"x", 5}), 3U);
  EXPECT_EQ(map.presumed(3).line, 5U);
}

} // namespace
} // namespace oclcc

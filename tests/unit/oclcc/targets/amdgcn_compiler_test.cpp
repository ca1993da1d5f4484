#include "targets/clang_front_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* k_declaration = "declare i32 @printf(i8 addrspace(4)* noundef, ...) #1\n";
constexpr const char* k_call = "  %call = call i32 (i8 addrspace(4)*, ...) @printf("
                               "i8 addrspace(4)* ";

TEST(StringsOfPrintf, MayBeLiteralsAndConstantArrays) {
  const std::string ir =
      std::string(k_call) + "noundef getelementptr inbounds ([2 x i8], [2 x i8] addrspace(4)* " +
      "@.str, i64 0, i64 0)) #3\n" + k_call +
      "getelementptr inbounds ([6 x i8], [6 x i8] addrspace(4)* @f, i64 0, i64 0), i32 3)\n" +
      k_declaration;
  EXPECT_TRUE(require_constant_strings(ir));
  EXPECT_TRUE(require_constant_strings(k_declaration));
  EXPECT_TRUE(require_constant_strings(""));
}

TEST(StringsOfPrintf, MayBeOpaquePointers) {
  const std::string call = "  %call = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) ";
  EXPECT_TRUE(require_constant_strings(call + "noundef @.str, double noundef %conv) #2\n"));
  EXPECT_FALSE(require_constant_strings(call + "noundef %cond, double noundef %conv) #2\n"));
}

// LLVM 15 removes such calls.
TEST(StringsOfPrintf, MayNotBeComputed) {
  const auto refused = require_constant_strings(std::string(k_declaration) + k_call +
                                                "noundef %cond, i32 noundef 3) #3\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message,
            "printf: the format and each string must be constant on AMD's devices");
}

// LLVM prints "???" for such strings.
TEST(StringsOfPrintf, MayNotBeArguments) {
  EXPECT_FALSE(require_constant_strings(
      std::string(k_call) + "noundef getelementptr inbounds ([3 x i8], [3 x i8] addrspace(4)* "
                            "@.str, i64 0, i64 0), i8 addrspace(4)* noundef %text) #3\n"));
}

TEST(UndefinedSymbols, AreThoseOfLldsMessagesOnce) {
  EXPECT_THAT(undefined_symbols("ld.lld-15: error: undefined symbol: _Z3foof\n"
                                ">>> referenced by kernel.o:(k)\n\n"
                                "ld.lld-15: error: undefined symbol: bar\n"
                                "ld.lld-15: error: undefined symbol: _Z3foof\n"),
              ElementsAre("_Z3foof", "bar"));
  EXPECT_THAT(undefined_symbols("ld.lld-15: error: cannot open kernel.o\n"), IsEmpty());
}

} // namespace
} // namespace oclcc::offline

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

// As clang 22 writes names of functions that rocm-device-libs define with U3AS0.
TEST(NamesOfAmdsLibraries, ContainTheAddressSpaceOfGenericPointers) {
  EXPECT_EQ(with_marked_generic_pointers(
                "  call void @_Z11vstore_halffmPDh(float %0, i64 0, ptr %p) #2\n"
                "declare void @_Z11vstore_halffmPDh(float noundef, i64 noundef, ptr noundef) #1\n"
                "declare i1 @_Z30atomic_compare_exchange_strongPVU7_AtomiciPii(ptr, ptr, i32)\n"),
            "  call void @_Z11vstore_halffmPU3AS0Dh(float %0, i64 0, ptr %p) #2\n"
            "declare void @_Z11vstore_halffmPU3AS0Dh(float noundef, i64 noundef, ptr noundef) #1\n"
            "declare i1 @_Z30atomic_compare_exchange_strongPU3AS0VU7_AtomiciPU3AS0ii(ptr, ptr, "
            "i32)\n");
}

TEST(NamesOfAmdsLibraries, StayAsTheyAreOtherwise) {
  for (const char* ir :
       {"", "declare float @_Z5fractfPU3AS1f(float, ptr addrspace(1)) #1\n",
        "declare float @_Z3sinf(float) #1\n", "declare void @Pointer(ptr)\n",
        "declare float @_Z6PfractfPU3AS0f(float, ptr)\n",
        "define float @_Z3ownfPf(float %a, ptr %b) #1 {\n  call float @_Z3ownfPf(float 0.0, ptr "
        "%b)\n}\n"}) {
    EXPECT_EQ(with_marked_generic_pointers(ir), ir);
  }
}

// LLVM would remove the calls.
TEST(ImagesOfAmd, AreRefusedForProcessorsWithoutThem) {
  EXPECT_TRUE(
      require_no_images("define void @ocl_image() {\ndeclare float @_Z3sinf(float)\n", "gfx942"));
  const auto refused = require_no_images("declare <4 x float> @_Z11read_imagef14ocl_image2d_ro11"
                                         "ocl_samplerDv2_f(ptr addrspace(4), ptr)\n",
                                         "gfx942");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message, "'read_imagef' is called, and gfx942 has no images");
}

// "clang-19 rocm-device-libs" of each row
std::vector<std::string> rows_of(std::string_view processor) {
  std::vector<std::string> rows;
  for (const ToolRow& row : family_compiler(OfflineFamily::amdgcn)
                                .tools_for({OfflineFamily::amdgcn, std::string(processor), 64})) {
    rows.push_back(row.tools.front().file + " " + row.tools.back().package + " " + row.debian);
  }
  return rows;
}

// Another release would change the bytes of processors that clang 15 has.
TEST(ToolsOfAmd, AreThoseOfTheFirstTestedReleaseThatHasTheProcessor) {
  EXPECT_THAT(rows_of("gfx1036"),
              ElementsAre("clang-15 rocm-device-libs 12", "clang-19 rocm-device-libs-17 13",
                          "clang-18 rocm-device-libs-17 ", "clang-17 rocm-device-libs-17 "));
  EXPECT_THAT(rows_of("gfx1200"),
              ElementsAre("clang-19 rocm-device-libs-17 13", "clang-19 rocm-device-libs 12",
                          "clang-22 rocm-device-libs-17 13", "clang-22 rocm-device-libs 12"));
  EXPECT_THAT(rows_of("gfx950:sramecc+:xnack-"),
              ElementsAre("clang-22 rocm-device-libs-17 13", "clang-22 rocm-device-libs 12"));
}

} // namespace
} // namespace oclcc::offline

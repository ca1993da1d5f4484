#include "targets/binary_entry.hpp"

#include "support/project_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

base::Bytes binary(std::string_view name) {
  const auto bytes =
      base::read_whole_file(clbin::test::tests_folder() / "unit/format/binaries" / name, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or(base::Bytes());
}

std::string spec_of(std::string_view name) {
  const auto target = target_of_binary(format::classify_binary(binary(name)));
  return target ? target->spec : "none";
}

TEST(BinaryEntry, BinariesNameTheTargetForWhichOclccWouldHaveMadeThem) {
  EXPECT_EQ(spec_of("sm_50.nvcl.ptx"), "nvptx:sm_50");
  EXPECT_EQ(spec_of("sm_90a.cubin"), "cubin:sm_90a");
  EXPECT_EQ(spec_of("sm_50.cuda12.cubin"), "cubin:sm_50");
  EXPECT_EQ(spec_of("gfx90a-no-xnack.v4.co"), "amdgcn:gfx90a:xnack-");
  EXPECT_EQ(spec_of("gfx906.v3.co"), "amdgcn:gfx906:sramecc+:xnack+");
  EXPECT_EQ(spec_of("tgllp.zebin"), "intel:tgllp");
  EXPECT_EQ(spec_of("kernel.spv"), "spirv:1.0");
  EXPECT_EQ(spec_of("spec_constants.spv"), "spirv:1.2:32");
  EXPECT_EQ(spec_of("llvmpipe.rusticl"), "none");
  EXPECT_EQ(spec_of("oclgrind.bc"), "none");
}

TEST(BinaryEntry, WhatATargetRecordsIsWhatItsEntriesRecord) {
  const auto zebin = target_of_binary(format::classify_binary(binary("tgllp.zebin")));
  ASSERT_TRUE(zebin.has_value());
  EXPECT_EQ(zebin->identity.architecture, "12.0.0");
  EXPECT_EQ(zebin->identity.address_bits, 64U);
  const auto module = target_of_binary(format::classify_binary(binary("spec_constants.spv")));
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(module->identity.architecture, "");
  EXPECT_EQ(module->identity.address_bits, 32U);
}

std::vector<std::string> kernels_of(std::string_view name) {
  const auto entry = entry_of_binary(binary(name));
  EXPECT_TRUE(entry.has_value()) << entry.error().message;
  std::vector<std::string> names;
  for (const format::KernelReflection& kernel :
       entry ? entry->kernels : format::EntryInput().kernels) {
    names.push_back(
        fmt::format("{}/{}", kernel.name, kernel.arguments ? kernel.arguments->size() : 0));
  }
  return names;
}

TEST(BinaryEntry, ReadsKernelsAndArgumentsOfTheKindsThatContainThem) {
  EXPECT_THAT(kernels_of("arguments.gfx906.v5.o"), testing::Not(IsEmpty()));
  EXPECT_THAT(kernels_of("arguments.tgllp.zebin"), kernels_of("arguments.gfx906.v5.o"));
  EXPECT_THAT(kernels_of("sm_50.nvcl.ptx"), ElementsAre("add/0"));
  EXPECT_THAT(kernels_of("sm_80.cubin"), ElementsAre("k/0"));
  EXPECT_THAT(kernels_of("llvmpipe.rusticl"), IsEmpty());
}

TEST(BinaryEntry, RejectsABinaryWithoutAKernel) {
  const std::string_view text =
      ".version 7.0\n.target sm_70, texmode_independent\n.address_size 64\n.global .u32 x;\n";
  const base::ByteView bytes = base::as_bytes(text);
  const auto entry = entry_of_binary(base::Bytes(bytes.begin(), bytes.end()));
  ASSERT_FALSE(entry.has_value());
  EXPECT_EQ(entry.error().code, ErrorCode::damaged);
  EXPECT_THAT(entry.error().message, HasSubstr("it has no kernel"));
}

} // namespace
} // namespace oclcc::offline

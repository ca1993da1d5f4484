#include "format/binary/spirv_features.hpp"

#include "real_binaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using test::real_binary;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SpirvFeatures, AreThoseThatAModuleDeclares) {
  const auto features = read_spirv_features(real_binary("arguments.spv"));
  ASSERT_TRUE(features) << features.error().message;
  std::vector<std::string> names;
  std::ranges::transform(features->capabilities, std::back_inserter(names), spirv_capability_name);
  EXPECT_THAT(names, ElementsAre("Addresses", "Linkage", "Kernel", "Int64", "ImageBasic", "Int8"));
  EXPECT_THAT(features->extensions, IsEmpty());
  EXPECT_THAT(features->instruction_sets, ElementsAre("OpenCL.std"));
}

TEST(SpirvFeatures, AreReadInTheOtherByteOrder) {
  base::Bytes bytes = real_binary("arguments.spv");
  const auto features = read_spirv_features(bytes);
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::swap(bytes[at], bytes[at + 3]);
    std::swap(bytes[at + 1], bytes[at + 2]);
  }
  const auto swapped = read_spirv_features(bytes);
  ASSERT_TRUE(features && swapped);
  EXPECT_TRUE(*features == *swapped);
}

TEST(SpirvFeatures, RefuseModulesThatEndEarly) {
  const base::Bytes bytes = real_binary("arguments.spv");
  for (std::size_t size = 0; size < 60; ++size) {
    EXPECT_FALSE(read_spirv_features(base::ByteView(bytes).first(size))) << size;
  }
}

TEST(SpirvFeatures, OfADeviceMustIncludeThoseOfTheModule) {
  const SpirvFeatures device{{6, 4, 9}, {"SPV_KHR_linkonce_odr"}, {"OpenCL.std"}};
  EXPECT_EQ(missing_spirv_feature({{4, 6}, {}, {"OpenCL.std"}}, device), "");
  EXPECT_EQ(missing_spirv_feature({{4, 10}, {}, {}}, device), "the capability Float64");
  EXPECT_EQ(missing_spirv_feature({{31999}, {}, {}}, device), "the capability 31999");
  EXPECT_EQ(missing_spirv_feature({{4}, {"SPV_INTEL_subgroups"}, {}}, device),
            "the extension SPV_INTEL_subgroups");
  EXPECT_EQ(missing_spirv_feature({{}, {}, {"GLSL.std.450"}}, device),
            "the instruction set GLSL.std.450");
}

} // namespace
} // namespace clbin::format

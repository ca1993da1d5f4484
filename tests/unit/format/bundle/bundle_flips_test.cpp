// Flips every bit of the small golden bundles. bundle_flips_slow_test.cpp has the large ones.
#include "bundle_flips.hpp"
#include "golden/golden_files.hpp"

#include <gtest/gtest.h>

namespace clbin::format {
namespace {

TEST(BundleFlips, EveryBitOfABundleIsUnderADigestOrARule) {
  for (const std::string name : {"empty.clbin", "two_programs.clbin", "stripped.clbin",
                                 "minor_1.clbin", "other_types.clbin", "merged.clbin"}) {
    const FlipCounts counts = flip_all_bits(name);
    EXPECT_EQ(counts.refused, test::golden_file(name).size() * 8) << name;
    EXPECT_EQ(counts.equal, 0U) << name;
  }
}

TEST(BundleFlips, EveryBitOfASignedBundleIsRefusedOrHarmless) {
  const FlipCounts counts = flip_all_bits("signed.clbin");
  const std::size_t bits = test::golden_file("signed.clbin").size() * 8;
  EXPECT_EQ(counts.refused + counts.equal, bits);
  // Harmless are the 103 bytes in trailing records, and kinds and sizes that stay valid.
  EXPECT_GE(counts.equal, 103U * 8U);
  EXPECT_LT(counts.equal, 103U * 8U + 100U);
}

} // namespace
} // namespace clbin::format

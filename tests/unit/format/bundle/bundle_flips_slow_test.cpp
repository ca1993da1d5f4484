// Flips every bit of the golden bundles for which this takes half a minute.
#include "bundle_flips.hpp"
#include "golden/golden_files.hpp"

#include <gtest/gtest.h>

namespace clbin::format {
namespace {

TEST(BundleFlips, EveryBitOfALargeBundleIsUnderADigestOrARule) {
  for (const std::string name : {"every_kind.clbin", "names_only.clbin", "many_pages.clbin"}) {
    const FlipCounts counts = flip_all_bits(name);
    EXPECT_EQ(counts.refused, test::golden_file(name).size() * 8) << name;
    EXPECT_EQ(counts.equal, 0U) << name;
  }
}

} // namespace
} // namespace clbin::format

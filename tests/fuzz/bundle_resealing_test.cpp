#include "bundle_resealing.hpp"

#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

namespace clbin::fuzz {
namespace {

TEST(BundleResealing, LeavesAWholeBundleAsItIs) {
  const base::Bytes whole = test::must_write(test::sample_input());
  EXPECT_EQ(reseal(whole), whole);
  const base::Bytes large = test::must_write(test::large_input(3, 200));
  EXPECT_EQ(reseal(large), large);
}

// The fuzzer relies on this: a changed byte passes the digests, and reaches the checks after them.
TEST(BundleResealing, HidesEveryChangedByteFromTheDigestsOfTablesAndPayloads) {
  const base::Bytes whole = test::must_write(test::sample_input());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    base::Bytes changed = whole;
    changed[at] ^= std::byte{0x40};
    const auto bundle = test::open_bytes(reseal(std::move(changed)));
    if (!bundle) {
      EXPECT_NE(bundle.error().code, base::ErrorCode::digest_mismatch) << at;
      continue;
    }
    for (std::uint32_t index = 0; index < bundle->entry_count(); ++index) {
      const auto entry = bundle->entry(index);
      EXPECT_TRUE(entry || entry.error().code != base::ErrorCode::digest_mismatch) << at;
    }
    for (std::uint32_t index = 0; index < bundle->blob_count(); ++index) {
      const auto frame = bundle->read_frame(index);
      EXPECT_TRUE(frame || frame.error().code != base::ErrorCode::digest_mismatch) << at;
    }
  }
}

TEST(BundleResealing, SurvivesBytesThatAreNoBundle) {
  for (std::size_t size = 0; size < 400; ++size) {
    EXPECT_EQ(reseal(test::random_bytes(size, size)).size(), size);
    EXPECT_EQ(reseal(base::Bytes(size, std::byte{0xff})).size(), size);
  }
}

} // namespace
} // namespace clbin::fuzz

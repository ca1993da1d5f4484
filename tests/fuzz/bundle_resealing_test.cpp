#include "bundle_resealing.hpp"

#include "golden/encrypted_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

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

base::Bytes golden(const std::string& name) {
  for (auto& [file, bytes] : test::encrypted_bundles()) {
    if (file == name) {
      return bytes;
    }
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(BundleResealing, EncryptsWhatItOpenedToTheSameBytes) {
  const auto key = test::golden_content_key();
  for (const std::string name : {"content.clbin", "small.clbin"}) {
    const base::Bytes whole = golden(name);
    EXPECT_EQ(reseal(whole), whole);
    const base::Bytes opened = open_blobs(whole, *key);
    EXPECT_NE(opened, whole);
    EXPECT_EQ(opened.size(), whole.size());
    EXPECT_EQ(reseal(seal_blobs(opened, *key)), whole);
  }
  const base::Bytes plain = test::must_write(test::sample_input());
  EXPECT_EQ(seal_blobs(plain, *key), plain);
  EXPECT_EQ(open_blobs(plain, *key), plain);
}

// The fuzzer relies on this, too: zstd sees a changed plaintext, because its tag is valid.
TEST(BundleResealing, HidesEveryChangedByteOfAPlaintextFromItsTag) {
  const auto key = test::golden_content_key();
  const base::Bytes whole = golden("small.clbin");
  const base::Bytes opened = open_blobs(whole, *key);
  test::CraftedBundle crafted(whole);
  const std::size_t keys = crafted.section(format::SectionKind::keys).bytes.size();
  const std::size_t payload = crafted.section(format::SectionKind::payload).bytes.size();
  std::size_t refused = 0; // for what is in the plaintext
  for (std::size_t at = whole.size() - keys - payload; at < whole.size() - keys; ++at) {
    base::Bytes changed = opened;
    changed[at] ^= std::byte{0x40};
    auto bundle = test::open_bytes(reseal(seal_blobs(std::move(changed), *key)));
    ASSERT_TRUE(bundle && bundle->unlock(key)) << at;
    for (std::uint32_t index = 0; index < bundle->blob_count(); ++index) {
      ASSERT_TRUE(bundle->read_frame(index).has_value()) << at;
    }
    refused += bundle->verify() ? 0U : 1U;
  }
  EXPECT_GT(refused, payload / 2);
}

TEST(BundleResealing, SurvivesBytesThatAreNoBundle) {
  const auto key = test::golden_content_key();
  for (std::size_t size = 0; size < 400; ++size) {
    EXPECT_EQ(seal_blobs(test::random_bytes(size, size), *key).size(), size);
    EXPECT_EQ(open_blobs(base::Bytes(size, std::byte{0xff}), *key).size(), size);
    EXPECT_EQ(reseal(test::random_bytes(size, size)).size(), size);
    EXPECT_EQ(reseal(base::Bytes(size, std::byte{0xff})).size(), size);
  }
}

} // namespace
} // namespace clbin::fuzz

// Flips every single bit of a golden bundle, for which this takes half a minute. Each flip is
// rejected or changes nothing.
#include "golden/golden_files.hpp"
#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace clbin::format {

using base::Bytes;
using base::ErrorCode;
using test::contents_file;
using test::golden_file;

namespace {

struct FlipCounts {
  std::size_t refused = 0;
  std::size_t equal = 0;
  std::string first_failure;
};

// Returns whether `code` is one of the codes for damaged bytes.
bool is_refusal(ErrorCode code) {
  switch (code) {
  case ErrorCode::not_a_bundle:
  case ErrorCode::truncated:
  case ErrorCode::newer_version:
  case ErrorCode::unknown_required_section:
  case ErrorCode::damaged:
  case ErrorCode::digest_mismatch:
  case ErrorCode::limit_exceeded:
  case ErrorCode::trailing_bytes:
    return true;
  default:
    return false;
  }
}

// Flips each bit of the bytes `first`, first + step…
FlipCounts flip_bits(Bytes bytes, const std::string& contents, std::size_t first,
                     std::size_t step) {
  FlipCounts counts;
  for (std::size_t i = first; i < bytes.size() && counts.first_failure.empty(); i += step) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[i] ^= std::byte{1} << bit;
      const auto reader = BundleReader::open(base::memory_source(bytes), {}, TrailingBytes::refuse);
      const auto verified =
          reader ? reader->verify() : base::Result<void>(tl::unexpected(reader.error()));
      if (!verified && is_refusal(verified.error().code)) {
        ++counts.refused;
      } else if (verified && test::contents_of(*reader) == contents) {
        ++counts.equal;
      } else {
        counts.first_failure =
            fmt::format("byte {} bit {}: {}", i, bit,
                        verified ? "read back otherwise" : verified.error().message);
      }
      bytes[i] ^= std::byte{1} << bit;
    }
  }
  return counts;
}

// Flips every bit of the file, on two threads. The test fails if a flip is neither rejected nor
// harmless.
FlipCounts flip_all_bits(const std::string& name) {
  const Bytes bytes = golden_file(name);
  const std::string contents = contents_file(name);
  FlipCounts halves[2];
  std::thread other([&] { halves[1] = flip_bits(bytes, contents, 1, 2); });
  halves[0] = flip_bits(bytes, contents, 0, 2);
  other.join();
  EXPECT_EQ(halves[0].first_failure, "") << name;
  EXPECT_EQ(halves[1].first_failure, "") << name;
  return {halves[0].refused + halves[1].refused, halves[0].equal + halves[1].equal, ""};
}

TEST(BundleFlips, EveryBitOfABundleIsUnderADigestOrARule) {
  for (const std::string name :
       {"empty.clbin", "two_programs.clbin", "stripped.clbin", "minor_1.clbin", "other_types.clbin",
        "merged.clbin", "every_kind.clbin", "names_only.clbin", "many_pages.clbin"}) {
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

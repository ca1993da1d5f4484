// Bundles written once must stay readable, and be written the same.
#include "base/zstd_codec.hpp"
#include "golden/golden_bundles.hpp"
#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

namespace clbin::format {
namespace {

using base::Bytes;
using base::ErrorCode;

constexpr const char* k_names[] = {"empty.clbin", "two_programs.clbin", "stripped.clbin",
                                   "signed.clbin", "minor_1.clbin"};

Bytes golden_file(const std::string& name) {
  const auto path = std::filesystem::path(CLBIN_TEST_DATA) / "golden/v1" / name;
  auto bytes = base::read_whole_file(path, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes ? std::move(*bytes) : Bytes();
}

std::string contents_file(const std::string& name) {
  return std::string(base::as_text(golden_file(name + ".txt")));
}

TEST(BundleGolden, FilesHoldWhatTheyHeld) {
  for (const std::string name : k_names) {
    const auto reader = test::open_bytes(golden_file(name));
    ASSERT_TRUE(reader.has_value()) << name << ": " << reader.error().message;
    const auto verified = reader->verify();
    EXPECT_TRUE(verified.has_value()) << name << ": " << verified.error().message;
    EXPECT_EQ(test::contents_of(*reader).value(), contents_file(name)) << name;
  }
}

TEST(BundleGolden, FilesAreWrittenByteForByte) {
  const std::string version(base::as_text(golden_file("libzstd-version")));
  if (base::zstd_version() != version) {
    GTEST_SKIP() << "the files were made with libzstd " << version << ", this is "
                 << base::zstd_version();
  }
  std::size_t compared = 0;
  for (const auto& [name, bytes] : test::golden_bundles()) {
    EXPECT_EQ(bytes, golden_file(name)) << name;
    ++compared;
  }
  EXPECT_EQ(compared, std::size(k_names));
}

TEST(BundleGolden, EveryPrefixIsRefused) {
  for (const std::string name : k_names) {
    const Bytes bytes = golden_file(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto reader = BundleReader::open(base::memory_source(base::ByteView(bytes).first(size)),
                                             {}, TrailingBytes::ignore);
      ASSERT_FALSE(reader.has_value()) << name << " cut to " << size;
      ASSERT_EQ(reader.error().code, size == 0 ? ErrorCode::not_a_bundle : ErrorCode::truncated)
          << name << " cut to " << size << ": " << reader.error().message;
    }
  }
}

// What a changed bundle may answer: one of the codes for damaged bytes.
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

struct FlipCounts {
  std::size_t refused = 0;
  std::size_t equal = 0;
  std::string first_failure;
};

// Flips bit by bit the bytes `first`, first + step…
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
       {"empty.clbin", "two_programs.clbin", "stripped.clbin", "minor_1.clbin"}) {
    const FlipCounts counts = flip_all_bits(name);
    EXPECT_EQ(counts.refused, golden_file(name).size() * 8) << name;
    EXPECT_EQ(counts.equal, 0U) << name;
  }
}

TEST(BundleFlips, EveryBitOfASignedBundleIsRefusedOrHarmless) {
  const FlipCounts counts = flip_all_bits("signed.clbin");
  const std::size_t bits = golden_file("signed.clbin").size() * 8;
  EXPECT_EQ(counts.refused + counts.equal, bits);
  // Harmless: the 103 bytes in trailing records, and kinds and sizes that stay allowed.
  EXPECT_GE(counts.equal, 103U * 8U);
  EXPECT_LT(counts.equal, 103U * 8U + 100U);
}

} // namespace
} // namespace clbin::format

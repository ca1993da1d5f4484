#include "base/zstd_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <regex>
#include <string>

namespace clbin::base {
namespace {

using testing::HasSubstr;

constexpr int k_level = 19;

Result<Bytes> zstd_decompress(ByteView frame, ByteView reference, std::uint64_t raw_bytes) {
  return ZstdDecompressor().decompress(frame, reference, raw_bytes);
}

// Returns incompressible bytes.
Bytes noise(std::size_t size_bytes, unsigned seed) {
  std::mt19937 generator(seed);
  Bytes bytes(size_bytes);
  for (std::byte& value : bytes) {
    value = static_cast<std::byte>(generator() & 0xffU);
  }
  return bytes;
}

Bytes kernel_text(std::size_t lines, unsigned seed) {
  std::mt19937 generator(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += fmt::format("ld.param.u64 %rd{}, [matmul_param_{}];\n", generator() % 3000U,
                        generator() % 9U);
  }
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

Bytes compressed(ByteView raw, ByteView reference = {}, int level = k_level) {
  auto frame = zstd_compress(raw, reference, level);
  EXPECT_TRUE(frame.has_value()) << frame.error().message;
  return frame.value_or(Bytes());
}

void expect_damaged(const Result<Bytes>& result, const std::string& message_part) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::damaged);
  EXPECT_THAT(result.error().message, HasSubstr(message_part));
}

TEST(ZstdCodec, RoundTripsEverySizeClass) {
  for (const std::size_t size : {0U, 1U, 2U, 255U, 256U, 65791U, 65792U, 300000U}) {
    const Bytes raw = noise(size, 1);
    const Bytes frame = compressed(raw);
    EXPECT_EQ(zstd_decompress(frame, {}, size).value(), raw) << size;
  }
}

TEST(ZstdCodec, RoundTripsAgainstAReference) {
  const Bytes reference = kernel_text(300, 1);
  Bytes raw = reference;
  raw[100] = std::byte{'!'};
  const Bytes alone = compressed(raw);
  const Bytes prefixed = compressed(raw, reference);
  EXPECT_LT(prefixed.size() * 10, alone.size());
  EXPECT_EQ(zstd_decompress(prefixed, reference, raw.size()).value(), raw);
}

TEST(ZstdCodec, RoundTripsNothingAgainstAReference) {
  const Bytes frame = compressed({}, kernel_text(10, 1));
  EXPECT_TRUE(zstd_decompress(frame, kernel_text(10, 1), 0).value().empty());
}

TEST(ZstdCodec, WindowReachesFromTheEndOfRawToTheStartOfReference) {
  // Only the very start of the reference, 5 MB earlier, matches the last part of `raw`.
  constexpr std::size_t k_shared_bytes = 100000;
  const Bytes shared = noise(k_shared_bytes, 1);
  Bytes reference = shared;
  const Bytes reference_rest = noise(2'500'000, 2);
  reference.insert(reference.end(), reference_rest.begin(), reference_rest.end());
  Bytes raw = noise(2'500'000, 3);
  const std::size_t raw_alone = compressed(raw, reference, 3).size();
  raw.insert(raw.end(), shared.begin(), shared.end());
  const Bytes frame = compressed(raw, reference, 19);
  EXPECT_LT(frame.size(), raw_alone + k_shared_bytes / 10);
  EXPECT_EQ(zstd_decompress(frame, reference, raw.size()).value(), raw);
}

TEST(ZstdCodec, FrameDependsOnItsInputsOnly) {
  const Bytes reference = kernel_text(200, 1);
  const Bytes raw = kernel_text(250, 2);
  for (const int level : {1, 3, 5, 7, 9, 12, 15, 19}) {
    const Bytes first = compressed(raw, reference, level);
    (void)compressed(noise(40000, 9), raw, level);
    EXPECT_EQ(compressed(raw, reference, level), first) << "level " << level;
  }
}

TEST(ZstdCodec, FrameHasSizeButNeitherChecksumNorDictionaryId) {
  const Bytes frame = compressed(kernel_text(100, 1), kernel_text(100, 2));
  ASSERT_GT(frame.size(), 5U);
  const auto descriptor = std::to_integer<unsigned>(frame[4]); // RFC 8878, 3.1.1.1.1
  EXPECT_NE(descriptor >> 6U, 0U) << "frame content size flag";
  EXPECT_EQ(descriptor & 0x04U, 0U) << "checksum flag";
  EXPECT_EQ(descriptor & 0x03U, 0U) << "dictionary id flag";
}

TEST(ZstdDecompress, RefusesEveryTruncation) {
  const Bytes raw = kernel_text(50, 1);
  const Bytes reference = kernel_text(40, 2);
  const Bytes frame = compressed(raw, reference);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const auto result = zstd_decompress(ByteView(frame).first(size), reference, raw.size());
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code, ErrorCode::damaged) << size;
  }
}

TEST(ZstdDecompress, SurvivesEveryFlippedBit) {
  const Bytes raw = kernel_text(50, 1);
  const Bytes reference = kernel_text(40, 2);
  const Bytes frame = compressed(raw, reference);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    Bytes changed = frame;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8U));
    const auto result = zstd_decompress(changed, reference, raw.size());
    refused += result.has_value() ? 0U : 1U;
    EXPECT_TRUE(!result.has_value() || result->size() == raw.size()) << "bit " << bit;
  }
  EXPECT_GT(refused, 32U) << "at least the magic's bits";
}

TEST(ZstdDecompress, RefusesTrailingBytes) {
  const Bytes raw = kernel_text(50, 1);
  Bytes frame = compressed(raw);
  frame.push_back(std::byte{0});
  expect_damaged(zstd_decompress(frame, {}, raw.size()), "1 bytes follow the zstd frame");
}

TEST(ZstdDecompress, RefusesASecondFrame) {
  const Bytes raw = kernel_text(50, 1);
  Bytes frames = compressed(raw);
  const std::size_t one = frames.size();
  const Bytes empty = compressed({});
  frames.insert(frames.end(), empty.begin(), empty.end());
  expect_damaged(zstd_decompress(frames, {}, raw.size()),
                 fmt::format("{} bytes follow", frames.size() - one));
}

TEST(ZstdDecompress, RefusesASkippableFrame) {
  ByteWriter writer;
  writer.write_u32(0x184D2A50U);
  writer.write_u32(0);
  expect_damaged(zstd_decompress(writer.view(), {}, 0), "not a zstd frame");
  expect_damaged(zstd_decompress({}, {}, 0), "not a zstd frame");
}

TEST(ZstdDecompress, RefusesAChecksumAndADictionaryId) {
  for (const unsigned flags : {0x01U, 0x02U, 0x03U, 0x04U}) {
    Bytes frame = compressed(kernel_text(50, 1));
    frame[4] |= static_cast<std::byte>(flags);
    expect_damaged(zstd_decompress(frame, {}, kernel_text(50, 1).size()),
                   "the zstd frame has a checksum or names a dictionary");
  }
}

TEST(ZstdDecompress, RefusesAnotherSizeThanExpected) {
  const Bytes raw = kernel_text(50, 1);
  const Bytes frame = compressed(raw);
  expect_damaged(zstd_decompress(frame, {}, raw.size() + 1),
                 fmt::format("declares {} bytes, expected {}", raw.size(), raw.size() + 1));
  expect_damaged(zstd_decompress(frame, {}, 0), "declares");
}

TEST(ZstdDecompress, RefusesAFrameThatDoesNotDeclareItsSize) {
  ByteWriter writer;
  writer.write_u32(0xFD2FB528U);
  writer.write_u8(0x00); // no content size, window descriptor follows
  writer.write_u8(0x00);
  for (const unsigned value : {0x09U, 0x00U, 0x00U, 0x61U}) { // last raw block of one byte
    writer.write_u8(static_cast<std::uint8_t>(value));
  }
  expect_damaged(zstd_decompress(writer.view(), {}, 1), "does not declare its size");
}

TEST(ZstdDecompress, RefusesHugeClaimsOfATinyFrameBeforeAllocating) {
  for (const std::uint64_t claim : {std::uint64_t{1} << 40U, ~std::uint64_t{0} - 2}) {
    ByteWriter writer;
    writer.write_u32(0xFD2FB528U);
    writer.write_u8(0xe0); // 8 bytes of content size, single segment
    writer.write_u64(claim);
    for (const unsigned value : {0x0bU, 0x00U, 0x00U, 0x61U}) { // last RLE block of one byte
      writer.write_u8(static_cast<std::uint8_t>(value));
    }
    expect_damaged(zstd_decompress(writer.view(), {}, claim),
                   fmt::format("a zstd frame of 17 bytes cannot contain {}", claim));
  }
}

TEST(ZstdDecompress, RefusesOrDiffersWithAnotherReference) {
  const Bytes reference = kernel_text(300, 1);
  Bytes raw = reference;
  raw[100] = std::byte{'!'};
  const Bytes frame = compressed(raw, reference);
  const auto other = zstd_decompress(frame, kernel_text(300, 7), raw.size());
  EXPECT_TRUE(!other.has_value() || *other != raw);
  expect_damaged(zstd_decompress(frame, {}, raw.size()), "the zstd frame is damaged");
}

TEST(ZstdCodec, TellsItsVersion) {
  const std::string version(zstd_version());
  EXPECT_TRUE(std::regex_match(version, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << version;
}

} // namespace
} // namespace clbin::base

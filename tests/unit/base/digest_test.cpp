#include "base/digest.hpp"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace clbin::base {
namespace {

// The output of `printf abc | b2sum -l 256`, and the digest of no bytes.
constexpr std::string_view k_abc_hex =
    "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";
constexpr std::string_view k_empty_hex =
    "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8";

TEST(Digest, IsBlake2b256) {
  EXPECT_EQ(to_hex(digest_of(as_bytes("abc"))), k_abc_hex);
  EXPECT_EQ(to_hex(digest_of({})), k_empty_hex);
}

TEST(Digest, IsTheSameFromManyThreads) {
  std::vector<std::future<std::string>> results;
  for (int i = 0; i < 8; ++i) {
    results.push_back(
        std::async(std::launch::async, [] { return to_hex(digest_of(as_bytes("abc"))); }));
  }
  for (auto& result : results) {
    EXPECT_EQ(result.get(), k_abc_hex);
  }
}

TEST(Digest, RoundTripsThroughHex) {
  EXPECT_EQ(digest_from_hex(k_abc_hex).value(), digest_of(as_bytes("abc")));
  EXPECT_EQ(to_hex(digest_from_hex(k_empty_hex).value()), k_empty_hex);
}

TEST(Digest, RefusesTextThatIsNotHex) {
  const std::string text(k_abc_hex);
  const auto is_short = digest_from_hex(std::string_view(text).substr(1));
  ASSERT_FALSE(is_short.has_value());
  EXPECT_EQ(is_short.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(is_short.error().message, "a digest has 64 hexadecimal digits, found 63");
  EXPECT_FALSE(digest_from_hex(text + "0").has_value());
  EXPECT_FALSE(digest_from_hex("").has_value());
  for (const char wrong : {'g', '/', ':', '@', '`', '\0', ' '}) {
    std::string changed = text;
    changed[5] = wrong;
    const auto result = digest_from_hex(changed);
    ASSERT_FALSE(result.has_value()) << wrong;
    EXPECT_EQ(result.error().message, "digit 5 or 6 of the digest is not a hexadecimal one");
  }
}

TEST(Digest, LeadingBytesAreALittleEndianNumber) {
  Digest digest;
  digest.bytes[0] = std::byte{0x01};
  digest.bytes[7] = std::byte{0x80};
  digest.bytes[8] = std::byte{0xff};
  EXPECT_EQ(leading_u64(digest), 0x8000000000000001ULL);
}

TEST(Hasher, PartsGiveTheDigestOfTheWhole) {
  Hasher hasher;
  hasher.add(as_bytes("a"));
  hasher.add({});
  hasher.add(as_bytes("bc"));
  EXPECT_EQ(to_hex(hasher.finish()), k_abc_hex);
}

TEST(Hasher, FieldsAreTheirLengthAsU64AndTheirBytes) {
  ByteWriter writer;
  writer.write_u64(2);
  writer.write_bytes(as_bytes("ab"));
  writer.write_u64(7);
  Hasher hasher;
  hasher.add_field("ab");
  hasher.add_u64(7);
  EXPECT_EQ(hasher.finish(), digest_of(writer.view()));
}

TEST(Hasher, FieldBoundariesMatter) {
  const auto digest_fields = [](std::initializer_list<std::string_view> fields) {
    Hasher hasher;
    for (const std::string_view field : fields) {
      hasher.add_field(field);
    }
    return hasher.finish();
  };
  const std::set<Digest> digests{digest_fields({"ab", "c"}), digest_fields({"a", "bc"}),
                                 digest_fields({"abc"}), digest_fields({"abc", ""}),
                                 digest_fields({"", "abc"})};
  EXPECT_EQ(digests.size(), 5U);
}

TEST(Hasher, GoesOnAfterAMove) {
  Hasher first;
  first.add(as_bytes("a"));
  Hasher second = std::move(first);
  second.add(as_bytes("bc"));
  EXPECT_EQ(to_hex(second.finish()), k_abc_hex);
}

} // namespace
} // namespace clbin::base

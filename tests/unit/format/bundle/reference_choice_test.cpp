#include "format/bundle/bundle_writer.hpp"

#include "support/bundle_samples.hpp"

#include <gtest/gtest.h>

namespace clbin::format {
namespace {

using base::Bytes;

// Returns `common` followed by a few different bytes.
Bytes variation(const Bytes& common, std::uint64_t seed) {
  Bytes bytes = common;
  const Bytes own = test::random_bytes(40, seed);
  bytes.insert(bytes.end(), own.begin(), own.end());
  return bytes;
}

std::vector<ReferencePayload> payloads_of(const std::vector<Bytes>& raws, BinaryKind kind) {
  std::vector<ReferencePayload> payloads;
  for (const Bytes& raw : raws) {
    payloads.push_back({raw, kind});
  }
  return payloads;
}

std::size_t referring(const std::vector<ReferenceChoice>& choices) {
  std::size_t count = 0;
  for (const ReferenceChoice& choice : choices) {
    count += choice.reference ? 1U : 0U;
  }
  return count;
}

void expect_one_level(const std::vector<ReferenceChoice>& choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].reference) {
      EXPECT_NE(*choices[i].reference, i);
      EXPECT_FALSE(choices[*choices[i].reference].reference.has_value());
    }
  }
}

TEST(ReferenceChoice, ServesSimilarPayloadsWithOneHub) {
  const Bytes common = test::random_bytes(3000, 1);
  std::vector<Bytes> raws;
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    raws.push_back(variation(common, seed));
  }
  const auto choices = choose_references(payloads_of(raws, BinaryKind::ptx)).value();
  expect_one_level(choices);
  EXPECT_EQ(referring(choices), 5U);
}

TEST(ReferenceChoice, FindsAHubForEveryFamilyOfPayloads) {
  std::vector<Bytes> raws;
  for (std::uint64_t family = 0; family < 4; ++family) {
    const Bytes common = test::random_bytes(2000, 100 + family);
    for (std::uint64_t member = 0; member < 10; ++member) {
      raws.push_back(variation(common, 1000 + family * 10 + member));
    }
  }
  const auto choices = choose_references(payloads_of(raws, BinaryKind::ptx)).value();
  expect_one_level(choices);
  ASSERT_EQ(referring(choices), 36U);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].reference) {
      EXPECT_EQ(*choices[i].reference / 10, i / 10) << i;
      EXPECT_EQ(choices[i].saving, Saving::clear);
    }
  }
}

TEST(ReferenceChoice, LeavesUnrelatedPayloadsAlone) {
  const std::vector<Bytes> raws = {test::random_bytes(3000, 1), test::random_bytes(3000, 2),
                                   test::random_bytes(3000, 3)};
  EXPECT_EQ(referring(choose_references(payloads_of(raws, BinaryKind::cubin)).value()), 0U);
}

TEST(ReferenceChoice, NeverCrossesKinds) {
  const Bytes common = test::random_bytes(3000, 1);
  const std::vector<Bytes> raws = {variation(common, 1), variation(common, 2)};
  std::vector<ReferencePayload> payloads = payloads_of(raws, BinaryKind::ptx);
  payloads[1].kind = BinaryKind::cubin;
  EXPECT_EQ(referring(choose_references(payloads).value()), 0U);
}

TEST(ReferenceChoice, TakesNoPayloads) {
  EXPECT_TRUE(choose_references({}).value().empty());
}

} // namespace
} // namespace clbin::format

// Merges the bundles of a build farm. Counts the calls to zstd, and checks that the order of the
// bundles does not matter. The linker calls the functions below instead of zstd's (--wrap).
#include "format/bundle/bundle_surgery.hpp"
#include "support/bundle_samples.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <zstd.h>

namespace {

std::size_t compressions = 0;
std::size_t decompressions = 0;

} // namespace

extern "C" {

std::size_t __real_ZSTD_compress2(ZSTD_CCtx* context, void* to, std::size_t room, const void* from,
                                  std::size_t size);
std::size_t __wrap_ZSTD_compress2(ZSTD_CCtx* context, void* to, std::size_t room, const void* from,
                                  std::size_t size) {
  ++compressions;
  return __real_ZSTD_compress2(context, to, room, from, size);
}

std::size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx* context, void* to, std::size_t room,
                                       const void* from, std::size_t size);
std::size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx* context, void* to, std::size_t room,
                                       const void* from, std::size_t size) {
  ++decompressions;
  return __real_ZSTD_decompressDCtx(context, to, room, from, size);
}
}

namespace clbin::format {
namespace {

using base::Bytes;

constexpr std::uint32_t k_bundles = 50;
constexpr std::uint32_t k_entries = 50;
constexpr std::uint32_t k_programs = 4;

Bytes must_merge(const std::vector<BundleReader>& bundles, const std::vector<std::size_t>& order) {
  std::vector<const BundleReader*> inputs;
  for (const std::size_t index : order) {
    inputs.push_back(&bundles[index]);
  }
  auto merged = merge_bundles(inputs);
  EXPECT_TRUE(merged.has_value()) << merged.error().message;
  return merged ? std::move(*merged) : Bytes();
}

TEST(FarmMerge, CompressesNoPayloadAndDoesNotDependOnTheOrder) {
  std::vector<BundleReader> bundles;
  std::vector<std::size_t> order;
  for (std::uint32_t number = 0; number < k_bundles; ++number) {
    const Bytes bytes = write_bundle(test::farm_input(number, 0), {1}).value();
    bundles.push_back(test::must_open(bytes, fmt::format("machine{}.clbin", number)));
    order.push_back(number);
  }
  ASSERT_GT(compressions, k_bundles * k_entries) << "the calls are not counted";
  compressions = 0;
  decompressions = 0;
  const Bytes merged = must_merge(bundles, order);
  EXPECT_EQ(compressions, k_programs) << "more than one manifest per program";
  EXPECT_LE(decompressions, k_bundles * (k_entries + 1)) << "a frame more than once";

  std::reverse(order.begin(), order.end());
  ASSERT_EQ(must_merge(bundles, order), merged) << "reversed";
  std::mt19937_64 generator(1);
  for (int shuffle = 0; shuffle < 2; ++shuffle) {
    std::shuffle(order.begin(), order.end(), generator);
    ASSERT_EQ(must_merge(bundles, order), merged) << "shuffle " << shuffle;
  }
  const BundleReader reader = test::must_open(merged);
  EXPECT_EQ(reader.entry_count(), k_bundles * k_entries);
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

} // namespace
} // namespace clbin::format

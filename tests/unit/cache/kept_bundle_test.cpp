// Finished bundles in a cache: files like its others, but with a seal of their own.
#include "cache_test_case.hpp"

#include <gmock/gmock.h>

namespace clbin::cache {
namespace {

class KeptBundleTest : public CacheTestCase {
protected:
  [[nodiscard]] static base::Digest key_of(std::string_view name) {
    return base::digest_of(base::as_bytes(name));
  }
  [[nodiscard]] static std::string store_bundle(const UserCache& cache, std::string_view name,
                                                std::string_view text) {
    return cache.store_bundle(key_of(name), base::as_bytes(text));
  }
  // "" for a miss.
  [[nodiscard]] static std::string look_up_bundle(const UserCache& cache, std::string_view name) {
    const KeptBundle kept = cache.look_up_bundle(key_of(name));
    return kept.bytes ? std::string(base::as_text(*kept.bytes)) : "";
  }
  [[nodiscard]] std::filesystem::path path_of(std::string_view name) const {
    return programs() / (base::to_hex(key_of(name)) + ".bundle");
  }
};

TEST_F(KeptBundleTest, IsGivenBackAsItWasStored) {
  const UserCache cache = user_cache();
  EXPECT_EQ(look_up_bundle(cache, "x"), "");
  EXPECT_EQ(store_bundle(cache, "x", "a bundle"), "");
  EXPECT_EQ(look_up_bundle(cache, "x"), "a bundle");
  EXPECT_EQ(look_up_bundle(cache, "y"), "");
  EXPECT_EQ(store_bundle(cache, "x", "another"), "");
  EXPECT_EQ(look_up_bundle(cache, "x"), "another");
}

TEST_F(KeptBundleTest, CountsInSizesAndAmongTheBundlesOnly) {
  const UserCache cache = user_cache();
  (void)store(cache, "x"); // looks through the folder, so that the size is known
  const CacheStatistics before = statistics_of(cache);
  (void)store_bundle(cache, "x", std::string(1000, 'b'));
  (void)store_bundle(cache, "x", std::string(2000, 'b'));
  (void)look_up_bundle(cache, "x");
  (void)look_up_bundle(cache, "y");
  const CacheStatistics after = statistics_of(cache);
  EXPECT_EQ(after.bytes, before.bytes + std::filesystem::file_size(path_of("x")));
  EXPECT_EQ(after.counters.stored_bytes, after.bytes);
  EXPECT_EQ(after.bundles, 1U);
  EXPECT_EQ(after.entries, before.entries);
  EXPECT_EQ(after.counters.hits, before.counters.hits);
  EXPECT_EQ(after.counters.misses, before.counters.misses);
  EXPECT_EQ(after.counters.stores, before.counters.stores);
}

TEST_F(KeptBundleTest, IsRemovedWhereAnyByteIsAnother) {
  const UserCache cache = user_cache();
  (void)store_bundle(cache, "x", "a bundle");
  const std::string whole = contents(path_of("x"));
  std::size_t healed = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ (1 << (place % 8)));
    for (const std::string& damaged : {flipped, whole.substr(0, place)}) {
      write(path_of("x"), damaged);
      const KeptBundle kept = cache.look_up_bundle(key_of("x"));
      ASSERT_FALSE(kept.bytes.has_value()) << place;
      ASSERT_EQ(kept.reason, "the user cache had a damaged one, now removed");
      ASSERT_FALSE(std::filesystem::exists(path_of("x"))) << place;
      ++healed;
    }
  }
  EXPECT_EQ(statistics_of(cache).counters.healed, healed);
}

TEST_F(KeptBundleTest, OfAnotherKeyIsRemoved) {
  const UserCache cache = user_cache();
  (void)store_bundle(cache, "x", "a bundle");
  std::filesystem::copy_file(path_of("x"), path_of("y"));
  EXPECT_EQ(look_up_bundle(cache, "y"), "");
  EXPECT_FALSE(std::filesystem::exists(path_of("y")));
  EXPECT_EQ(look_up_bundle(cache, "x"), "a bundle");
}

TEST_F(KeptBundleTest, IsEvictedAsLongAgoAsItWasUsed) {
  CacheSettings small = settings();
  small.max_bytes = 3'500;
  const UserCache cache(small, CacheKind::user);
  for (const char* name : {"a", "b", "c"}) {
    m_now += std::chrono::hours(1);
    EXPECT_EQ(store_bundle(cache, name, std::string(1000, 'b')), "");
  }
  m_now += std::chrono::hours(1);
  EXPECT_NE(look_up_bundle(cache, "a"), "");
  m_now += std::chrono::hours(1);
  EXPECT_EQ(store_bundle(cache, "d", std::string(1000, 'b')), "");
  EXPECT_EQ(look_up_bundle(cache, "b"), "");
  EXPECT_NE(look_up_bundle(cache, "a"), "");
  EXPECT_LE(statistics_of(cache).bytes, small.max_bytes);
}

TEST_F(KeptBundleTest, LargerThanTheCacheIsNotKept) {
  CacheSettings small = settings();
  small.max_bytes = 1'000;
  const UserCache cache(small, CacheKind::user);
  EXPECT_EQ(store_bundle(cache, "x", std::string(1000, 'b')), "");
  EXPECT_EQ(look_up_bundle(cache, "x"), "");
}

TEST_F(KeptBundleTest, IsCleared) {
  const UserCache cache = user_cache();
  (void)store_bundle(cache, "x", "a bundle");
  ASSERT_TRUE(cache.clear().has_value());
  EXPECT_FALSE(std::filesystem::exists(path_of("x")));
}

TEST_F(KeptBundleTest, IsNotTakenFromOrPutIntoACacheThatIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  const UserCache cache(off, CacheKind::user);
  EXPECT_EQ(store_bundle(cache, "x", "a bundle"), "");
  EXPECT_FALSE(std::filesystem::exists(root()));
  EXPECT_EQ(look_up_bundle(cache, "x"), "");
}

TEST_F(KeptBundleTest, SaysWhyItCannotBeStored) {
  std::filesystem::create_directories(root());
  std::filesystem::permissions(root(), std::filesystem::perms::all);
  EXPECT_THAT(store_bundle(user_cache(), "x", "a bundle"),
              ::testing::HasSubstr("other users may write to it"));
  EXPECT_EQ(look_up_bundle(user_cache(), "x"), "");
}

} // namespace
} // namespace clbin::cache

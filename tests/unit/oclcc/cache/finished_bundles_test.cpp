// Finished bundles in a cache: files like other entries, but with another seal.
#include "cache/finished_bundles.hpp"

#include "unit/cache/cache_test_case.hpp"

#include <gmock/gmock.h>

namespace oclcc {
namespace {

namespace base = clbin::base;
using clbin::cache::CacheSettings;
using clbin::cache::CacheStatistics;
using clbin::cache::CacheTestCase;
using clbin::cache::CacheUse;
using clbin::cache::KeyedStore;

class FinishedBundlesTest : public CacheTestCase {
protected:
  [[nodiscard]] static base::Digest key_of(std::string_view name) {
    return base::digest_of(base::as_bytes(name));
  }
  [[nodiscard]] static std::string store_bundle(const FinishedBundles& bundles,
                                                std::string_view name, std::string_view text) {
    return bundles.store(key_of(name), base::as_bytes(text));
  }
  [[nodiscard]] KeyedStore compile_cache() {
    return {settings(), clbin::cache::CacheKind::compile};
  }
  // Returns "" on a miss.
  [[nodiscard]] static std::string look_up_bundle(const FinishedBundles& bundles,
                                                  std::string_view name) {
    const KeptBundle kept = bundles.look_up(key_of(name));
    return kept.bytes ? std::string(base::as_text(*kept.bytes)) : "";
  }
  [[nodiscard]] std::filesystem::path path_of(std::string_view name) const {
    return root() / "compilations" / (base::to_hex(key_of(name)) + ".bundle");
  }
};

TEST_F(FinishedBundlesTest, IsGivenBackAsItWasStored) {
  const FinishedBundles bundles(settings());
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "a bundle");
  EXPECT_EQ(look_up_bundle(bundles, "y"), "");
  EXPECT_EQ(store_bundle(bundles, "x", "another"), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "another");
}

TEST_F(FinishedBundlesTest, CountsInSizesAndAmongTheBundlesOnly) {
  const FinishedBundles bundles(settings());
  (void)store(compile_cache(), "x"); // reads the folder to learn its size
  const CacheStatistics before = statistics_of(compile_cache());
  (void)store_bundle(bundles, "x", std::string(1000, 'b'));
  (void)store_bundle(bundles, "x", std::string(2000, 'b'));
  (void)look_up_bundle(bundles, "x");
  (void)look_up_bundle(bundles, "y");
  const CacheStatistics after = statistics_of(compile_cache());
  EXPECT_EQ(after.bytes, before.bytes + std::filesystem::file_size(path_of("x")));
  EXPECT_EQ(after.counters.stored_bytes, after.bytes);
  EXPECT_EQ(after.bundles, 1U);
  EXPECT_EQ(after.entries, before.entries);
  EXPECT_EQ(after.counters.hits, before.counters.hits);
  EXPECT_EQ(after.counters.misses, before.counters.misses);
  EXPECT_EQ(after.counters.stores, before.counters.stores);
}

TEST_F(FinishedBundlesTest, IsRemovedWhereAnyByteIsAnother) {
  const FinishedBundles bundles(settings());
  (void)store_bundle(bundles, "x", "a bundle");
  const std::string whole = contents(path_of("x"));
  std::size_t healed = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ (1 << (place % 8)));
    for (const std::string& damaged : {flipped, whole.substr(0, place)}) {
      write(path_of("x"), damaged);
      const KeptBundle kept = bundles.look_up(key_of("x"));
      ASSERT_FALSE(kept.bytes.has_value()) << place;
      ASSERT_EQ(kept.reason, "the bundle's cache entry was damaged and has been removed");
      ASSERT_FALSE(std::filesystem::exists(path_of("x"))) << place;
      ++healed;
    }
  }
  EXPECT_EQ(statistics_of(compile_cache()).counters.healed, healed);
}

TEST_F(FinishedBundlesTest, IsRemovedWhereALinkToNothingIsInItsPlace) {
  const FinishedBundles bundles(settings());
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  std::filesystem::remove(path_of("x"));
  std::filesystem::create_symlink("nothing", path_of("x"));
  EXPECT_EQ(bundles.look_up(key_of("x")).reason,
            "the bundle's cache entry was damaged and has been removed");
  EXPECT_FALSE(std::filesystem::is_symlink(path_of("x")));
}

TEST_F(FinishedBundlesTest, OfAnotherKeyIsRemoved) {
  const FinishedBundles bundles(settings());
  (void)store_bundle(bundles, "x", "a bundle");
  std::filesystem::copy_file(path_of("x"), path_of("y"));
  EXPECT_EQ(look_up_bundle(bundles, "y"), "");
  EXPECT_FALSE(std::filesystem::exists(path_of("y")));
  EXPECT_EQ(look_up_bundle(bundles, "x"), "a bundle");
}

TEST_F(FinishedBundlesTest, IsEvictedAsLongAgoAsItWasUsed) {
  CacheSettings small = settings();
  small.max_bytes = 3'500;
  const FinishedBundles bundles(small);
  for (const char* name : {"a", "b", "c"}) {
    m_now += std::chrono::hours(1);
    EXPECT_EQ(store_bundle(bundles, name, std::string(1000, 'b')), "");
  }
  m_now += std::chrono::hours(1);
  EXPECT_NE(look_up_bundle(bundles, "a"), "");
  m_now += std::chrono::hours(1);
  EXPECT_EQ(store_bundle(bundles, "d", std::string(1000, 'b')), "");
  EXPECT_EQ(look_up_bundle(bundles, "b"), "");
  EXPECT_NE(look_up_bundle(bundles, "a"), "");
  EXPECT_LE(statistics_of(compile_cache()).bytes, small.max_bytes);
}

TEST_F(FinishedBundlesTest, LargerThanTheCacheIsNotKept) {
  CacheSettings small = settings();
  small.max_bytes = 1'000;
  const FinishedBundles bundles(small);
  EXPECT_EQ(store_bundle(bundles, "x", std::string(1000, 'b')), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
}

TEST_F(FinishedBundlesTest, IsCleared) {
  const FinishedBundles bundles(settings());
  (void)store_bundle(bundles, "x", "a bundle");
  ASSERT_TRUE(compile_cache().clear().has_value());
  EXPECT_FALSE(std::filesystem::exists(path_of("x")));
}

TEST_F(FinishedBundlesTest, IsNotTakenFromOrPutIntoACacheThatIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  const FinishedBundles bundles(off);
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  EXPECT_FALSE(std::filesystem::exists(root()));
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
}

TEST_F(FinishedBundlesTest, SaysWhyItCannotBeStored) {
  std::filesystem::create_directories(root());
  std::filesystem::permissions(root(), std::filesystem::perms::all);
  EXPECT_THAT(store_bundle(FinishedBundles(settings()), "x", "a bundle"),
              ::testing::HasSubstr("other users may write to it"));
  EXPECT_EQ(look_up_bundle(FinishedBundles(settings()), "x"), "");
}

} // namespace
} // namespace oclcc

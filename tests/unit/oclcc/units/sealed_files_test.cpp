// Finished bundles, and other files in a cache that are no entries.
#include "units/sealed_files.hpp"

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

class SealedFilesTest : public CacheTestCase {
protected:
  [[nodiscard]] static base::Digest key_of(std::string_view name) {
    return base::digest_of(base::as_bytes(name));
  }
  [[nodiscard]] static std::string store_bundle(const SealedFiles& bundles, std::string_view name,
                                                std::string_view text) {
    return bundles.store(key_of(name), base::as_bytes(text));
  }
  [[nodiscard]] KeyedStore compile_cache() {
    return {settings(), clbin::cache::CacheKind::compile};
  }
  // Returns "" on a miss.
  [[nodiscard]] static std::string look_up_bundle(const SealedFiles& bundles,
                                                  std::string_view name) {
    const SealedFile kept = bundles.look_up(key_of(name));
    return kept.bytes ? std::string(base::as_text(*kept.bytes)) : "";
  }
  [[nodiscard]] std::filesystem::path path_of(std::string_view name) const {
    return root() / "compilations" / (base::to_hex(key_of(name)) + ".bundle");
  }
};

TEST_F(SealedFilesTest, IsGivenBackAsItWasStored) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "a bundle");
  EXPECT_EQ(look_up_bundle(bundles, "y"), "");
  EXPECT_EQ(store_bundle(bundles, "x", "another"), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "another");
}

TEST_F(SealedFilesTest, CountsInSizesAndAmongTheBundlesOnly) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
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

TEST_F(SealedFilesTest, IsRemovedWhereAnyByteIsAnother) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
  (void)store_bundle(bundles, "x", "a bundle");
  const std::string whole = contents(path_of("x"));
  std::size_t healed = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ (1 << (place % 8)));
    for (const std::string& damaged : {flipped, whole.substr(0, place)}) {
      write(path_of("x"), damaged);
      const SealedFile kept = bundles.look_up(key_of("x"));
      ASSERT_FALSE(kept.bytes.has_value()) << place;
      ASSERT_EQ(kept.reason, "the bundle's cache entry was damaged and has been removed");
      ASSERT_FALSE(std::filesystem::exists(path_of("x"))) << place;
      ++healed;
    }
  }
  EXPECT_EQ(statistics_of(compile_cache()).counters.healed, healed);
}

TEST_F(SealedFilesTest, IsRemovedWhereALinkToNothingIsInItsPlace) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  std::filesystem::remove(path_of("x"));
  std::filesystem::create_symlink("nothing", path_of("x"));
  EXPECT_EQ(bundles.look_up(key_of("x")).reason,
            "the bundle's cache entry was damaged and has been removed");
  EXPECT_FALSE(std::filesystem::is_symlink(path_of("x")));
}

TEST_F(SealedFilesTest, OfAnotherKeyIsRemoved) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
  (void)store_bundle(bundles, "x", "a bundle");
  std::filesystem::copy_file(path_of("x"), path_of("y"));
  EXPECT_EQ(look_up_bundle(bundles, "y"), "");
  EXPECT_FALSE(std::filesystem::exists(path_of("y")));
  EXPECT_EQ(look_up_bundle(bundles, "x"), "a bundle");
}

TEST_F(SealedFilesTest, IsEvictedAsLongAgoAsItWasUsed) {
  CacheSettings small = settings();
  small.max_bytes = 3'500;
  const SealedFiles bundles(small, SealedKind::bundle);
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

TEST_F(SealedFilesTest, LargerThanTheCacheIsNotKept) {
  CacheSettings small = settings();
  small.max_bytes = 1'000;
  const SealedFiles bundles(small, SealedKind::bundle);
  EXPECT_EQ(store_bundle(bundles, "x", std::string(1000, 'b')), "");
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
}

TEST_F(SealedFilesTest, IsCleared) {
  const SealedFiles bundles(settings(), SealedKind::bundle);
  (void)store_bundle(bundles, "x", "a bundle");
  ASSERT_TRUE(compile_cache().clear().has_value());
  EXPECT_FALSE(std::filesystem::exists(path_of("x")));
}

TEST_F(SealedFilesTest, APreparationIsAFileOfItsOwnThatCountsInTheSizesIsClearedAndIsEvicted) {
  CacheSettings small = settings();
  small.max_bytes = 3'500;
  const SealedFiles bundles(small, SealedKind::bundle);
  const SealedFiles preparations(small, SealedKind::preparation);
  EXPECT_EQ(store_bundle(preparations, "x", std::string(1000, 'p')), "");
  const auto file = root() / "compilations" / (base::to_hex(key_of("x")) + ".prepared");
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
  EXPECT_EQ(look_up_bundle(preparations, "x"), std::string(1000, 'p'));
  EXPECT_EQ(statistics_of(compile_cache()).bundles, 0U);
  EXPECT_EQ(statistics_of(compile_cache()).bytes, std::filesystem::file_size(file));
  for (const char* name : {"a", "b", "c"}) {
    m_now += std::chrono::hours(1);
    EXPECT_EQ(store_bundle(bundles, name, std::string(1000, 'b')), "");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(store_bundle(preparations, "x", "p"), "");
  write(file, "damaged");
  EXPECT_EQ(preparations.look_up(key_of("x")).reason,
            "the preparation's cache entry was damaged and has been removed");
  EXPECT_EQ(store_bundle(preparations, "x", "p"), "");
  ASSERT_TRUE(compile_cache().clear().has_value());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(SealedFilesTest, IsNotTakenFromOrPutIntoACacheThatIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  const SealedFiles bundles(off, SealedKind::bundle);
  EXPECT_EQ(store_bundle(bundles, "x", "a bundle"), "");
  EXPECT_FALSE(std::filesystem::exists(root()));
  EXPECT_EQ(look_up_bundle(bundles, "x"), "");
}

TEST_F(SealedFilesTest, SaysWhyItCannotBeStored) {
  std::filesystem::create_directories(root());
  std::filesystem::permissions(root(), std::filesystem::perms::all);
  EXPECT_THAT(store_bundle(SealedFiles(settings(), SealedKind::bundle), "x", "a bundle"),
              ::testing::HasSubstr("other users may write to it"));
  EXPECT_EQ(look_up_bundle(SealedFiles(settings(), SealedKind::bundle), "x"), "");
}

} // namespace
} // namespace oclcc

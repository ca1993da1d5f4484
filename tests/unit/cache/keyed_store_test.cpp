#include "cache_test_case.hpp"

#include <gmock/gmock.h>
#include <map>
#include <set>

namespace clbin::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class KeyedStoreTest : public CacheTestCase {};

TEST_F(KeyedStoreTest, GivesBackWhatWasStored) {
  const KeyedStore cache = user_cache();
  format::EntryInput entry =
      test::sample_entry("variant", test::sample_device("a device"), payload_of("x"));
  entry.options = "-DX=1";
  entry.build_log = "a warning";
  const auto kernels = entry.kernels;
  EXPECT_EQ(cache.store(recipe_of("x"), "matmul", entry), "");

  const LookUp found = look_up(cache, "x");
  ASSERT_TRUE(found.hit.has_value()) << found.reason;
  EXPECT_EQ(found.warning, "");
  EXPECT_EQ(found.hit->payload, payload_of("x"));
  EXPECT_EQ(found.hit->group.program, "matmul");
  EXPECT_EQ(found.hit->entry.options, "-DX=1");
  EXPECT_EQ(found.hit->entry.target.digest, format::target_digest(entry.target));
  const auto manifest = found.hit->bundle.read_manifest(found.hit->group);
  ASSERT_TRUE(manifest.has_value()) << manifest.error().message;
  EXPECT_EQ(manifest->entries.at(0).build_log, "a warning");
  EXPECT_THAT(manifest->entries.at(0).kernels, ::testing::UnorderedElementsAreArray(kernels));
}

TEST_F(KeyedStoreTest, CompressesOnlyLargePayloadsAndOnlyForWhoHasACompressor) {
  constexpr std::size_t k_small = 16U << 10U;
  const KeyedStore plain = user_cache();
  const KeyedStore compressing(settings(), CacheKind::user, format::compress_alone);
  for (const auto& [cache, size, frames] :
       {std::tuple{compressing, k_small, 0U}, std::tuple{compressing, k_small + 1, 1U},
        std::tuple{plain, k_small + 1, 0U}}) {
    base::Bytes payload = test::sample_ptx(70, "made from x");
    payload.resize(size, std::byte{' '});
    const auto entry = test::sample_entry("v", test::sample_device("a device"), payload);
    EXPECT_EQ(cache.store(recipe_of("x"), "matmul", entry), "");
    const LookUp found = look_up(cache, "x");
    ASSERT_TRUE(found.hit.has_value()) << found.reason;
    EXPECT_EQ(found.hit->payload, payload);
    EXPECT_EQ(found.hit->bundle.decompressed_count(), frames) << size;
    EXPECT_EQ(contents(entry_path("x")).size() < size, frames == 1U);
  }
}

TEST_F(KeyedStoreTest, StoresNothingThatNoBundleMayContain) {
  const auto payload = test::sample_ptx(70, "made from x");
  const auto entry = test::sample_entry("v", test::sample_device("a device"), payload);
  const KeyedStore cache = user_cache();
  for (const std::string& program : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_EQ(cache.store(recipe_of("x"), program, entry),
              "a program has a name that is empty or contains a zero byte");
  }
  EXPECT_EQ(look_up(cache, "x").reason, "not in the user cache");
}

TEST_F(KeyedStoreTest, MissesWhatWasNotStored) {
  const KeyedStore cache = user_cache();
  EXPECT_EQ(look_up(cache, "x").reason, "not in the user cache");
  EXPECT_EQ(store(cache, "x"), "");
  EXPECT_FALSE(is_hit(cache, "y"));
  EXPECT_EQ(look_up(cache, "y").reason, "not in the user cache");
  EXPECT_EQ(look_up(cache, "y").warning, "");
}

TEST_F(KeyedStoreTest, KeepsTheTwoCachesApart) {
  const KeyedStore compile(settings(), CacheKind::compile);
  EXPECT_EQ(store(user_cache(), "x"), "");
  EXPECT_EQ(look_up(compile, "x").reason, "not in the compile cache");
  EXPECT_EQ(store(compile, "y"), "");
  EXPECT_FALSE(is_hit(user_cache(), "y"));
  EXPECT_TRUE(is_hit(compile, "y"));
}

TEST_F(KeyedStoreTest, SecondStoreReplacesTheFirst) {
  const KeyedStore cache = user_cache();
  EXPECT_EQ(store(cache, "x"), "");
  EXPECT_EQ(cache.store(recipe_of("x"), "matmul",
                        test::sample_entry("v", test::sample_device("a device"),
                                           payload_of("something else"))),
            "");
  const LookUp found = look_up(cache, "x");
  ASSERT_TRUE(found.hit.has_value());
  EXPECT_EQ(found.hit->payload, payload_of("something else"));
  EXPECT_EQ(statistics_of(cache).entries, 1U);
}

TEST_F(KeyedStoreTest, CountsHitsMissesAndSizes) {
  const KeyedStore cache = user_cache();
  EXPECT_FALSE(is_hit(cache, "x"));
  (void)store(cache, "x");
  EXPECT_TRUE(is_hit(cache, "x"));
  EXPECT_TRUE(is_hit(cache, "x"));
  const CacheStatistics statistics = statistics_of(cache);
  EXPECT_EQ(statistics.counters.hits, 2U);
  EXPECT_EQ(statistics.counters.misses, 1U);
  EXPECT_EQ(statistics.counters.stores, 1U);
  EXPECT_EQ(statistics.counters.healed, 0U);
  EXPECT_EQ(statistics.counters.evicted, 0U);
  EXPECT_EQ(statistics.entries, 1U);
  EXPECT_EQ(statistics.bytes, statistics.counters.stored_bytes);
  EXPECT_GT(statistics.bytes, std::filesystem::file_size(entry_path("x")));
}

TEST_F(KeyedStoreTest, SaysWhichIngredientOfTheLastStoreChanged) {
  const KeyedStore cache = user_cache();
  EXPECT_THAT(cache.explain_miss(recipe_of("x")), IsEmpty());
  (void)store(cache, "x");
  const auto changes = cache.explain_miss(recipe_of("y"));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(describe(changes[0]), "source: 'x' before, 'y' now");
  Recipe other_subject = recipe_of("y");
  other_subject.subject = "another program";
  EXPECT_THAT(cache.explain_miss(other_subject), IsEmpty());
}

TEST_F(KeyedStoreTest, ComparesAMissWithTheLastHitToo) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  (void)store(cache, "y");
  EXPECT_TRUE(is_hit(cache, "x"));
  cache.remember(recipe_of("x"));
  const auto changes = cache.explain_miss(recipe_of("z"));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(describe(changes[0]), "source: 'x' before, 'z' now");
  EXPECT_EQ(statistics_of(cache).bytes, statistics_of(cache).counters.stored_bytes);
}

TEST_F(KeyedStoreTest, RemembersNothingWhereThereIsNoCacheYet) {
  const KeyedStore cache = user_cache();
  cache.remember(recipe_of("x"));
  EXPECT_THAT(cache.explain_miss(recipe_of("y")), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root()));
}

TEST_F(KeyedStoreTest, KeepsWhatItRemembersAsLongAsTheEntry) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  m_now += std::chrono::hours(1);
  EXPECT_TRUE(is_hit(cache, "x"));
  cache.remember(recipe_of("x"));
  for (const auto& item : std::filesystem::directory_iterator(programs())) {
    if (item.path().extension() == ".recipe") {
      EXPECT_EQ(std::filesystem::last_write_time(item),
                std::filesystem::last_write_time(entry_path("x")));
    }
  }
}

TEST_F(KeyedStoreTest, ClearsItsOwnEntriesOnly) {
  const KeyedStore cache = user_cache();
  const KeyedStore compile(settings(), CacheKind::compile);
  (void)store(cache, "x");
  (void)store(compile, "x");
  write(programs() / "1-1.new", "somebody is writing");
  ASSERT_TRUE(cache.clear().has_value());
  EXPECT_EQ(statistics_of(cache).entries, 0U);
  EXPECT_EQ(statistics_of(cache).counters, CacheCounters());
  EXPECT_FALSE(is_hit(cache, "x"));
  EXPECT_TRUE(is_hit(compile, "x"));
  EXPECT_TRUE(std::filesystem::exists(programs() / "1-1.new"));
  EXPECT_TRUE(KeyedStore(settings(), CacheKind::user).clear().has_value());
}

// If the user chooses a cache folder that contains other files, they must not be removed.
TEST_F(KeyedStoreTest, LeavesAloneWhatIsNotItsOwn) {
  std::filesystem::create_directories(programs());
  const std::vector<std::string> others{"kernels.clbin", "yarn.lock", "draft.new", "notes"};
  for (const std::string& name : others) {
    write(programs() / name, std::string(20'000, 'x'));
  }
  CacheSettings small = settings();
  small.max_bytes = 5'000;
  const KeyedStore cache(small, CacheKind::user);
  for (const char* source : {"a", "b", "c", "d", "e"}) {
    m_now += std::chrono::hours(25); // old enough to be removed as abandoned
    EXPECT_EQ(store(cache, source), "");
  }
  EXPECT_GT(statistics_of(cache).counters.evicted, 0U);
  EXPECT_LE(statistics_of(cache).bytes, small.max_bytes);
  ASSERT_TRUE(cache.clear().has_value());
  for (const std::string& name : others) {
    EXPECT_EQ(contents(programs() / name).size(), 20'000U) << name;
  }
}

TEST_F(KeyedStoreTest, DoesNothingWhenItIsOff) {
  CacheSettings off = settings();
  off.use = CacheUse::off;
  off.why_off = "CLBIN_CACHE is 0";
  const KeyedStore cache(off, CacheKind::user);
  EXPECT_EQ(store(cache, "x"), "");
  const LookUp found = look_up(cache, "x");
  EXPECT_FALSE(found.hit.has_value());
  EXPECT_EQ(found.reason, "the user cache is off: CLBIN_CACHE is 0");
  EXPECT_EQ(found.warning, "");
  EXPECT_EQ(cache.claim_build(recipe_key(recipe_of("x"))).turn, Turn::build_alone);
  EXPECT_TRUE(cache.clear().has_value());
  EXPECT_FALSE(std::filesystem::exists(root()));
}

TEST_F(KeyedStoreTest, PassesTheWarningOfItsSettingsOn) {
  CacheSettings with_warning = settings();
  with_warning.warning = "no such size";
  const KeyedStore cache(with_warning, CacheKind::user);
  EXPECT_EQ(look_up(cache, "x").warning, "no such size");
  EXPECT_EQ(store(cache, "x"), "no such size");
  EXPECT_EQ(look_up(cache, "x").warning, "no such size");
}

// --- damage -------------------------------------------------------------------------------------

TEST_F(KeyedStoreTest, HealsEntriesCutAtEveryLength) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  const std::string whole = contents(entry_path("x"));
  ASSERT_GT(whole.size(), 500U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(entry_path("x"), std::string_view(whole).substr(0, size));
    const LookUp found = look_up(cache, "x");
    ASSERT_FALSE(found.hit.has_value()) << size;
    ASSERT_THAT(found.reason, StartsWith("removed a damaged entry of the user cache: "));
    ASSERT_EQ(found.warning, "") << size;
    ASSERT_FALSE(std::filesystem::exists(entry_path("x"))) << size;
  }
  EXPECT_EQ(statistics_of(cache).counters.healed, whole.size());
  EXPECT_EQ(store(cache, "x"), "");
  EXPECT_TRUE(is_hit(cache, "x"));
}

TEST_F(KeyedStoreTest, HealsOrToleratesAFlippedBitInEveryByte) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  const std::string whole = contents(entry_path("x"));
  std::size_t healed = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ (1 << (place % 8)));
    write(entry_path("x"), flipped);
    const LookUp found = look_up(cache, "x");
    if (found.hit.has_value()) {
      // Damage is undetected only in the manifest, which this look-up does not read.
      ASSERT_EQ(found.hit->payload, payload_of("x")) << place;
      ASSERT_EQ(found.hit->group.program, "matmul") << place;
      ASSERT_FALSE(found.hit->bundle.verify().has_value()) << place;
    } else {
      ++healed;
      ASSERT_FALSE(std::filesystem::exists(entry_path("x"))) << place;
    }
  }
  EXPECT_GT(healed, whole.size() / 2);
}

TEST_F(KeyedStoreTest, SeesThroughTheEntryOfAnotherKey) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  (void)store(cache, "y");
  std::filesystem::remove(entry_path("y"));
  std::filesystem::copy_file(entry_path("x"), entry_path("y"));
  EXPECT_THAT(look_up(cache, "y").reason, HasSubstr("an entry with another key"));
  EXPECT_FALSE(std::filesystem::exists(entry_path("y")));
  EXPECT_TRUE(is_hit(cache, "x"));
}

TEST_F(KeyedStoreTest, RefusesAWholeBundleInPlaceOfAnEntry) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  const base::Bytes bundle = test::must_write(test::sample_input());
  write(entry_path("x"), base::as_text(bundle));
  EXPECT_THAT(look_up(cache, "x").reason, HasSubstr("not a cache entry"));
}

TEST_F(KeyedStoreTest, HealsAnEntryOfANewerFormat) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  std::string newer = contents(entry_path("x"));
  newer[8] = 2; // offset of the major version in clbin(5)
  write(entry_path("x"), newer);
  EXPECT_THAT(look_up(cache, "x").reason, HasSubstr("version"));
  EXPECT_FALSE(std::filesystem::exists(entry_path("x")));
}

TEST_F(KeyedStoreTest, RemovesAnEntryThatTheDriverRefused) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  cache.remove(recipe_key(recipe_of("x")));
  EXPECT_FALSE(is_hit(cache, "x"));
  EXPECT_EQ(statistics_of(cache).counters.healed, 1U);
  cache.remove(recipe_key(recipe_of("never stored")));
  EXPECT_EQ(statistics_of(cache).counters.healed, 1U);
}

TEST_F(KeyedStoreTest, LosesNoMoreThanTheExplanationWithADamagedRecipe) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  for (const auto& item : std::filesystem::directory_iterator(programs())) {
    if (item.path().extension() == ".recipe") {
      write(item.path(), "nonsense");
    }
  }
  EXPECT_THAT(cache.explain_miss(recipe_of("y")), IsEmpty());
  EXPECT_TRUE(is_hit(cache, "x"));
}

TEST_F(KeyedStoreTest, BeginsToCountAgainWithDamagedCounters) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  write(programs() / "counters", "nonsense");
  EXPECT_TRUE(is_hit(cache, "x"));
  EXPECT_EQ(statistics_of(cache).counters.hits, 1U);
  (void)store(cache, "y"); // reads the folder, because no size is known
  EXPECT_EQ(statistics_of(cache).bytes, statistics_of(cache).counters.stored_bytes);
}

// --- size ---------------------------------------------------------------------------------------

TEST_F(KeyedStoreTest, EvictsWhatWasUsedLeastRecently) {
  (void)store(user_cache(), "a");
  const std::uint64_t entry_bytes = std::filesystem::file_size(entry_path("a"));
  CacheSettings small = settings();
  small.max_bytes = 5 * entry_bytes; // four, because of the recipe and the tenth that stays free
  const KeyedStore cache(small, CacheKind::user);
  for (const char* source : {"b", "c", "d"}) {
    m_now += std::chrono::hours(1);
    EXPECT_EQ(store(cache, source), "");
  }
  m_now += std::chrono::hours(1);
  EXPECT_TRUE(is_hit(cache, "a")); // now "b" is the oldest
  m_now += std::chrono::hours(1);
  EXPECT_EQ(store(cache, "e"), "");
  EXPECT_FALSE(std::filesystem::exists(entry_path("b")));
  for (const char* source : {"a", "d", "e"}) {
    EXPECT_TRUE(is_hit(cache, source)) << source;
  }
  EXPECT_GT(statistics_of(cache).counters.evicted, 0U);
}

TEST_F(KeyedStoreTest, StaysWithinItsSize) {
  CacheSettings small = settings();
  small.max_bytes = 20'000;
  const KeyedStore cache(small, CacheKind::user);
  for (int i = 0; i < 60; ++i) {
    m_now += std::chrono::minutes(1);
    EXPECT_EQ(store(cache, std::to_string(i)), "");
    EXPECT_LE(statistics_of(cache).bytes, small.max_bytes);
    EXPECT_TRUE(is_hit(cache, std::to_string(i)));
  }
  EXPECT_GT(statistics_of(cache).entries, 3U);
  EXPECT_EQ(statistics_of(cache).bytes, statistics_of(cache).counters.stored_bytes);
}

TEST_F(KeyedStoreTest, StoresNothingThatIsLargerThanItself) {
  CacheSettings small = settings();
  small.max_bytes = 100;
  const KeyedStore cache(small, CacheKind::user);
  EXPECT_EQ(store(cache, "x"), "");
  EXPECT_FALSE(is_hit(cache, "x"));
  EXPECT_EQ(statistics_of(cache).entries, 0U);
}

TEST_F(KeyedStoreTest, StillEvictsAfterTheClockWasSetBack) {
  (void)store(user_cache(), "old 1");
  (void)store(user_cache(), "old 2");
  const std::uint64_t entry_bytes = std::filesystem::file_size(entry_path("old 1"));
  m_now -= std::chrono::hours(1000);
  CacheSettings small = settings();
  small.max_bytes = 4 * entry_bytes;
  const KeyedStore cache(small, CacheKind::user);
  for (const char* source : {"a", "b", "c", "d", "e"}) {
    m_now += std::chrono::minutes(1);
    EXPECT_EQ(store(cache, source), "");
    EXPECT_TRUE(is_hit(cache, source)) << source;
    EXPECT_LE(statistics_of(cache).bytes, small.max_bytes);
  }
  EXPECT_FALSE(std::filesystem::exists(entry_path("old 1")));
  EXPECT_FALSE(std::filesystem::exists(entry_path("old 2")));
}

TEST_F(KeyedStoreTest, RemovesWhatKilledProcessesLeftBehindOnceADay) {
  const KeyedStore cache = user_cache();
  (void)store(cache, "x");
  const std::string old_lock = std::string(64, 'a') + ".lock";
  for (const std::string& name : {std::string("77-1.new"), old_lock}) {
    write(programs() / name, "left behind");
  }
  (void)store(cache, "y");
  EXPECT_TRUE(std::filesystem::exists(programs() / "77-1.new"));
  m_now += std::chrono::hours(25);
  (void)store(cache, "z");
  EXPECT_FALSE(std::filesystem::exists(programs() / "77-1.new"));
  EXPECT_FALSE(std::filesystem::exists(programs() / old_lock));
  EXPECT_TRUE(is_hit(cache, "x"));
}

// --- claims -------------------------------------------------------------------------------------

TEST_F(KeyedStoreTest, GivesTheFirstWhoAsksTheRightToBuild) {
  const KeyedStore cache = user_cache();
  const base::Digest key = recipe_key(recipe_of("x"));
  {
    const BuildClaim claim = cache.claim_build(key);
    EXPECT_EQ(claim.turn, Turn::build);
    EXPECT_EQ(claim.warning, "");
    EXPECT_EQ(cache.claim_build(recipe_key(recipe_of("y"))).turn, Turn::build);
    EXPECT_EQ(count_files(programs(), ".lock"), 1U);
  }
  EXPECT_EQ(cache.claim_build(key).turn, Turn::build);
  EXPECT_EQ(count_files(programs(), ".lock"), 0U);
  EXPECT_EQ(m_paused.count(), 0);
}

TEST_F(KeyedStoreTest, WaitsForAnotherBuilderAsLongAsTheSettingsSayAndNoLonger) {
  const KeyedStore cache = user_cache();
  const base::Digest key = recipe_key(recipe_of("x"));
  const BuildClaim held = cache.claim_build(key);
  const BuildClaim second = cache.claim_build(key);
  EXPECT_EQ(second.turn, Turn::build_alone);
  EXPECT_EQ(m_paused, settings().wait_limit);
  EXPECT_EQ(second.warning, "the user cache: stopped waiting for another process that has been "
                            "building the same for 10000 ms");
}

TEST_F(KeyedStoreTest, LooksAgainWhereAnEntryCameBetweenLookUpAndClaim) {
  const KeyedStore cache = user_cache();
  EXPECT_FALSE(is_hit(cache, "x"));
  (void)store(cache, "x");
  EXPECT_EQ(cache.claim_build(recipe_key(recipe_of("x"))).turn, Turn::look_again);
}

TEST_F(KeyedStoreTest, BuildsWhereTheOtherBuilderHasFailed) {
  const base::Digest key = recipe_key(recipe_of("x"));
  std::optional<BuildClaim> held = user_cache().claim_build(key);
  CacheSettings settings_that_end_it = settings();
  settings_that_end_it.pause = [&](std::chrono::milliseconds) { held.reset(); };
  EXPECT_EQ(KeyedStore(settings_that_end_it, CacheKind::user).claim_build(key).turn, Turn::build);
}

TEST_F(KeyedStoreTest, LooksAgainWhenTheOtherBuilderIsDone) {
  const base::Digest key = recipe_key(recipe_of("x"));
  std::optional<BuildClaim> held = user_cache().claim_build(key);
  CacheSettings settings_that_end_it = settings();
  settings_that_end_it.pause = [&](std::chrono::milliseconds) {
    (void)store(user_cache(), "x");
    held.reset();
  };
  const KeyedStore cache(settings_that_end_it, CacheKind::user);
  const BuildClaim claim = cache.claim_build(key);
  EXPECT_EQ(claim.turn, Turn::look_again);
  EXPECT_EQ(claim.warning, "");
  EXPECT_TRUE(is_hit(cache, "x"));
}

// Otherwise all waiting processes would load the entry one after the other, each holding the lock.
TEST_F(KeyedStoreTest, LooksAgainOnceTheEntryIsThereThoughAnotherHasTheClaim) {
  const base::Digest key = recipe_key(recipe_of("x"));
  const BuildClaim held = user_cache().claim_build(key);
  int pauses = 0;
  CacheSettings settings_that_store = settings();
  settings_that_store.pause = [&](std::chrono::milliseconds) {
    (void)store(user_cache(), "x");
    ++pauses;
  };
  const BuildClaim claim = KeyedStore(settings_that_store, CacheKind::user).claim_build(key);
  EXPECT_EQ(claim.turn, Turn::look_again);
  EXPECT_FALSE(claim.lock.has_value());
  EXPECT_EQ(claim.warning, "");
  EXPECT_EQ(pauses, 1);
}

} // namespace
} // namespace clbin::cache

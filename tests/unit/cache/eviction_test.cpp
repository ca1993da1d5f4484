#include "cache/cache_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::cache {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint k_now{hours(500'000)};

std::vector<std::string> names(const std::vector<FileRow>& rows) {
  std::vector<std::string> result;
  for (const FileRow& row : rows) {
    result.push_back(row.name);
  }
  return result;
}

TEST(Eviction, KnowsTheFilesOfACacheByTheirNames) {
  const std::string key(64, 'a');
  const std::vector<FileRow> own{{key + ".clbin", 1, k_now},  {key + ".bundle", 1, k_now},
                                 {key + ".recipe", 1, k_now}, {key + ".lock", 1, k_now},
                                 {"12-3.new", 1, k_now},      {"counters", 1, k_now}};
  EXPECT_EQ(names(keep_own(own)), names(own));
  for (const std::string& other :
       {std::string("kernels.clbin"), key, key + "a.clbin", key.substr(1) + ".clbin",
        key.substr(1) + "g.clbin", std::string(".clbin"), std::string("grandma.recipe"),
        std::string("yarn.lock"), std::string("draft.new"), std::string("1-.new"),
        std::string("-1.new"), std::string("1.new"), std::string("counters.txt")}) {
    EXPECT_THAT(names(keep_own({{other, 1, k_now}})), IsEmpty()) << other;
  }
}

TEST(Eviction, CountsEntriesBundlesAndRecipesOnly) {
  EXPECT_EQ(stored_bytes({{"a.clbin", 100, k_now},
                          {"b.recipe", 10, k_now},
                          {"c.bundle", 1, k_now},
                          {"counters", 1000, k_now},
                          {"1-2.new", 1000, k_now},
                          {"a.lock", 1000, k_now}}),
            111U);
}

TEST(Eviction, TakesTheLeastRecentlyUsedUntilTheRestFits) {
  const std::vector<FileRow> rows{{"new.clbin", 10, k_now},
                                  {"oldest.clbin", 10, k_now - hours(3)},
                                  {"old.recipe", 10, k_now - hours(2)},
                                  {"middle.bundle", 10, k_now - hours(1)}};
  EXPECT_THAT(names(choose_victims(rows, 40, k_now)), IsEmpty());
  EXPECT_THAT(names(choose_victims(rows, 39, k_now)), ElementsAre("oldest.clbin"));
  EXPECT_THAT(names(choose_victims(rows, 20, k_now)), ElementsAre("oldest.clbin", "old.recipe"));
  EXPECT_THAT(names(choose_victims(rows, 0, k_now)),
              ElementsAre("oldest.clbin", "old.recipe", "middle.bundle", "new.clbin"));
}

TEST(Eviction, TakesFilesOfTheFutureFirst) {
  const std::vector<FileRow> rows{{"used now.clbin", 10, k_now},
                                  {"clock was set back.clbin", 10, k_now + hours(1)},
                                  {"old.clbin", 10, k_now - hours(9)}};
  EXPECT_THAT(names(choose_victims(rows, 10, k_now)),
              ElementsAre("clock was set back.clbin", "old.clbin"));
}

TEST(Eviction, GoesByNameWhereTimesAreEqual) {
  const std::vector<FileRow> rows{
      {"c.clbin", 10, k_now}, {"a.clbin", 10, k_now}, {"b.clbin", 10, k_now}};
  EXPECT_THAT(names(choose_victims(rows, 10, k_now)), ElementsAre("a.clbin", "b.clbin"));
}

TEST(Eviction, NeverTakesWhatIsNotAnEntry) {
  const std::vector<FileRow> rows{{"counters", 10, k_now - hours(9)},
                                  {"a.lock", 10, k_now - hours(9)},
                                  {"1-1.new", 10, k_now - hours(9)}};
  EXPECT_THAT(names(choose_victims(rows, 0, k_now)), IsEmpty());
}

TEST(Eviction, FindsWhatKilledProcessesLeftBehind) {
  const std::vector<FileRow> rows{
      {"1-1.new", 10, k_now - hours(2)}, {"1-2.new", 10, k_now},
      {"1-3.new", 10, k_now + hours(2)}, // the clock was set back
      {"a.clbin", 10, k_now - hours(2)}, {"a.lock", 0, k_now - hours(25)},
      {"b.lock", 0, k_now - hours(23)}};
  EXPECT_THAT(names(find_left_behind(rows, k_now)), ElementsAre("1-1.new", "1-3.new", "a.lock"));
}

} // namespace
} // namespace clbin::cache

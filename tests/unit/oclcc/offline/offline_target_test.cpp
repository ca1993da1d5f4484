#include "offline/offline_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc::offline {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> spellings(std::string_view specification) {
  const auto targets = parse_targets(specification);
  std::vector<std::string> all;
  if (!targets) {
    return {targets.error().message};
  }
  for (const OfflineTarget& target : *targets) {
    all.push_back(spelling_of(target));
  }
  return all;
}

TEST(OfflineTarget, HasOneSpellingThatParsesToItself) {
  std::set<std::string> seen;
  for (const OfflineTarget& target : known_targets()) {
    const std::string spelling = spelling_of(target);
    EXPECT_TRUE(seen.insert(spelling).second) << spelling;
    EXPECT_THAT(spellings(spelling), ElementsAre(spelling));
  }
}

// Bundles contain them: they never change.
TEST(OfflineTarget, KeepsItsSpellings) {
  std::vector<std::string> all;
  for (const OfflineTarget& target : known_targets()) {
    all.push_back(spelling_of(target));
  }
  EXPECT_THAT(all,
              ElementsAre("nvptx:sm_50", "nvptx:sm_52", "nvptx:sm_53", "nvptx:sm_60", "nvptx:sm_61",
                          "nvptx:sm_62", "nvptx:sm_70", "nvptx:sm_72", "nvptx:sm_75", "nvptx:sm_80",
                          "nvptx:sm_86", "nvptx:sm_87", "nvptx:sm_89", "nvptx:sm_90", "cubin:sm_75",
                          "cubin:sm_80", "cubin:sm_86", "cubin:sm_87", "cubin:sm_88", "cubin:sm_89",
                          "cubin:sm_90", "cubin:sm_100", "cubin:sm_103", "cubin:sm_110",
                          "cubin:sm_120", "cubin:sm_121", "spirv:1.0:32", "spirv:1.0",
                          "spirv:1.1:32", "spirv:1.1", "spirv:1.2:32", "spirv:1.2", "spirv:1.3:32",
                          "spirv:1.3", "spirv:1.4:32", "spirv:1.4"));
}

TEST(OfflineTarget, ListsShareTheFamilyOfTheirFirstTarget) {
  EXPECT_THAT(spellings("spirv:1.2,1.0"), ElementsAre("spirv:1.0", "spirv:1.2"));
  EXPECT_THAT(spellings("spirv:1.2,1.2:32,1.2"), ElementsAre("spirv:1.2:32", "spirv:1.2"));
}

// A pinned table: a bundle of "all" must not change with the version of oclcc unnoticed.
TEST(OfflineTarget, GroupsExpandToAPinnedTable) {
  EXPECT_THAT(spellings("all"), ElementsAre("nvptx:sm_50", "nvptx:sm_60", "nvptx:sm_70",
                                            "nvptx:sm_80", "nvptx:sm_90", "spirv:1.2"));
  EXPECT_THAT(spellings("nvptx:all-major"), ElementsAre("nvptx:sm_50", "nvptx:sm_60", "nvptx:sm_70",
                                                        "nvptx:sm_80", "nvptx:sm_90"));
  EXPECT_THAT(spellings("nvptx:all"), ::testing::SizeIs(14));
  EXPECT_THAT(spellings("cubin:all"), ::testing::SizeIs(12));
  EXPECT_THAT(spellings("spirv:all"),
              ElementsAre("spirv:1.0", "spirv:1.1", "spirv:1.2", "spirv:1.3", "spirv:1.4"));
}

TEST(OfflineTarget, RefusesWhatIsNoTarget) {
  for (const std::string word : {"", "spir", "nvptx:sm_20", "cubin:sm_50", "SPIRV:1.2", "1.2",
                                 ":1.2", "spirv", "all,spirv:1.2"}) {
    const auto targets = parse_targets(word);
    ASSERT_FALSE(targets) << word;
    EXPECT_EQ(targets.error().code, clbin::base::ErrorCode::invalid_argument);
  }
  EXPECT_EQ(parse_targets("gpu").error().message,
            "'--target gpu': a target is a family and an architecture, such as 'nvptx:sm_70' or "
            "'spirv:1.2'; --list-targets lists them");
  EXPECT_EQ(parse_targets("spirv:1.9").error().message,
            "'--target spirv:1.9': the family 'spirv' has no such target; --list-targets lists "
            "them");
  EXPECT_EQ(parse_targets("spirv:1.2,").error().message,
            "'--target spirv:': the family 'spirv' has no such target; --list-targets lists them");
}

TEST(OfflineTarget, RecordsTheArchitectureOfADevice) {
  const auto targets = parse_targets("cubin:sm_90");
  ASSERT_TRUE(targets);
  const clbin::format::Target recorded = recorded_target(targets->front());
  EXPECT_EQ(recorded.spec, "cubin:sm_90");
  EXPECT_EQ(recorded.identity.architecture, "sm_90");
  EXPECT_EQ(clbin::format::target_family(recorded), clbin::format::DeviceFamily::nvidia);
}

TEST(OfflineTarget, RecordsItsSpellingAndItsAddressBits) {
  const auto targets = parse_targets("spirv:1.2:32");
  ASSERT_TRUE(targets);
  const clbin::format::Target recorded = recorded_target(targets->front());
  EXPECT_EQ(recorded.origin, clbin::format::TargetOrigin::offline);
  EXPECT_EQ(recorded.spec, "spirv:1.2:32");
  EXPECT_EQ(recorded.identity.address_bits, 32U);
  EXPECT_EQ(clbin::format::target_family(recorded), clbin::format::DeviceFamily::spirv);
}

} // namespace
} // namespace oclcc::offline

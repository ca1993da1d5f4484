#include "targets/patterns.hpp"

#include "support/bundle_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::BundleReader;
using clbin::format::TargetOrigin;
using clbin::format::TargetView;
using testing::ElementsAre;
using testing::IsEmpty;

TargetView offline(std::string spec) {
  TargetView target;
  target.origin = TargetOrigin::offline;
  target.spec = std::move(spec);
  return target;
}

TargetView installed(std::string platform, std::string device) {
  TargetView target;
  target.platform_name = std::move(platform);
  target.device_name = std::move(device);
  return target;
}

struct Match {
  TargetView target;
  std::string pattern;
  bool expected;
};

void expect_matches(const std::vector<Match>& table) {
  for (const auto& [target, pattern, expected] : table) {
    EXPECT_EQ(matches_target(target, pattern), expected)
        << target_name(target) << " and '" << pattern << "'";
  }
}

TEST(TargetPattern, IsASpecOrASideOfItsColonInAnyCase) {
  const TargetView sm_70 = offline("nvptx:sm_70");
  expect_matches({
      {sm_70, "nvptx:sm_70", true},
      {sm_70, "NVPTX:SM_70", true},
      {sm_70, "nvptx", true},
      {sm_70, "sm_70", true},
      {sm_70, "Sm_70", true},
      {sm_70, "sm_7", false}, // a part of a side does not match
      {sm_70, "ptx", false},
      {sm_70, ":", false},
      {sm_70, "sm_70:nvptx", false},
      {sm_70, "nvptx:sm_700", false},
      {offline("plain"), "plain", true},
      {offline("a:b:c"), "b:c", true}, // the first colon counts
      {offline("a:b:c"), "b", false},
  });
}

TEST(TargetPattern, IsAPartOfTheNameOfADeviceOrPlatformInAnyCase) {
  const TargetView cpu = installed("Portable Computing Language", "pthread-EPYC [x]");
  expect_matches({
      {cpu, "epyc", true},
      {cpu, "portable", true},
      {cpu, "Computing Lang", true},
      {cpu, "pthread-EPYC", true},
      {cpu, "nvptx", false},
      {cpu, "language pthread", false}, // does not match across both names
      {installed("nvptx:sm_70", "d"), "sm_70", true},
  });
}

TEST(TargetPattern, WithWildcardsIsMatchedAgainstTheWhole) {
  const TargetView sm_70 = offline("nvptx:sm_70");
  const TargetView cpu = installed("PoCL", "EPYC 7");
  expect_matches({
      {sm_70, "*", true},
      {sm_70, "nvptx:*", true},
      {sm_70, "NVPTX:SM_?0", true},
      {sm_70, "sm_[67]0", true},
      {sm_70, "sm_[!67]0", false},
      {sm_70, "sm_?", false},
      {sm_70, "*50", false},
      {cpu, "*", true},
      {cpu, "epyc*", true},
      {cpu, "*7", true},
      {cpu, "po?l", true},
      {cpu, "PY*", false}, // a part of it matches without a star, but not with one
      {cpu, "po?", false},
  });
}

TEST(TargetPattern, ChoosesAllWithoutPatternsAndDropsWhatBothName) {
  const TargetView sm_50 = offline("nvptx:sm_50");
  const TargetView sm_70 = offline("nvptx:sm_70");
  EXPECT_TRUE(is_chosen(sm_50, {}));
  EXPECT_TRUE(is_chosen(sm_50, {{"sm_50"}, {}}));
  EXPECT_FALSE(is_chosen(sm_70, {{"sm_50"}, {}}));
  EXPECT_FALSE(is_chosen(sm_50, {{}, {"sm_50"}}));
  EXPECT_TRUE(is_chosen(sm_70, {{}, {"sm_50"}}));
  EXPECT_TRUE(is_chosen(sm_70, {{"sm_50", "sm_70"}, {"sm_50"}}));
  EXPECT_FALSE(is_chosen(sm_50, {{"nvptx"}, {"*"}}));
}

TEST(TargetPattern, IsIdleWhereItMatchesNoEntryOfTheBundle) {
  const BundleReader bundle =
      clbin::test::must_open(clbin::test::must_write(clbin::test::sample_input()));
  const TargetChoice choice = {{"sm_50", "sm_99", "cpu-"}, {"*", "gfx*"}};
  EXPECT_THAT(idle_patterns(bundle, choice).value(), ElementsAre("sm_99", "gfx*"));
  EXPECT_THAT(idle_patterns(bundle, {}).value(), IsEmpty());
}

TEST(TargetPattern, TargetsAreNamedOnceInOrder) {
  const BundleReader bundle =
      clbin::test::must_open(clbin::test::must_write(clbin::test::sample_input()));
  EXPECT_EQ(list_targets(bundle).value(),
            "'cpu-a' (Portable Computing Language), 'cpu-b' (Portable Computing Language), "
            "'nvptx:sm_50', 'nvptx:sm_70', 'nvptx:sm_80'");
  const BundleReader empty = clbin::test::must_open(clbin::test::must_write({"test", {}}));
  EXPECT_EQ(list_targets(empty).value(), "none");
}

TEST(TargetPattern, CutsLongNamesAndLongLists) {
  clbin::format::BundleInput input = clbin::test::sample_input();
  auto& program = input.programs[0];
  program.entries.clear();
  for (int i = 0; i < 70; ++i) {
    const std::string name = fmt::format("{:02}", i) + std::string(i == 0 ? 1000 : 1, 'x');
    program.entries.push_back(clbin::test::sample_entry(program.variants[0].name,
                                                        clbin::test::sample_device(name),
                                                        clbin::test::sample_ptx(50, name)));
  }
  input.programs.resize(1);
  const BundleReader bundle = clbin::test::must_open(clbin::test::must_write(input));
  const std::string list = list_targets(bundle).value();
  EXPECT_THAT(list, testing::StartsWith("'00" + std::string(254, 'x') + "...' ("));
  EXPECT_THAT(list, testing::EndsWith(" and 6 more"));
}

} // namespace
} // namespace oclcc

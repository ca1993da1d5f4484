#include "targets/patterns.hpp"

#include "support/bundle_samples.hpp"

#include <CL/cl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::BundleReader;
using clbin::format::TargetOrigin;
using clbin::format::TargetView;
using testing::ElementsAre;
using testing::IsEmpty;
using worker::DeviceDescription;

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
      {sm_70, "sm_[6-8]0", true},
      {sm_70, "[a-n]*:[^T]M?[0-6][]0]", false}, // 7 is not in the range
      {sm_70, "[a-n]*:[^T]M?[0-7][]0]", true},
      {installed("a[b", "c*d"), "?[b*", true}, // a class without an end is text
      {installed("a[b", "c*d"), "c\\*?", true},
      {installed("a[b", "cxd"), "c\\*?", false},
      {installed("a[b", "cxd"), "c[x\\]]*\\", false},
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

DeviceDescription device(std::uint32_t platform, std::uint32_t number, cl_ulong type,
                         const std::string& platform_name, const std::string& name) {
  DeviceDescription description;
  description.platform = platform;
  description.device = number;
  description.type = type;
  description.identity.platform_name = platform_name;
  description.identity.device_name = name;
  return description;
}

std::vector<DeviceDescription> some_devices() {
  return {device(0, 0, CL_DEVICE_TYPE_GPU, "NVIDIA CUDA", "NVIDIA H200"),
          device(0, 1, CL_DEVICE_TYPE_GPU, "NVIDIA CUDA", "NVIDIA T4"),
          device(1, 0, CL_DEVICE_TYPE_CPU, "Portable Computing Language", "pthread-H200-like"),
          device(2, 0, CL_DEVICE_TYPE_ACCELERATOR, "FPGA", "Board 0:1")};
}

std::vector<std::string> selected(const std::vector<std::string>& patterns) {
  const auto devices = select_devices(some_devices(), patterns);
  if (!devices) {
    return {devices.error().message};
  }
  std::vector<std::string> numbers;
  for (const DeviceDescription& chosen : *devices) {
    numbers.push_back(std::to_string(chosen.platform) + ":" + std::to_string(chosen.device));
  }
  return numbers;
}

TEST(DevicePattern, SelectsAllWithoutAPattern) {
  EXPECT_THAT(selected({}), ElementsAre("0:0", "0:1", "1:0", "2:0"));
  EXPECT_THAT(selected({"all"}), ElementsAre("0:0", "0:1", "1:0", "2:0"));
}

TEST(DevicePattern, SelectsByType) {
  EXPECT_THAT(selected({"gpu"}), ElementsAre("0:0", "0:1"));
  EXPECT_THAT(selected({"CPU"}), ElementsAre("1:0"));
  EXPECT_THAT(selected({"accelerator"}), ElementsAre("2:0"));
}

TEST(DevicePattern, PrefersAWholeNameToAPartOfLongerOnes) {
  auto devices = some_devices();
  devices.push_back(device(3, 0, CL_DEVICE_TYPE_GPU, "Other", "NVIDIA H200 NVL"));
  const auto whole = select_devices(devices, {"nvidia h200"});
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), 1U);
  EXPECT_EQ(whole->front().identity.device_name, "NVIDIA H200");
  const auto both = select_devices(devices, {"NVIDIA H200", "cpu"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->size(), 2U);
}

TEST(DevicePattern, SelectsByNumber) {
  EXPECT_THAT(selected({"0:1"}), ElementsAre("0:1"));
  EXPECT_THAT(selected({"0"}), ElementsAre("0:0", "0:1"));
}

TEST(DevicePattern, SelectsByAPartOfANameInAnyCase) {
  EXPECT_THAT(selected({"h200"}), ElementsAre("0:0", "1:0"));
  EXPECT_THAT(selected({"portable"}), ElementsAre("1:0"));
}

TEST(DevicePattern, KeepsTheOrderOfTheDevicesAndNamesEachOnce) {
  EXPECT_THAT(selected({"2", "gpu", "0:0"}), ElementsAre("0:0", "0:1", "2:0"));
}

TEST(DevicePattern, ListsWhatThereIsWhenNothingMatches) {
  const auto devices = select_devices(some_devices(), {"gpu", "radeon"});
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, clbin::base::ErrorCode::no_device);
  EXPECT_EQ(devices.error().message,
            "no device matches 'radeon'; there are 0:0 'NVIDIA H200' (NVIDIA CUDA), 0:1 'NVIDIA "
            "T4' (NVIDIA CUDA), 1:0 'pthread-H200-like' (Portable Computing Language), 2:0 "
            "'Board 0:1' (FPGA)");
}

TEST(DevicePattern, MatchesNothingWithNumbersThatAreNotThere) {
  for (const char* pattern : {"7", "0:7", "99999999999", "0:x", ":0", "-1", ""}) {
    EXPECT_FALSE(select_devices(some_devices(), {pattern})) << pattern;
  }
}

TEST(DevicePattern, TakesADeviceOfSeveralTypesForEach) {
  const auto simulator = device(0, 0, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU, "Oclgrind", "Sim");
  EXPECT_TRUE(matches_pattern(simulator, "cpu"));
  EXPECT_TRUE(matches_pattern(simulator, "gpu"));
  EXPECT_FALSE(matches_pattern(simulator, "accelerator"));
}

} // namespace
} // namespace oclcc

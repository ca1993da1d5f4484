// Runs every row of the scenario table on one platform, or on each. Checks the result or the pinned
// error, the path in the report, and that the bundle and the cache are intact.
#include "faults/cache_folder_check.hpp"
#include "faults/scenario_table.hpp"
#include "support/fault_layer.hpp"

#include "base/file_io.hpp"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

namespace clbin::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

base::Bytes bytes_of(const std::filesystem::path& path) {
  return base::read_whole_file(path, 1ULL << 30U).value();
}

bool is_met(Needs needs, const HostPlatform& platform) {
  switch (needs) {
  case Needs::equal_identity:
    return platform.needs_equal_identity();
  case Needs::two_devices:
    return platform.device_count >= 2;
  case Needs::sub_devices: // creating one crashes rusticl 22.3 (doc/drivers.md)
    return platform.name.starts_with("Portable Computing Language");
  case Needs::user_cache:
    return !platform.has_own_cache();
  case Needs::rusticl_22:
    return platform.is_rusticl_22();
  case Needs::oclgrind:
    return platform.name.starts_with("Oclgrind");
  case Needs::any_platform:
    break;
  }
  return true;
}

void expect_warning(const LoadTold& told, const std::string& expected) {
  if (expected.empty()) {
    EXPECT_THAT(told.warnings, IsEmpty());
  } else {
    EXPECT_THAT(told.warnings, ElementsAre(HasSubstr(expected)));
  }
}

void expect_start(const StartRow& row, const HostRun& run) {
  EXPECT_EQ(run.summary(), row.summary) << run.output;
  if (!row.path.empty()) {
    EXPECT_EQ(run.last().path(), row.path) << run.output;
  }
  expect_warning(run.last(), row.warning);
  if (!row.never_called.empty()) {
    EXPECT_THAT(fault_log_lines({row.never_called}), IsEmpty());
  }
}

// The name of the platform's first device, up to a blank, which a fault's rule cannot contain.
std::string first_device(const HostPlatform& platform) {
  const std::string name = platform.name.substr(platform.name.find(" / ") + 3);
  return name.substr(0, name.find(' '));
}

// Wine 8 does not pass on clCompileProgram, so the bundle there has no headers.
std::string on_platform(const std::string& faults, const HostPlatform& platform) {
  const std::string build = std::getenv("CLBIN_TEST_HOST") == nullptr
                                ? "at=clCompileProgram"
                                : "at=clBuildProgram origin=source";
  return std::regex_replace(std::regex_replace(faults, std::regex("at=clCompileProgram"), build),
                            std::regex("FIRST_DEVICE"), first_device(platform));
}

void run_scenario(const Scenario& scenario, const HostPlatform& platform) {
  const auto cache = base::TemporaryFolder::create({}, "clbin-scenario-").value();
  set_faults({}); // makes the bundle on first use, without the faults of a row
  const auto bundle = platform.bundle(scenario.bundle);
  const base::Bytes before = bytes_of(bundle);
  for (std::size_t i = 0; i < scenario.starts.size(); ++i) {
    SCOPED_TRACE("start " + std::to_string(i + 1));
    const StartRow& row = scenario.starts[i];
    set_faults(on_platform(row.faults, platform));
    HostStart start;
    start.arguments = scenario.arguments;
    start.environment = scenario.environment;
    start.environment.emplace("CLBIN_CACHE_DIR", cache.path().string());
    start.kill_at = row.kill_at;
    start.days_later = row.days_later;
    expect_start(row, run_host(platform, bundle, start));
  }
  EXPECT_EQ(bytes_of(bundle), before) << "the bundle was changed";
  expect_whole_cache(cache.path());
}

std::vector<HostPlatform> platforms_of(const Scenario& scenario) {
  std::vector<HostPlatform> platforms = host_platforms();
  std::erase_if(platforms, [&](const auto& it) { return !is_met(scenario.needs, it); });
  if (scenario.platforms == Platforms::one && !platforms.empty()) {
    const auto fastest = std::find_if(platforms.begin(), platforms.end(), [](const auto& it) {
      return it.name.starts_with("Oclgrind");
    });
    return {fastest == platforms.end() ? platforms.front() : *fastest};
  }
  return platforms;
}

void run_all(const std::vector<Scenario>& scenarios) {
  if (host_platforms().empty()) {
    GTEST_SKIP() << "this machine has no OpenCL device";
  }
  std::size_t run_count = 0;
  for (const Scenario& scenario : scenarios) {
    for (const HostPlatform& platform : platforms_of(scenario)) {
      SCOPED_TRACE(platform.name + ": " + scenario.name);
      run_scenario(scenario, platform);
      ++run_count;
    }
  }
  if (run_count == 0) {
    GTEST_SKIP() << "no platform here supports these rows";
  }
}

// PoCL creates as many devices as POCL_DEVICES lists.
class SeveralDevicesTable : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(setenv("POCL_DEVICES", "pthread basic", 1), 0); }
  void TearDown() override { unsetenv("POCL_DEVICES"); }
};

TEST(ScenarioTable, SourceServesWhateverWayTheDriverRefuses) {
  run_all(refusal_scenarios());
}

TEST(ScenarioTable, SourceServesWhereTheIdentityIsAnother) {
  run_all(changed_identity_scenarios());
}

TEST(ScenarioTable, TheCallerGetsThePinnedErrorWhereNothingServes) {
  run_all(error_scenarios());
}

TEST(ScenarioTable, SourceBuildsOrTellsWhy) {
  run_all(source_scenarios());
}

TEST_F(SeveralDevicesTable, EveryDeviceComputesTheRightResult) {
  run_all(several_devices_scenarios());
}

TEST(ScenarioTable, AHostThatLoadingKillsRecoversAfterTwoDeaths) {
  run_all(loading_death_scenarios());
}

TEST(ScenarioTable, QuarantineHoldsAndIsLiftedByItsRules) {
  run_all(quarantine_scenarios());
}

TEST(ScenarioTable, OtherDeathsHoldNothingBack) {
  run_all(other_death_scenarios());
}

TEST(ScenarioTable, WhatWasBuiltIsThereAtTheNextStartOrBuiltAgain) {
  run_all(user_cache_scenarios());
}

TEST(ScenarioTable, APartOfADeviceTakesItsParentsBinary) {
  run_all(sub_device_scenarios());
}

} // namespace
} // namespace clbin::test

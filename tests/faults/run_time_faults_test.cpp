// The faults of the scenario table for source of run time: built with clbin_build, and by a program
// under the layer that does not know of libclbin. The drivers and the store are those of a load, so
// that each fault is injected on one platform.
#include "faults/cache_folder_check.hpp"
#include "faults/host_run.hpp"
#include "faults/mount_namespace.hpp"
#include "faults/scenario_table.hpp"
#include "support/fault_layer.hpp"

#include "base/file_io.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uid_t k_another_user = 12345;
const std::string k_built = "source" + k_right;
const std::string k_hit = "user cache" + k_right;

class RunTimeFaults : public ::testing::TestWithParam<HostWay> {
protected:
  void SetUp() override {
    set_faults("");
    m_platform = fastest_cached_platform();
    if (m_platform == nullptr) {
      GTEST_SKIP() << "no platform here uses the user cache";
    }
    std::ofstream(source()) << "#ifndef TWICE\n#define TWICE 2\n#endif\n"
                               "kernel void twice(global int* a) { a[0] *= TWICE; }\n"
                               "kernel void thrice(global int* a) { a[0] *= 3; }\n";
  }

  [[nodiscard]] fs::path source() const { return m_outside.path() / "numbers.cl"; }
  [[nodiscard]] fs::path folder() const { return m_outside.path() / "cache"; }

  [[nodiscard]] HostStart started(HostStart how = {}) const {
    how.way = GetParam();
    how.environment.emplace("CLBIN_CACHE_DIR", folder().string());
    return how;
  }
  [[nodiscard]] HostRun start(HostStart how = {}) const {
    return run_host(*m_platform, source(), started(std::move(how)));
  }
  void warm() const {
    ASSERT_EQ(start().summary(), k_built);
    ASSERT_EQ(start().summary(), k_hit);
  }
  [[nodiscard]] fs::path only_entry() const {
    for (const auto& item : fs::directory_iterator(folder() / "programs")) {
      if (item.path().extension() == ".clbin") {
        return item.path();
      }
    }
    ADD_FAILURE() << "no entry was stored";
    return {};
  }

  base::TemporaryFolder m_outside =
      base::TemporaryFolder::create({}, "clbin-run-time-faults-").value();
  const HostPlatform* m_platform = nullptr;
};

// Returns whether a scenario of clbin_load is one of a build at run time, too.
bool is_for(HostWay way, const Scenario& scenario, const HostPlatform& platform) {
  const auto& words = scenario.arguments;
  const bool is_policy = std::find(words.begin(), words.end(), "--fallback") != words.end();
  const bool is_other =
      scenario.needs == Needs::rusticl_22 ||
      (scenario.needs == Needs::oclgrind && !platform.name.starts_with("Oclgrind"));
  return !is_other && !(is_policy && way == HostWay::layer);
}

// Upgrades, refusals at create and at build, lost kernels, crashes until quarantine, incomplete
// binaries of the driver, and a cache that is off or full.
TEST_P(RunTimeFaults, EveryStartOfTheUserCachesScenariosIsRight) {
  for (const Scenario& scenario : user_cache_scenarios()) {
    if (!is_for(GetParam(), scenario, *m_platform)) {
      continue;
    }
    SCOPED_TRACE(scenario.name);
    fs::remove_all(folder());
    for (std::size_t i = 0; i < scenario.starts.size(); ++i) {
      SCOPED_TRACE("start " + std::to_string(i + 1));
      set_faults(scenario.starts[i].faults);
      HostStart how;
      how.arguments = scenario.arguments;
      how.environment = scenario.environment;
      const HostRun run = start(how);
      EXPECT_EQ(run.summary(), scenario.starts[i].summary) << run.output;
      if (GetParam() == HostWay::build && !scenario.starts[i].path.empty()) {
        EXPECT_EQ(run.last().path(), scenario.starts[i].path) << run.output;
      }
    }
    expect_whole_cache(folder());
  }
}

TEST_P(RunTimeFaults, AHangThatIsKilledTwiceIsQuarantined) {
  warm();
  const std::string hang = "hang origin=binary at=clCreateProgramWithBinary";
  HostStart killed;
  killed.kill_at = "-> hang";
  for (int death = 0; death < 2; ++death) {
    set_faults(hang); // empties the log
    EXPECT_EQ(start(killed).summary(), "SIGKILL");
  }
  set_faults(hang);
  EXPECT_EQ(start().summary(), k_built);
  EXPECT_THAT(fault_log_lines({"-> hang"}), IsEmpty());
}

TEST_P(RunTimeFaults, ADriverThatCannotBuildFailsAndStoresNothing) {
  set_faults("fail at=clBuildProgram origin=source code=CL_BUILD_PROGRAM_FAILURE log=\"oops\"");
  EXPECT_EQ(start().summary(), GetParam() == HostWay::build ? "CLBIN_ERROR_BUILD_FAILED" : "-11");
  set_faults("crash at=clBuildProgram origin=source signal=SIGABRT");
  for (int death = 0; death < 3; ++death) {
    EXPECT_EQ(start().summary(), "SIGABRT");
  }
  set_faults("");
  warm();
}

TEST_P(RunTimeFaults, ACacheFolderThatCannotBeUsedIsDoneWithout) {
  std::ofstream(folder()) << "mine";
  EXPECT_EQ(start().summary(), k_built);
  EXPECT_EQ(fs::file_size(folder()), 4U);
  fs::remove(folder());
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::all);
  EXPECT_EQ(start().summary(), k_built);
  EXPECT_TRUE(fs::is_empty(folder())) << "other users may write to it";
}

TEST_P(RunTimeFaults, DamagedAndPlantedEntriesAreRemovedAndBuiltAgain) {
  warm();
  const fs::path entry = only_entry();
  const base::Bytes whole = base::read_whole_file(entry, 1U << 30U).value();
  for (const std::size_t size : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    fs::resize_file(entry, size);
    EXPECT_EQ(start().summary(), k_built) << size;
    // The entry contains the build log, which is empty if NVIDIA's driver has built the same
    // before.
    if (!m_platform->name.starts_with("NVIDIA")) {
      EXPECT_EQ(base::read_whole_file(entry, 1U << 30U).value(), whole);
    }
    EXPECT_EQ(start().summary(), k_hit);
  }
  if (geteuid() == 0) {
    ASSERT_EQ(chown(entry.c_str(), k_another_user, k_another_user), 0);
    EXPECT_EQ(start().summary(), k_built);
    EXPECT_EQ(start().summary(), k_hit);
  }
}

TEST_P(RunTimeFaults, AReadOnlyCacheIsReadAndAFullDiskLeavesNoHalfEntry) {
  if (const std::string reason = why_no_mounts(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  warm();
  const auto end = run_in_child([&] {
    enter_mount_namespace();
    mount_read_only(folder());
    EXPECT_EQ(start().summary(), k_hit);
    HostStart other;
    other.arguments = {"--build-options", "-DTWICE=5"};
    EXPECT_EQ(start(other).summary(), "source 105 63");
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
  constexpr std::size_t k_page = 4096;
  for (const std::size_t pages : {1U, 3U, 5U}) {
    const auto full = run_in_child([&] {
      enter_mount_namespace();
      mount_small(folder(), pages * k_page);
      for (int i = 0; i < 2; ++i) {
        const HostRun run = start();
        EXPECT_THAT(run.summary(), AnyOf(k_built, k_hit)) << run.output;
        expect_whole_cache(folder());
      }
      return testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(full, (ChildEnd{0, std::nullopt})) << pages << " pages";
  }
}

// Kills the program at moments after the build, of which some are during the write.
// keyed_store_processes_test.cpp kills it at chosen points of the write.
TEST_P(RunTimeFaults, AProgramThatIsKilledAtAnyTimeLeavesNoHalfEntry) {
  for (int moment = 0; moment < 6; ++moment) {
    SCOPED_TRACE(moment);
    fs::remove_all(folder());
    set_faults("");
    const auto child = start_host(*m_platform, source(), started());
    wait_for_fault(*child, "clBuildProgram origin=source");
    std::this_thread::sleep_for(std::chrono::milliseconds(moment));
    child->kill_it(SIGKILL);
    (void)child->wait();
    EXPECT_THAT(start().summary(), AnyOf(k_built, k_hit));
    EXPECT_EQ(start().summary(), k_hit);
  }
}

TEST_P(RunTimeFaults, SixtyFourProcessesAtOnceGetTheRightProgram) {
  constexpr std::size_t k_processes = 64;
  HostStart how = started();
  how.environment.emplace("OPENCL_LAYERS", GetParam() == HostWay::layer ? CLBIN_LAYER_LIBRARY : "");
  const auto runs = run_hosts(*m_platform, source(), how, k_processes);
  ASSERT_THAT(runs, SizeIs(k_processes));
  for (const HostRun& run : runs) {
    EXPECT_THAT(run.summary(), AnyOf(k_built, k_hit)) << run.output;
  }
  EXPECT_EQ(start().summary(), k_hit);
  expect_whole_cache(folder());
}

INSTANTIATE_TEST_SUITE_P(Ways, RunTimeFaults, ::testing::Values(HostWay::build, HostWay::layer),
                         [](const auto& parameter) {
                           return parameter.param == HostWay::build ? "Build" : "Layer";
                         });

} // namespace
} // namespace clbin::test

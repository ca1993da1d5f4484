// Many processes use one cache folder while another process keeps deleting it.
#include "faults/cache_folder_check.hpp"
#include "faults/host_run.hpp"
#include "support/fault_layer.hpp"

#include "base/file_io.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::size_t k_processes = 64;
constexpr std::size_t k_loads = 50;

TEST(CacheFolderProcesses, LoadRightWhileAnotherDeletesTheFolder) {
  set_faults("");
  const auto& platforms = host_platforms();
  const auto platform = std::find_if(platforms.begin(), platforms.end(),
                                     [](const auto& each) { return !each.has_own_cache(); });
  if (platform == platforms.end()) {
    GTEST_SKIP() << "no platform here uses the user cache";
  }
  const auto outside = base::TemporaryFolder::create({}, "clbin-cache-processes-").value();
  const fs::path folder = outside.path() / "cache";
  const fs::path done = outside.path() / "done";
  ChildProcess deleter([&] {
    while (!fs::exists(done)) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 0;
  });
  HostStart how;
  how.arguments = {"--loads", std::to_string(k_loads)};
  how.environment["CLBIN_CACHE_DIR"] = folder.string();
  how.prepare = [] { unsetenv("OPENCL_LAYERS"); };
  const auto runs = run_hosts(*platform, platform->bundle(BundleKind::source), how, k_processes);
  std::ofstream(done).flush();
  EXPECT_EQ(deleter.wait(), (ChildEnd{0, std::nullopt}));
  std::size_t hits = 0;
  for (const HostRun& run : runs) {
    ASSERT_THAT(run.loads, SizeIs(k_loads)) << run.summary() << "\n" << run.output;
    for (const LoadTold& load : run.loads) {
      EXPECT_THAT(load.outcome, AnyOf("source", "user cache"));
      EXPECT_THAT(load.computed, ElementsAre("42 63"));
      EXPECT_LE(load.warnings.size(), 1U);
      hits += load.outcome == "user cache" ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 0U); // otherwise the folder never existed
  expect_whole_cache(folder);
}

} // namespace
} // namespace clbin::test

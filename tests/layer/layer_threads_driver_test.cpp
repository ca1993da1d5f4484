// An application that builds in 8 threads. With the preset tsan, the application and the layer are
// instrumented, and PoCL is not: a data race of theirs ends the application with status 66.
#include "layer/probe_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> k_scenarios{"eight_threads"};

class LayerThreads : public ::testing::Test {
protected:
  void SetUp() override {
    bare = folder.run("Portable", k_scenarios, {});
    if (bare.has_no_platform()) {
      GTEST_SKIP() << "no PoCL";
    }
    ASSERT_TRUE(bare.is_whole()) << bare.errors;
    std::filesystem::create_directories(recorded());
  }

  [[nodiscard]] std::filesystem::path recorded() const { return folder.path() / "recorded"; }

  [[nodiscard]] ProbeResult run(const Variables& variables) const {
    ProbeResult result = folder.run_under_layer("Portable", k_scenarios, variables);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_EQ(differences(bare.lines, result.lines), "");
    EXPECT_THAT(result.errors, Not(HasSubstr("ThreadSanitizer")));
    return result;
  }

  ProbeFolder folder;
  ProbeResult bare;
};

TEST_F(LayerThreads, BuildWithTheUserCacheOn) {
  EXPECT_EQ(run({{"CLBIN_CACHE_POCL", "1"}}).count_log("built: "), 8U);
}

TEST_F(LayerThreads, AreRecordedAndThenServed) {
  const ProbeResult recording = run({{"CLBIN_LAYER_MODE", "record"},
                                     {"CLBIN_LAYER_RECORD", recorded().string()},
                                     {"CLBIN_LAYER_RECORD_BINARIES", "1"}});
  EXPECT_EQ(recording.count_log("recorded "), 8U);
  const ProbeResult served =
      run({{"CLBIN_LAYER_MODE", "serve"}, {"CLBIN_LAYER_BUNDLES", bundles_of(recorded())}});
  EXPECT_EQ(served.count_log("served from a bundle"), 8U);
}

} // namespace
} // namespace clbin::test

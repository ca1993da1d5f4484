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

class LayerThreads : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    bare = folder.run(GetParam(), k_scenarios, {});
    if (bare.has_no_platform()) {
      GTEST_SKIP() << "no platform '" << GetParam() << "'";
    }
    ASSERT_TRUE(bare.is_whole()) << bare.errors;
    std::filesystem::create_directories(recorded());
  }

  [[nodiscard]] std::filesystem::path recorded() const { return folder.path() / "recorded"; }

  [[nodiscard]] ProbeResult run(const Variables& variables) const {
    ProbeResult result = folder.run_under_layer(GetParam(), k_scenarios, variables);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_EQ(differences(bare.lines, result.lines), "");
    EXPECT_THAT(result.errors, Not(HasSubstr("ThreadSanitizer")));
    return result;
  }

  ProbeFolder folder;
  ProbeResult bare;
};

TEST_P(LayerThreads, BuildWithTheUserCacheOn) {
  const ProbeResult result = run({{"CLBIN_CACHE_POCL", "1"}});
  // On PoCL, a program is stored after its launches, so that it serves no other thread yet.
  const std::size_t served = result.count_log("served from the user cache: ");
  EXPECT_EQ(result.count_log("built: ") + served, 8U);
  EXPECT_TRUE(GetParam() == "NVIDIA" || served == 0) << served;
}

TEST_P(LayerThreads, AreRecordedAndThenServed) {
  const ProbeResult recording = run({{"CLBIN_LAYER_MODE", "record"},
                                     {"CLBIN_LAYER_RECORD", recorded().string()},
                                     {"CLBIN_LAYER_RECORD_BINARIES", "1"}});
  EXPECT_EQ(recording.count_log("recorded "), 8U);
  const ProbeResult served =
      run({{"CLBIN_LAYER_MODE", "serve"}, {"CLBIN_LAYER_BUNDLES", bundles_of(recorded())}});
  EXPECT_EQ(served.count_log("served from a bundle"), 8U);
}

// Other drivers do not stand builds in several threads (doc/drivers.md).
INSTANTIATE_TEST_SUITE_P(Platforms, LayerThreads, ::testing::Values("Portable", "NVIDIA"),
                         [](const auto& parameter) { return parameter.param; });

} // namespace
} // namespace clbin::test

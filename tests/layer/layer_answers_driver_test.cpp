// An application gets the same answers with the layer as without it, whatever serves its programs.
#include "layer/probe_run.hpp"

#include "format/bundle/bundle_reader.hpp"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string_view>

namespace clbin::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class LayerAnswers : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    bare = folder.run(GetParam(), scenarios(), {});
    if (bare.has_no_platform()) {
      GTEST_SKIP() << "no platform '" << GetParam() << "'";
    }
    ASSERT_TRUE(bare.is_whole()) << bare.lines.back() << bare.errors;
  }

  // Empty: all.
  [[nodiscard]] virtual std::vector<std::string> scenarios() const { return {}; }

  void expect_same(const ProbeResult& result) const {
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_EQ(differences(bare.lines, result.lines), "");
    EXPECT_EQ(result.errors.find("libclbin_layer"), std::string::npos) << result.errors;
  }

  [[nodiscard]] bool is_pocl() const { return GetParam() == "Portable"; }
  // Returns whether the probe builds programs for one of several devices, which are parts of a
  // device if the platform has only one. PoCL's context of parts lists the whole device instead, so
  // that the layer passes these builds on, or refuses them.
  [[nodiscard]] bool has_several_devices() const {
    return !is_pocl() && bare.count_lines_of("one_device_after_another") != 0;
  }

  // Returns how many successful builds the layer passes on each time, because one substitute has
  // one set of options for all devices (other_options_for_another_device).
  [[nodiscard]] std::size_t builds_with_options_for_one_device() const {
    // rejected_build_after_a_build: some drivers of several devices accept one that is listed
    // twice.
    const bool is_twice_one_of_several =
        bare.has_line("  a device twice=0") && !bare.has_line("  devices=1");
    return (has_several_devices() ? 1U : 0U) + (is_twice_one_of_several ? 1U : 0U);
  }

  void expect_same_with_a_new_user_cache(const std::string& cache, Variables variables) const {
    variables["CLBIN_CACHE_DIR"] = (folder.path() / cache).string();
    const ProbeResult cold = folder.run_under_layer(GetParam(), {}, variables);
    expect_same(cold);
    EXPECT_GT(cold.count_log("built: "), 10U);
    const ProbeResult warm = folder.run_under_layer(GetParam(), {}, variables);
    expect_same(warm);
    if (is_pocl()) {
      EXPECT_EQ(warm.count_log("served from"), 0U) << "PoCL has a cache of its own";
    } else {
      EXPECT_GT(warm.count_log("served from the user cache"), 10U);
      // rusticl 25 takes specialization constants, which its binaries lose.
      const std::size_t never_cached = warm.count_log("the user cache is not used: a binary of ");
      EXPECT_EQ(never_cached, cold.count_log("the user cache is not used: a binary of "));
      EXPECT_EQ(warm.count_log("built: "), builds_with_options_for_one_device() + never_cached)
          << ::testing::PrintToString(warm.log);
    }
  }

  void expect_same_while_recording() const {
    const auto recorded = folder.path() / "recorded";
    std::filesystem::create_directories(recorded);
    const ProbeResult result = folder.run_under_layer(GetParam(), {},
                                                      {{"CLBIN_LAYER_MODE", "record"},
                                                       {"CLBIN_LAYER_RECORD", recorded.string()},
                                                       {"CLBIN_LAYER_RECORD_BINARIES", "1"}});
    expect_same(result);
    EXPECT_GT(result.count_log("recorded "), 10U);
    EXPECT_EQ(result.count_log("not recorded"),
              result.count_log("not recorded: it has specialization constants"));
    EXPECT_EQ(result.count_log("served"), 0U);
  }

  // Whatever the application launches, and however its launches wait for one another.
  void expect_same_while_recording_data() const {
    const auto recorded = folder.path() / "data";
    std::filesystem::create_directories(recorded);
    expect_same(folder.run_under_layer(GetParam(), {},
                                       {{"CLBIN_LAYER_MODE", "record"},
                                        {"CLBIN_LAYER_RECORD", recorded.string()},
                                        {"CLBIN_LAYER_RECORD_DATA", "1000000"}}));
  }

  ProbeFolder folder;
  ProbeResult bare;
};

// One test, because the answers without the layer take as long as those with it.
TEST_P(LayerAnswers, AreTheSameWithUserCachesAndWhileRecording) {
  {
    SCOPED_TRACE("the machine's ICD loader");
    expect_same_with_a_new_user_cache("clbin", {});
  }
  {
    SCOPED_TRACE("recording");
    expect_same_while_recording();
  }
  {
    SCOPED_TRACE("recording data");
    expect_same_while_recording_data();
  }
  if (!std::filesystem::exists(CLBIN_KHRONOS_LOADER)) {
    GTEST_SKIP() << "no loader of Khronos in " CLBIN_KHRONOS_LOADER;
  }
  SCOPED_TRACE("the newest ICD loader");
  expect_same_with_a_new_user_cache("khronos", {{"LD_LIBRARY_PATH", CLBIN_KHRONOS_LOADER}});
}

class LayerAnswersOfSomeScenarios : public LayerAnswers {
protected:
  [[nodiscard]] std::vector<std::string> scenarios() const override {
    std::vector<std::string> some{"build_and_ask", "several_strings", "counted_zeros",
                                  "counts",        "all_kernels",     "callbacks"};
    if (!is_pocl()) { // whose parts of devices cannot be identified, so that mode strict refuses
                      // them
      some.emplace_back("one_device_after_another");
    }
    return some;
  }
};

// What was recorded then serves every build, and a build that is not recorded fails.
TEST_P(LayerAnswersOfSomeScenarios, AreTheSameFromARecording) {
  const auto recorded = folder.path() / "recorded";
  std::filesystem::create_directories(recorded);
  expect_same(folder.run_under_layer(GetParam(), scenarios(),
                                     {{"CLBIN_LAYER_MODE", "record"},
                                      {"CLBIN_LAYER_RECORD", recorded.string()},
                                      {"CLBIN_LAYER_RECORD_BINARIES", "1"}}));
  const std::string bundles = bundles_of(recorded);
  for (const char* mode : {"serve", "strict"}) {
    folder.forget_driver_caches();
    const ProbeResult served = folder.run_under_layer(
        GetParam(), scenarios(), {{"CLBIN_LAYER_MODE", mode}, {"CLBIN_LAYER_BUNDLES", bundles}});
    expect_same(served);
    EXPECT_EQ(served.count_log("served from a bundle"), has_several_devices() ? 9U : 7U)
        << mode << ::testing::PrintToString(served.log);
    EXPECT_EQ(served.count_log("built: "), 0U) << mode;
  }
  const ProbeResult refused =
      folder.run_under_layer(GetParam(), {"cloned_kernel", "built_again"},
                             {{"CLBIN_LAYER_MODE", "strict"}, {"CLBIN_LAYER_BUNDLES", bundles}});
  EXPECT_THAT(refused.errors, HasSubstr("libclbin_layer: mode 'strict' refuses to build program "));
  EXPECT_THAT(refused.lines, Contains("  build=-11"));
  EXPECT_THAT(refused.lines, Contains("  status=-2"));
  EXPECT_EQ(refused.count_log("built: "), 0U);
}

// "1 64 1 1", "1 64 1 1 offset": number of dimensions, local size, and whether there was an offset,
// of each launch that the probe made.
std::set<std::string> sizes_that_kernels_saw(const ProbeResult& result) {
  constexpr std::string_view k_launched = "  launched 0: ";
  constexpr std::string_view k_wide = " wide";
  std::set<std::string> sizes;
  for (const std::string& line : result.lines) {
    if (line.starts_with(k_launched)) {
      const std::size_t end = line.ends_with(k_wide) ? line.size() - k_wide.size() : line.size();
      sizes.insert(line.substr(k_launched.size(), end - k_launched.size()));
    }
  }
  return sizes;
}

// Of the lines "… sizes DIMENSIONS X Y Z" in a folder, with what follows.
std::set<std::string> recorded_sizes(const std::filesystem::path& folder) {
  std::set<std::string> sizes;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream text(file.path().extension() == ".log" ? file.path() : "/dev/null");
    for (std::string line; std::getline(text, line);) {
      constexpr std::string_view k_sizes = " sizes ";
      if (const std::size_t at = line.find(k_sizes); at != std::string::npos) {
        sizes.insert(line.substr(at + k_sizes.size()));
      }
    }
  }
  return sizes;
}

// The launches that were recorded with their data, "KERNEL GLOBAL LOCAL: KIND:COUNT …".
std::set<std::string> recorded_launches(const std::filesystem::path& folder) {
  std::set<std::string> launches;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".clbin") {
      continue;
    }
    const auto source = base::open_file_source(file.path());
    const auto reader = format::BundleReader::open(source.value());
    EXPECT_TRUE(reader->verify()) << file.path();
    const auto manifest = reader->read_manifest(reader->group(0).value());
    for (format::KnownAnswer answer : manifest->answers) {
      format::ReadBudget budget = reader->budget();
      EXPECT_TRUE(reader->read_data(answer, budget));
      std::string text =
          fmt::format("{} {} {}:", answer.kernel, answer.global_size[0], answer.local_size[0]);
      for (const format::LaunchArgument& argument : answer.arguments) {
        text += fmt::format(" {}{}:{}", argument.is_constant ? "constant " : "",
                            name_of(argument.kind), argument.count);
      }
      launches.insert(std::move(text));
    }
  }
  return launches;
}

std::string omissions(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().filename().string().starts_with("omissions-")) {
      std::ifstream text(file.path());
      all.append(std::istreambuf_iterator<char>(text), {});
    }
  }
  return all;
}

class RecordedData : public ::testing::TestWithParam<std::string> {
protected:
  // Whether the platform is there.
  bool record(const std::vector<std::string>& scenarios, const std::string& limit = "1000000") {
    std::filesystem::create_directories(recorded);
    const ProbeResult result = folder.run_under_layer(GetParam(), scenarios,
                                                      {{"CLBIN_LAYER_MODE", "record"},
                                                       {"CLBIN_LAYER_RECORD", recorded.string()},
                                                       {"CLBIN_LAYER_RECORD_DATA", limit}});
    EXPECT_TRUE(result.has_no_platform() || result.is_whole()) << result.errors;
    return !result.has_no_platform();
  }

  ProbeFolder folder;
  std::filesystem::path recorded = folder.path() / "recorded";
};

TEST_P(RecordedData, AreThoseOfTheFirstLaunchesOfEachKernelAndSize) {
  if (!record({"launches_with_buffers"})) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  EXPECT_THAT(
      recorded_launches(recorded),
      ::testing::ElementsAre(
          "count 1 0: buffer:64 constant buffer:0", "count 17 0: buffer:64 constant buffer:0",
          "count 25 0: buffer:64 constant buffer:0", "count 9 0: buffer:64 constant buffer:0",
          "scale 64 0: buffer:64 constant buffer:64 number:0 local:256"));
  EXPECT_EQ(omissions(recorded), "");
}

TEST_P(RecordedData, IncludeImagesAndSamplers) {
  if (!record({"launches_with_images"})) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  const auto launches = recorded_launches(recorded);
  if (launches.empty()) {
    GTEST_SKIP() << "no images on '" << GetParam() << "'";
  }
  EXPECT_THAT(launches, ::testing::ElementsAre("mirror 4 0: constant image:64 image:64 sampler:0"));
}

TEST_P(RecordedData, AreLeftOutWithAReasonIfTheLaunchCannotBeRepeated) {
  if (!record({"launches_that_are_left_out"})) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  const std::string reasons = omissions(recorded);
  EXPECT_THAT(reasons, HasSubstr("the data of kernel 'add' with 1 work-items: its "
                                 "arguments 0 and 1 are the same memory\n"));
  EXPECT_THAT(reasons, HasSubstr("with 8 work-items: it has a global offset\n"));
}

TEST_P(RecordedData, AreLeftOutBeyondTheLimit) {
  if (!record({"launches_with_buffers"}, "1000")) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  EXPECT_THAT(
      recorded_launches(recorded),
      ::testing::ElementsAre("scale 64 0: buffer:64 constant buffer:64 number:0 local:256"));
  EXPECT_THAT(omissions(recorded),
              HasSubstr("the data of kernel 'count' with 1 work-items: it has 512 bytes "
                        "before and after it, and 232 of the limit are left\n"));
}

TEST_P(RecordedData, OfALaunchThatTheApplicationReleasesLaterAreLeftOut) {
  if (!record({"launch_that_waits"})) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  EXPECT_TRUE(recorded_launches(recorded).empty());
  EXPECT_THAT(omissions(recorded), HasSubstr("the application has yet to complete an event\n"));
}

// Neither does the layer wait for ever, nor does the application wait for each launch.
class RecordedDataOnPocl : public RecordedData {};
TEST_P(RecordedDataOnPocl, BehindALongLaunchAreLeftOut) {
  if (!record({"launch_behind_a_long_one"})) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  EXPECT_TRUE(recorded_launches(recorded).empty());
  EXPECT_THAT(omissions(recorded), HasSubstr("its queue takes longer than 10 seconds; nothing "
                                             "more is recorded\n"));
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecordedDataOnPocl, ::testing::Values("Portable"),
                         [](const auto& parameter) { return parameter.param; });
INSTANTIATE_TEST_SUITE_P(Platforms, RecordedData, ::testing::ValuesIn(k_probed_platforms),
                         [](const auto& parameter) { return parameter.param; });

class LaunchesOfNullSize : public ::testing::TestWithParam<std::string> {
protected:
  void record(const std::string& platform, Variables variables) {
    std::filesystem::create_directories(recorded);
    variables.insert({"CLBIN_LAYER_MODE", "record"});
    variables.insert({"CLBIN_LAYER_RECORD", recorded.string()});
    result = folder.run_under_layer(platform, {"chosen_sizes"}, std::move(variables));
  }

  void expect_all_sizes() const {
    ASSERT_TRUE(result.is_whole()) << result.errors;
    std::set<std::string> expected = sizes_that_kernels_saw(result);
    EXPECT_GT(expected.size(), 3U);
    expected.insert(k_null.begin(), k_null.end());
    EXPECT_EQ(recorded_sizes(recorded), expected);
  }

  const std::set<std::string> k_null{"1 0 0 0", "1 0 0 0 offset", "2 0 0 0", "2 0 0 0 offset",
                                     "3 0 0 0"};
  ProbeFolder folder;
  std::filesystem::path recorded = folder.path() / "recorded";
  ProbeResult result;
};

TEST_P(LaunchesOfNullSize, AreRecordedWithAllSizesThatTheDriverChoseOrWithNone) {
  record(GetParam(), {});
  if (result.has_no_platform()) {
    GTEST_SKIP() << "no platform '" << GetParam() << "'";
  }
  if (GetParam() == "Portable" || recorded_sizes(recorded) != k_null) {
    expect_all_sizes();
  }
}

using LaunchesOnPocl = LaunchesOfNullSize;
TEST_F(LaunchesOnPocl, AreRecordedWithTheSizesThatItsVariablesMakeItChoose) {
  record("Portable", {{"POCL_MAX_WORK_GROUP_SIZE", "64"}, {"POCL_DEVICES", "basic"}});
  if (result.has_no_platform()) {
    GTEST_SKIP() << "no PoCL";
  }
  expect_all_sizes();
  EXPECT_TRUE(result.has_line("  chosen 0: 1 64 1 1"));
}

INSTANTIATE_TEST_SUITE_P(Platforms, LaunchesOfNullSize, ::testing::ValuesIn(k_probed_platforms),
                         [](const auto& parameter) { return parameter.param; });
INSTANTIATE_TEST_SUITE_P(Platforms, LayerAnswersOfSomeScenarios,
                         ::testing::ValuesIn(k_probed_platforms),
                         [](const auto& parameter) { return parameter.param; });
INSTANTIATE_TEST_SUITE_P(Platforms, LayerAnswers, ::testing::ValuesIn(k_probed_platforms),
                         [](const auto& parameter) { return parameter.param; });

} // namespace
} // namespace clbin::test

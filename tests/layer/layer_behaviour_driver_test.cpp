// Configuration, recording and modes of the layer, on drivers.
#include "base/crypto/key_text.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/encryption.hpp"
#include "format/bundle/signatures.hpp"
#include "layer/probe_run.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sys/stat.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LayerBehaviour : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char* name : {"Oclgrind", "NVIDIA"}) { // Oclgrind starts in less time
      platform = name;
      bare = folder.run(platform, {k_scenario}, {});
      if (!bare.has_no_platform()) {
        break;
      }
    }
    if (bare.has_no_platform()) {
      GTEST_SKIP() << "no platform 'Oclgrind' or 'NVIDIA'";
    }
    ASSERT_TRUE(bare.is_whole()) << bare.errors;
  }

  [[nodiscard]] ProbeResult run_with(const std::string& configuration) const {
    const fs::path path = folder.path() / "layer.conf";
    std::ofstream(path) << configuration;
    return folder.run_under_layer(platform, {k_scenario}, {{"CLBIN_LAYER_CONFIG", path.string()}});
  }

  // Builds the kernel `add` with -DSTEP=80 and launches it.
  static constexpr const char* k_scenario = "functions_by_name";

  ProbeFolder folder;
  std::string platform;
  ProbeResult bare;
};

TEST_F(LayerBehaviour, ReplacesTheOptionsOfAProgramWithAKernel) {
  const std::string configuration = "[kernel add]\nreplace-options = -DSTEP=1000\n";
  for (const char* how : {"built: ", "served from the user cache: "}) {
    const ProbeResult result = run_with(configuration);
    EXPECT_THAT(result.lines, Contains("  launch 0: 1013 1014 1015 1016 1017 1018 1019 1020"));
    EXPECT_EQ(result.count_log(how), 1U) << how;
    EXPECT_EQ(result.count_log("'-DSTEP=1000'"), 1U);
  }
  // Another program: what was stored does not serve it.
  EXPECT_EQ(differences(bare.lines, run_with("").lines), "");
}

TEST_F(LayerBehaviour, AppendsToTheOptionsOfAProgramWithADigest) {
  const ProbeResult first = run_with("");
  ASSERT_EQ(first.log.size(), 1U);
  const std::string digest = first.log[0].substr(first.log[0].find("program ") + 8, 12);
  const ProbeResult result =
      run_with(fmt::format("[program {}]\nappend-options = -USTEP -DSTEP=3000\n", digest));
  EXPECT_EQ(result.count_log("'-DSTEP=80 -USTEP -DSTEP=3000'"), 1U);
}

TEST_F(LayerBehaviour, BuildsWithTheApplicationsOptionsIfChangedOnesFail) {
  const ProbeResult result = run_with("[kernel add]\nreplace-options = -DOTHER\n");
  EXPECT_EQ(differences(bare.lines, result.lines), "");
  EXPECT_EQ(
      result.count_log("failed with changed options with CL_BUILD_PROGRAM_FAILURE (-11): program "),
      1U);
}

TEST_F(LayerBehaviour, ReportsAWrongConfigurationOnceWithFileAndLine) {
  const ProbeResult result = run_with("\nmode = fast\nbundles = /nowhere.clbin\n");
  EXPECT_EQ(differences(bare.lines, result.lines), "");
  EXPECT_EQ(result.errors,
            fmt::format("libclbin_layer: {}/layer.conf:2: unknown mode 'fast': expected cache, "
                        "serve, record or strict\n"
                        "libclbin_layer: '/nowhere.clbin' is not used: cannot open "
                        "'/nowhere.clbin': No such file or directory\n",
                        folder.path().string()));
}

TEST_F(LayerBehaviour, ReportsALogThatCannotBeOpened) {
  const ProbeResult result =
      folder.run_under_layer(platform, {k_scenario}, {{"CLBIN_LAYER_LOG", "/nowhere/log"}});
  EXPECT_EQ(differences(bare.lines, result.lines), "");
  EXPECT_EQ(result.errors, "libclbin_layer: cannot open the log '/nowhere/log': No such file or "
                           "directory\n");
}

// A pipe is a file that blocks whoever opens it, until its other end is opened, too.
TEST_F(LayerBehaviour, NeverWaitsForTheOtherEndOfAPipe) {
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [variable, message] :
       Variables{{"CLBIN_LAYER_LOG", "cannot open the log '" + pipe.string() + "': "},
                 {"CLBIN_LAYER_CONFIG", "cannot read '" + pipe.string() + "': not a regular file"},
                 {"CLBIN_LAYER_PUBLIC_KEYS", "not a regular file"},
                 {"CLBIN_LAYER_BUNDLES", "not a regular file"}}) {
    const ProbeResult result = folder.run_under_layer(
        platform, {k_scenario}, {{variable, pipe.string()}}, "timeout --preserve-status 60");
    EXPECT_EQ(result.exit_status, 0) << variable;
    EXPECT_EQ(differences(bare.lines, result.lines), "") << variable;
    EXPECT_THAT(result.errors, HasSubstr(message)) << variable;
  }
}

TEST_F(LayerBehaviour, WritesALogToAPipeThatSomebodyReads) {
  const fs::path script = folder.path() / "reader.bash";
  std::ofstream(script) << "mkfifo $PIPE; exec 3<>$PIPE; \"$@\" || exit; head -n 1 <&3 >&2\n";
  const std::string pipe = (folder.path() / "pipe").string();
  const ProbeResult result =
      folder.run_under_layer(platform, {k_scenario}, {{"CLBIN_LAYER_LOG", pipe}, {"PIPE", pipe}},
                             "bash " + script.string());
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("]: built: "));
}

// The application has not asked for the signal that a report on a pipe without a reader raises.
TEST_F(LayerBehaviour, SurvivesAClosedPipeOnStandardError) {
  const fs::path script = folder.path() / "closed.bash";
  std::ofstream(script) << "mkfifo $PIPE; exec 3<>$PIPE 2>$PIPE 3<&-; exec \"$@\"\n";
  for (const char* const log : {"", "-"}) {
    const ProbeResult result =
        folder.run_under_layer(platform, {k_scenario},
                               {{"CLBIN_LAYER_LOG", log},
                                {"CLBIN_LAYER_MODE", "nonsense"},
                                {"PIPE", (folder.path() / ("pipe" + std::string(log))).string()}},
                               "bash " + script.string());
    EXPECT_EQ(result.exit_status, 0) << "141 is SIGPIPE";
    EXPECT_EQ(differences(bare.lines, result.lines), "");
  }
}

TEST_F(LayerBehaviour, SurvivesTheLimitOfFileSizes) {
  const fs::path script = folder.path() / "limited.bash";
  std::ofstream(script) << "set -o pipefail; (ulimit -f $BLOCKS; exec \"$@\") 2>&1 | cat\n";
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  if (folder.run(platform, {k_scenario}, {{"BLOCKS", "0"}}, "bash " + script.string())
          .exit_status != 0) {
    GTEST_SKIP() << "this driver does not survive the limit without the layer either";
  }
  for (const char* const mode : {"record", "cache"}) {
    const ProbeResult result = folder.run_under_layer(platform, {k_scenario},
                                                      {{"CLBIN_LAYER_MODE", mode},
                                                       {"CLBIN_LAYER_RECORD", recorded.string()},
                                                       {"CLBIN_LAYER_LOG", "-"},
                                                       {"BLOCKS", "0"}},
                                                      "bash " + script.string());
    EXPECT_EQ(result.exit_status, 0) << mode << ": 153 is SIGXFSZ";
    EXPECT_THAT(result.lines, Contains("end")) << mode;
    const bool is_recording = std::string(mode) == "record";
    EXPECT_THAT(result.lines, Contains(HasSubstr(is_recording ? "]: not recorded: cannot write "
                                                              : "]: built: ")));
  }
  for (const auto& file : fs::directory_iterator(recorded)) {
    EXPECT_EQ(fs::file_size(file), 0U) << file.path() << ": a file of launches without a line";
  }
  // The log is such a file, too.
  const ProbeResult log =
      folder.run_under_layer(platform, {k_scenario}, {{"BLOCKS", "0"}}, "bash " + script.string());
  EXPECT_EQ(log.exit_status, 0);
  EXPECT_TRUE(log.log.empty());
}

TEST_F(LayerBehaviour, BuildsIfTheUserCacheCannotBeUsed) {
  for (const char* cache : {"/proc/nowhere", "/dev/null"}) {
    const ProbeResult result =
        folder.run_under_layer(platform, {k_scenario}, {{"CLBIN_CACHE_DIR", cache}});
    EXPECT_EQ(differences(bare.lines, result.lines), "");
    EXPECT_EQ(result.count_log("built: "), 1U) << cache;
  }
}

TEST_F(LayerBehaviour, BuildsAgainIfACacheEntryIsDamaged) {
  ASSERT_EQ(run_with("").count_log("built: "), 1U);
  std::size_t damaged = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder.path() / "clbin")) {
    if (file.is_regular_file() && file.path().extension() == ".clbin") {
      std::ofstream(file.path(), std::ios::trunc) << "damaged";
      ++damaged;
    }
  }
  EXPECT_EQ(damaged, 1U);
  const ProbeResult result = run_with("");
  EXPECT_EQ(differences(bare.lines, result.lines), "");
  EXPECT_EQ(result.count_log("built: "), 1U);
  EXPECT_EQ(run_with("").count_log("served from the user cache: "), 1U);
}

TEST_F(LayerBehaviour, RefusesSeparateCompilationInModeStrict) {
  const ProbeResult result = folder.run_under_layer(platform, {"compiled_after_a_build"},
                                                    {{"CLBIN_LAYER_MODE", "strict"}});
  EXPECT_THAT(result.lines, Contains("  compile=-15"));
  EXPECT_THAT(
      result.errors,
      HasSubstr("': no bundle and no cache serves programs that are compiled separately\n"));
  EXPECT_THAT(result.errors, HasSubstr("mode 'strict' refuses to compile program "));
}

// The log, standard error and the build log give the same reason, and the kernel's name.
TEST_F(LayerBehaviour, SaysInModeStrictWhyItRefuses) {
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  (void)folder.run_under_layer(
      platform, {"many_launches"},
      {{"CLBIN_LAYER_MODE", "record"}, {"CLBIN_LAYER_RECORD", recorded.string()}});
  const struct {
    Variables variables;
    std::string reason;
    std::string end;
  } cases[] = {
      {{}, "not in the user cache", ""},
      {{{"CLBIN_CACHE", "0"}}, "the user cache is off: CLBIN_CACHE is 0", ""},
      {{{"CLBIN_LAYER_BUNDLES", bundles_of(recorded)}, {"CLBIN_CACHE", "0"}},
       "no bundle contains it with these options; the user cache is off: CLBIN_CACHE is 0; '",
       "': its program (kernel 'add') differs in option: '-DSTEP=96' before, '-DSTEP=98' now"},
  };
  for (const auto& [variables, reason, end] : cases) {
    Variables strict = variables;
    strict["CLBIN_LAYER_MODE"] = "strict";
    const ProbeResult result = folder.run_under_layer(platform, {"refused_build"}, strict);
    ASSERT_EQ(result.log.size(), 1U);
    const std::size_t begin = result.log[0].find("program ");
    const std::string text = result.log[0].substr(begin);
    EXPECT_THAT(
        result.log[0],
        StartsWith("refused by mode 'strict' with CL_BUILD_PROGRAM_FAILURE (-11): program "));
    EXPECT_THAT(text, HasSubstr(" (kernel 'add') with options '-DSTEP=98' for '"));
    EXPECT_THAT(text, HasSubstr("': " + reason));
    EXPECT_THAT(text, EndsWith(end.empty() ? reason : end));
    EXPECT_EQ(result.errors, "libclbin_layer: mode 'strict' refuses to build " + text + "\n");
    EXPECT_THAT(result.lines,
                Contains("  log=libclbin_layer: mode 'strict' refuses to build " + text));
  }
}

TEST_F(LayerBehaviour, SaysWhyABuildWasNotServedAndNamesItsKernel) {
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  const ProbeResult recording = folder.run_under_layer(
      platform, {"many_launches"},
      {{"CLBIN_LAYER_MODE", "record"}, {"CLBIN_LAYER_RECORD", recorded.string()}});
  EXPECT_THAT(recording.log, Contains(AllOf(StartsWith("recorded "), EndsWith(" (kernel 'add')"))));
  const ProbeResult served = folder.run_under_layer(
      platform, {k_scenario},
      {{"CLBIN_LAYER_MODE", "serve"}, {"CLBIN_LAYER_BUNDLES", bundles_of(recorded)}});
  EXPECT_THAT(served.log,
              ElementsAre(AllOf(HasSubstr(" (kernel 'add') with options '-DSTEP=80' for "),
                                HasSubstr("no bundle contains it with these options"))));
}

TEST_F(LayerBehaviour, RecordsThatAnApplicationLinksPrograms) {
  const auto has_note_of = [&](const char* scenario) {
    const fs::path recorded = folder.path() / scenario;
    fs::create_directories(recorded);
    (void)folder.run_under_layer(
        platform, {scenario},
        {{"CLBIN_LAYER_MODE", "record"}, {"CLBIN_LAYER_RECORD", recorded.string()}});
    return std::any_of(fs::directory_iterator(recorded), fs::directory_iterator(),
                       [](const fs::directory_entry& file) {
                         return file.path().filename().string().starts_with("links-");
                       });
  };
  EXPECT_TRUE(has_note_of("linked_after_a_build"));
  EXPECT_FALSE(has_note_of("many_launches"));
}

TEST_F(LayerBehaviour, SaysWhyASourceWithAZeroByteWithinItIsNotServed) {
  for (const char* mode : {"cache", "strict"}) {
    const ProbeResult result =
        folder.run_under_layer(platform, {"zero_within"}, {{"CLBIN_LAYER_MODE", mode}});
    EXPECT_THAT(result.log, Contains(EndsWith("': source:2: it contains a zero byte")));
  }
}

TEST_F(LayerBehaviour, LeavesAValidRecordingIfTheApplicationIsKilled) {
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  const ProbeResult result = folder.run_under_layer(
      platform, {k_scenario, "killed"},
      {{"CLBIN_LAYER_MODE", "record"}, {"CLBIN_LAYER_RECORD", recorded.string()}});
  EXPECT_EQ(result.exit_status, 128 + 9);
  std::size_t bundles = 0;
  std::string launches;
  for (const auto& file : fs::directory_iterator(recorded)) {
    if (file.path().extension() == ".clbin") {
      const auto source = base::open_file_source(file.path());
      ASSERT_TRUE(source.has_value());
      const auto bundle = format::BundleReader::open(*source, {}, format::TrailingBytes::refuse);
      EXPECT_TRUE(bundle.has_value());
      ++bundles;
    } else if (file.path().filename().string().starts_with("launches-")) {
      std::ifstream text(file.path());
      launches.assign(std::istreambuf_iterator<char>(text), {});
    }
  }
  EXPECT_EQ(bundles, 2U);
  // A driver that answers which size it chooses for NULL adds a line.
  EXPECT_GE(std::count(launches.begin(), launches.end(), '\n'), 2);
  EXPECT_THAT(launches, HasSubstr(" add 1 0 0 0\n"));
  EXPECT_THAT(launches, HasSubstr(" twice 1 4 1 1\n"));
}

TEST_F(LayerBehaviour, RecordsWithoutSourceIfAsked) {
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  (void)folder.run_under_layer(platform, {k_scenario},
                               {{"CLBIN_LAYER_MODE", "record"},
                                {"CLBIN_LAYER_RECORD", recorded.string()},
                                {"CLBIN_LAYER_RECORD_SOURCE", "0"}});
  std::size_t bundles = 0;
  for (const auto& file : fs::directory_iterator(recorded)) {
    if (file.path().extension() == ".clbin") {
      const auto source = base::open_file_source(file.path());
      ASSERT_TRUE(source.has_value());
      const auto bundle = format::BundleReader::open(*source, {}, format::TrailingBytes::refuse);
      ASSERT_TRUE(bundle.has_value());
      const auto group = bundle->group(0);
      ASSERT_TRUE(group.has_value());
      EXPECT_EQ(group->source_blob, format::k_no_index);
      ++bundles;
    }
  }
  EXPECT_EQ(bundles, 1U);
}

// The fault-injecting layer (faults/fault_scenario.hpp) lies between the layer and the driver.
class LayerFaults : public LayerBehaviour {
protected:
  [[nodiscard]] ProbeResult run_with_faults(const std::string& scenario) const {
    const fs::path path = folder.path() / "scenario";
    std::ofstream(path) << scenario;
    return folder.run_under_layer(
        platform, {k_scenario},
        {{"OPENCL_LAYERS", CLBIN_FAULT_LAYER_LIBRARY ":" CLBIN_LAYER_LIBRARY},
         {"CLBIN_FAULTS", path.string()}});
  }

  // How often the layers and the application call a function of the driver.
  [[nodiscard]] std::size_t count_calls(const std::string& function,
                                        const std::vector<std::string>& scenarios,
                                        Variables variables) const {
    const fs::path log = folder.path() / "calls";
    fs::remove(log);
    variables["OPENCL_LAYERS"] = CLBIN_FAULT_LAYER_LIBRARY ":" CLBIN_LAYER_LIBRARY;
    variables["CLBIN_FAULTS_LOG"] = log.string();
    EXPECT_TRUE(folder.run_under_layer(platform, scenarios, variables).is_whole());
    std::ifstream file(log);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      count += line.find(" " + function + " ") == std::string::npos ? 0U : 1U;
    }
    return count;
  }
};

TEST_F(LayerFaults, PreparesAProgramOnceIfItsDriverIsNotPocl) {
  const Variables off{{"CLBIN_CACHE", "0"}};
  const Variables on{{"CLBIN_CACHE", "0"}, {"CLBIN_CACHE_POCL", "1"}};
  const std::size_t without = count_calls("clGetDeviceInfo", {"many_launches"}, off);
  EXPECT_GT(without, 0U);
  EXPECT_EQ(count_calls("clGetDeviceInfo", {"many_launches"}, on), without);
}

TEST_F(LayerFaults, BuildsIfTheDriverRefusesWhatIsStored) {
  ASSERT_EQ(run_with_faults("").count_log("built: "), 1U);
  ASSERT_EQ(run_with_faults("").count_log("served from the user cache: "), 1U);
  for (const char* fault : {"refuse style=honest code=CL_INVALID_BINARY",
                            "refuse style=null-success code=CL_INVALID_BINARY",
                            "refuse style=program-with-error code=CL_INVALID_BINARY",
                            "fail at=clCreateProgramWithBinary code=CL_OUT_OF_HOST_MEMORY",
                            "fail at=clBuildProgram origin=binary code=CL_BUILD_PROGRAM_FAILURE",
                            "lose-kernel kernel=add origin=binary"}) {
    const ProbeResult result = run_with_faults(fault);
    EXPECT_EQ(differences(bare.lines, result.lines), "") << fault << result.errors;
    EXPECT_EQ(result.count_log("built: "), 1U) << fault;
    EXPECT_EQ(result.count_log("served"), 0U) << fault;
  }
}

TEST_F(LayerFaults, RefusesInModeStrictWhatCannotBeIdentified) {
  const fs::path path = folder.path() / "scenario";
  const std::array<std::array<const char*, 2>, 2> faults{
      {{"fail at=clGetContextInfo code=CL_OUT_OF_HOST_MEMORY",
        "the driver does not list the devices of the context"},
       {"fail at=clGetDeviceInfo code=CL_OUT_OF_HOST_MEMORY", "CL_OUT_OF_HOST_MEMORY"}}};
  for (const auto& [fault, why] : faults) {
    std::ofstream(path) << fault;
    const ProbeResult result = folder.run_under_layer(
        platform, {"odd_calls"},
        {{"CLBIN_LAYER_MODE", "strict"},
         {"OPENCL_LAYERS", CLBIN_FAULT_LAYER_LIBRARY ":" CLBIN_LAYER_LIBRARY},
         {"CLBIN_FAULTS", path.string()}});
    EXPECT_THAT(result.lines, Contains("  a device twice=-11")) << fault;
    const std::string reason = "a program (kernel 'add') that cannot be identified: ";
    EXPECT_THAT(result.errors, HasSubstr("mode 'strict' refuses to build " + reason));
    EXPECT_THAT(result.errors, HasSubstr(why));
    EXPECT_EQ(
        result.count_log("refused by mode 'strict' with CL_BUILD_PROGRAM_FAILURE (-11): " + reason),
        1U)
        << fault;
  }
}

// The fault layer counts the calls that reach the driver.
TEST_F(LayerFaults, BuildsNothingInModeStrictWhateverTheArguments) {
  const Variables strict{{"CLBIN_LAYER_MODE", "strict"}};
  EXPECT_EQ(count_calls("clBuildProgram", {"odd_calls"}, strict), 0U);
  EXPECT_EQ(count_calls("clLinkProgram", {"odd_calls"}, strict), 0U);
  const ProbeResult stored = folder.run_under_layer(platform, {"device_twice"}, {});
  const ProbeResult served = folder.run_under_layer(platform, {"odd_calls"}, strict);
  EXPECT_THAT(served.lines, Contains("  link=-59"));
  EXPECT_THAT(served.errors,
              HasSubstr("mode 'strict' refuses to link a program (kernel 'add'): no bundle and no "
                        "cache serves programs that are linked\n"));
  EXPECT_EQ(served.count_log("refused by mode 'strict' with CL_INVALID_VALUE (-30): a program "
                             "(kernel 'add'): OpenCL does not allow these arguments"),
            1U);
  // NVIDIA's driver rejects a list with a device twice.
  if (std::find(stored.lines.begin(), stored.lines.end(), "  a device twice=0") !=
      stored.lines.end()) {
    EXPECT_EQ(served.count_log("served from the user cache"), 1U);
    EXPECT_THAT(served.lines, Contains("  a device twice=0"));
    EXPECT_EQ(count_calls("clBuildProgram", {"odd_calls"}, strict), 1U) << "of the binary";
  }
  EXPECT_EQ(count_calls("clLinkProgram", {"odd_calls"}, strict), 0U);
}

TEST_F(LayerFaults, BuildsAfterADriverUpdate) {
  ASSERT_EQ(run_with_faults("").count_log("built: "), 1U);
  const ProbeResult result =
      run_with_faults("answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=\"99.0\"");
  EXPECT_EQ(differences(bare.lines, result.lines), "") << result.errors;
  EXPECT_EQ(result.count_log("built: "), 1U);
}

TEST_F(LayerFaults, BuildsAfterTwoCrashesOfTheDriver) {
  ASSERT_EQ(run_with_faults("").count_log("built: "), 1U);
  for (int death = 0; death < 2; ++death) {
    EXPECT_NE(run_with_faults("crash at=clCreateProgramWithBinary").exit_status, 0);
  }
  const ProbeResult result = run_with_faults("crash at=clCreateProgramWithBinary");
  EXPECT_EQ(differences(bare.lines, result.lines), "") << result.errors;
  EXPECT_EQ(result.count_log("built: "), 1U);
}

// With a bundle that an earlier run recorded.
class LayerSignatures : public LayerBehaviour {
protected:
  void SetUp() override {
    LayerBehaviour::SetUp();
    if (IsSkipped()) {
      return;
    }
    const fs::path recorded = folder.path() / "recorded";
    fs::create_directories(recorded);
    (void)folder.run_under_layer(platform, {k_scenario},
                                 {{"CLBIN_LAYER_MODE", "record"},
                                  {"CLBIN_LAYER_RECORD", recorded.string()},
                                  {"CLBIN_LAYER_RECORD_BINARIES", "1"}});
    for (const auto& file : fs::directory_iterator(recorded)) {
      if (file.path().extension() == ".clbin") {
        bundle = file.path();
      }
    }
    ASSERT_FALSE(bundle.empty());
    std::ofstream(key_file) << base::minisign_public_key_file({{}, key.public_key()});
  }

  void sign_bundle() const {
    const base::Bytes bytes = base::read_whole_file(bundle, 1U << 24U).value();
    const auto opened =
        format::BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
    const auto record = to_trailing_record(format::sign_root(opened.value().root_digest(), key));
    ASSERT_TRUE(
        base::write_output_file(bundle, format::with_trailing_records(bytes, {record}).value())
            .has_value());
  }

  [[nodiscard]] ProbeResult run_with_keys(Variables variables = {}) const {
    variables.insert({"CLBIN_LAYER_PUBLIC_KEYS", key_file.string()});
    variables.insert({"CLBIN_LAYER_BUNDLES", bundle.string()});
    return folder.run_under_layer(platform, {k_scenario}, variables);
  }

  base::SecretKey key = base::SecretKey::from_seed(std::array<std::byte, 32>{std::byte{1}});
  fs::path key_file = folder.path() / "key.pub";
  fs::path bundle;
};

TEST_F(LayerSignatures, ServeASignedBundleAndNoOther) {
  for (int run = 0; run < 2; ++run) { // the second finds nothing in the user cache either
    const ProbeResult refused = run_with_keys();
    EXPECT_THAT(refused.errors, HasSubstr("'" + bundle.string() +
                                          "' is not used: a signature is required, and the "
                                          "bundle has none"));
    EXPECT_EQ(refused.count_log("built: "), 1U);
    EXPECT_EQ(differences(bare.lines, refused.lines), "");
  }
  sign_bundle();
  const ProbeResult served = run_with_keys();
  EXPECT_EQ(served.errors, "");
  EXPECT_EQ(served.count_log("served from a bundle"), 1U);
  EXPECT_EQ(differences(bare.lines, served.lines), "");
  const ProbeResult old = run_with_keys({{"CLBIN_LAYER_LEAST_COUNTER", "1"}});
  EXPECT_THAT(old.errors, HasSubstr("the bundle has no counter by a trusted key"));
  EXPECT_EQ(old.count_log("served"), 0U);
}

TEST_F(LayerSignatures, ServeNothingIfTheConfigurationIsNotUnderstood) {
  const fs::path typo = folder.path() / "typo.conf";
  std::ofstream(typo) << "public_keys = " << key_file.string() << "\n";
  const Variables unsigned_bundle{{"CLBIN_LAYER_BUNDLES", bundle.string()}};
  ASSERT_EQ(folder.run_under_layer(platform, {k_scenario}, unsigned_bundle).count_log("served"),
            1U);
  ASSERT_EQ(folder.run_under_layer(platform, {k_scenario}, {}).count_log("built: "), 1U);
  const fs::path hidden = folder.path() / "hidden.conf";
  std::ofstream(hidden) << "# settings\rpublic-keys = " << key_file.string() << "\rmode = strict\r";
  for (const std::string& file :
       {std::string("/nowhere.conf"), typo.string(), hidden.string(), std::string("/dev/null")}) {
    Variables variables = unsigned_bundle;
    variables["CLBIN_LAYER_CONFIG"] = file;
    const ProbeResult closed = folder.run_under_layer(platform, {k_scenario}, variables);
    EXPECT_THAT(closed.errors, HasSubstr("no bundle is trusted and the user cache is not used: "));
    EXPECT_EQ(closed.count_log("built: "), 1U) << file;
    EXPECT_EQ(differences(bare.lines, closed.lines), "");
  }
}

TEST_F(LayerSignatures, UseTheUserCacheOnlyIfAsked) {
  const Variables variables{{"CLBIN_LAYER_UNSIGNED", "1"}};
  EXPECT_EQ(run_with_keys(variables).count_log("built: "), 1U);
  EXPECT_EQ(run_with_keys(variables).count_log("served from the user cache: "), 1U);
  EXPECT_EQ(run_with_keys().count_log("built: "), 1U);
}

TEST_F(LayerSignatures, RefuseBuildsInModeStrict) {
  const ProbeResult result = run_with_keys({{"CLBIN_LAYER_MODE", "strict"}});
  EXPECT_EQ(result.count_log("refused"), 1U);
  EXPECT_NE(differences(bare.lines, result.lines), "");
}

TEST_F(LayerSignatures, ServeNoEncryptedBundle) {
  const base::Bytes bytes = base::read_whole_file(bundle, 1U << 24U).value();
  const auto plain =
      format::BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
  const std::array inputs{&plain.value()};
  const auto encryption = format::encryption_with(base::ContentKey::generate());
  const auto encrypted = format::merge_bundles(inputs, &encryption);
  ASSERT_TRUE(encrypted.has_value()) << encrypted.error().message;
  ASSERT_TRUE(base::write_output_file(bundle, *encrypted).has_value());
  sign_bundle();
  const ProbeResult result = run_with_keys();
  EXPECT_EQ(result.errors, "libclbin_layer: '" + bundle.string() +
                               "' is not used: it is encrypted, and the layer has no key\n");
  EXPECT_EQ(result.count_log("built: "), 1U);
  EXPECT_EQ(differences(bare.lines, result.lines), "");
}

// In a container in which PoCL's own cache does not last.
TEST(LayerOnPocl, StoresAProgramAfterItsLaunchesIfAsked) {
  const ProbeFolder folder;
  const std::vector<std::string> scenarios{"build_and_ask", "counts", "all_kernels"};
  const ProbeResult bare = folder.run("Portable", scenarios, {});
  if (bare.has_no_platform()) {
    GTEST_SKIP() << "no PoCL";
  }
  const Variables variables{{"CLBIN_CACHE_POCL", "1"}};
  const ProbeResult cold = folder.run_under_layer("Portable", scenarios, variables);
  EXPECT_EQ(differences(bare.lines, cold.lines), "");
  EXPECT_EQ(cold.count_log("built: "), 3U);
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), 2U); // build_and_ask and counts
  EXPECT_EQ(cold.count_log("replaced what was kept after 2 launches: "), 1U); // build_and_ask
  folder.forget_driver_caches();
  const ProbeResult warm = folder.run_under_layer("Portable", scenarios, variables);
  EXPECT_EQ(differences(bare.lines, warm.lines), "");
  EXPECT_EQ(warm.count_log("served from the user cache: "), 2U);
  EXPECT_EQ(warm.count_log("built: "), 1U) << "all_kernels launches nothing";
}

// One application after another, in a container in which only the user cache lasts.
class LayerOnPoclAlone : public ::testing::Test {
protected:
  [[nodiscard]] ProbeResult run(const std::string& scenario) const {
    folder.forget_driver_caches();
    const ProbeResult result =
        folder.run_under_layer("Portable", {scenario}, {{"CLBIN_CACHE_POCL", "1"}});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result;
  }
  [[nodiscard]] bool has_pocl() const {
    return !folder.run("Portable", {"no scenario"}, {}).has_no_platform();
  }

  ProbeFolder folder;
};

TEST_F(LayerOnPoclAlone, StoresAProgramThatTheApplicationNeverReleases) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult bare = folder.run("Portable", {"kept_programs"}, {});
  const ProbeResult cold = run("kept_programs");
  EXPECT_EQ(differences(bare.lines, cold.lines), "");
  EXPECT_EQ(cold.count_log("built: "), 1U);
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), 1U);
  EXPECT_EQ(cold.count_log("replaced what was kept after 2 launches: "), 1U);
  EXPECT_EQ(cold.log.size(), 3U) << "stored no more: " << ::testing::PrintToString(cold.log);
  const ProbeResult warm = run("kept_programs");
  EXPECT_EQ(differences(bare.lines, warm.lines), "");
  EXPECT_EQ(warm.count_log("served from the user cache: "), 1U);
  EXPECT_EQ(warm.log.size(), 1U) << ::testing::PrintToString(warm.log);
}

TEST_F(LayerOnPoclAlone, StoresEachProgramOnceThoughThreadsUseThem) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult cold = run("kept_programs_in_threads");
  EXPECT_TRUE(cold.is_whole()) << cold.errors;
  // One of the four threads builds what all share; the others may find it in the cache.
  const std::size_t built = cold.count_log("built: ");
  EXPECT_GE(built, 5U);
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), built);
  EXPECT_EQ(cold.count_log("replaced"), 0U);
  const ProbeResult warm = run("kept_programs_in_threads");
  EXPECT_EQ(warm.count_log("served from the user cache: "), 8U);
  EXPECT_EQ(warm.log.size(), 8U) << ::testing::PrintToString(warm.log);
}

// PoCL aborts the process if it is asked for a binary then (doc/drivers.md).
TEST_F(LayerOnPoclAlone, StoresNothingWhileAKernelRuns) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult cold = run("kept_while_running");
  EXPECT_TRUE(cold.is_whole()) << cold.errors;
  EXPECT_EQ(cold.count_log("built: "), 2U);
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), 1U) << ::testing::PrintToString(cold.log);
  EXPECT_EQ(cold.count_log("kept after 2 launches: "), 1U) << ::testing::PrintToString(cold.log);
  EXPECT_EQ(run("kept_while_running").count_log("served from the user cache: "), 2U);
}

TEST_F(LayerOnPoclAlone, StoresNothingBetweenLaunchesThatRun) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult cold = run("repeated_without_waits");
  EXPECT_TRUE(cold.is_whole()) << cold.errors;
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), 1U) << ::testing::PrintToString(cold.log);
}

TEST_F(LayerOnPoclAlone, StoresNothingIfTheApplicationMayEnqueueCommandBuffers) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult cold = run("asks_for_command_buffers");
  if (!cold.has_line("  command buffers=1")) {
    GTEST_SKIP() << "PoCL has no command buffers";
  }
  EXPECT_TRUE(cold.is_whole()) << cold.errors;
  EXPECT_EQ(cold.count_log("built: "), 1U);
  EXPECT_EQ(cold.log.size(), 1U) << ::testing::PrintToString(cold.log);
}

TEST_F(LayerOnPoclAlone, FinishesWhatItStoresBeforeTheProcessEnds) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult cold = run("exit_while_waiting");
  EXPECT_TRUE(cold.is_whole()) << cold.errors;
  EXPECT_EQ(cold.count_log("kept after 1 launches: "), 1U) << ::testing::PrintToString(cold.log);
  EXPECT_EQ(run("exit_while_waiting").count_log("served from the user cache: "), 1U);
}

TEST_F(LayerOnPoclAlone, StoresNothingEarlyIfPoclHasNoCache) {
  if (!has_pocl()) {
    GTEST_SKIP() << "no PoCL";
  }
  const ProbeResult result = folder.run_under_layer(
      "Portable", {"kept_programs"}, {{"CLBIN_CACHE_POCL", "1"}, {"POCL_KERNEL_CACHE", "0"}});
  EXPECT_EQ(result.count_log("built: "), 1U);
  EXPECT_EQ(result.log.size(), 1U) << ::testing::PrintToString(result.log);
}

// Sizes that PoCL chooses itself are as different as those that an application passes.
TEST(LayerOnPocl, StoresTheCodeForAllSizesThatPoclChose) {
  const ProbeFolder folder;
  const Variables variables{{"CLBIN_CACHE_POCL", "1"}};
  const ProbeResult cold = folder.run_under_layer("Portable", {"chosen_sizes"}, variables);
  if (cold.has_no_platform()) {
    GTEST_SKIP() << "no PoCL";
  }
  std::set<std::string> sizes;
  for (const std::string& line : cold.lines) {
    if (line.starts_with("  launched 0: ")) {
      sizes.insert(line);
    }
  }
  EXPECT_GT(sizes.size(), 3U);
  EXPECT_EQ(cold.count_log(fmt::format("kept after {} launches: ", sizes.size())), 1U)
      << ::testing::PrintToString(cold.log);
}

// PoCL shows one CPU as two devices.
TEST(LayerWithSeveralDevices, AnswersAsWithoutTheLayer) {
  const ProbeFolder folder;
  const std::vector<std::string> scenarios{"build_and_ask", "one_of_the_devices", "all_kernels",
                                           "binaries"};
  Variables variables{{"POCL_DEVICES", "basic basic"}};
  const ProbeResult bare = folder.run("Portable", scenarios, variables);
  if (bare.has_no_platform()) {
    GTEST_SKIP() << "no PoCL";
  }
  EXPECT_THAT(bare.lines, Contains("  devices=2"));
  const fs::path recorded = folder.path() / "recorded";
  fs::create_directories(recorded);
  variables.insert({"CLBIN_LAYER_MODE", "record"});
  variables.insert({"CLBIN_LAYER_RECORD", recorded.string()});
  variables.insert({"CLBIN_LAYER_RECORD_BINARIES", "1"});
  const ProbeResult recording = folder.run_under_layer("Portable", scenarios, variables);
  EXPECT_EQ(differences(bare.lines, recording.lines), "");
  const std::string bundles = bundles_of(recorded);
  variables["CLBIN_LAYER_MODE"] = "serve";
  variables["CLBIN_LAYER_BUNDLES"] = bundles;
  folder.forget_driver_caches();
  const ProbeResult served = folder.run_under_layer("Portable", scenarios, variables);
  // PoCL 3.1 returns the binary of a build for the second device as that of the first, so that
  // nothing is recorded of it, and the driver builds it. PoCL says of the other device that it was
  // built, too, which the layer does not repeat of a program that it serves (PoCL 6).
  const bool is_each_recorded = recording.count_log("no binary is recorded: ") == 0;
  EXPECT_EQ(differences(bare.lines, served.lines),
            is_each_recorded ? "one_of_the_devices: '  status=0' is '  status=-1'\n"
                               "one_of_the_devices: '  options=-DSTEP=9' is '  options='\n"
                               "one_of_the_devices: '  type=4' is '  type=0'\n"
                             : "");
  EXPECT_EQ(served.count_log("served from a bundle"), is_each_recorded ? 4U : 3U);
  EXPECT_EQ(served.count_log("built: "), is_each_recorded ? 0U : 1U);
}

} // namespace
} // namespace clbin::test

#include "command_line/modes.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"
#include "worker/worker_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using ::testing::HasSubstr;

struct ListOutcome {
  ExitCode code = ExitCode::success;
  std::string text;
  std::string messages;
};

ListOutcome run(const std::string& mode, const Options& options) {
  const worker::WorkerSettings settings = stub_settings(mode);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Reporter reporter(ColorMode::never, options.verbosity);
  ListOutcome outcome;
  const clbin::cache::ProcessEnvironment environment = clbin::cache::this_process();
  outcome.code = report_result(list_devices(options, {reporter, settings, environment}), reporter);
  outcome.text = testing::internal::GetCapturedStdout();
  outcome.messages = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(ListDevices, PrintsOneAlignedLineADevice) {
  const ListOutcome outcome = run("nvidia", {});
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_EQ(outcome.text, "0:0  cpu  Oclgrind     Stub A  1\n"
                          "0:1  cpu  Oclgrind     Stub B  1\n"
                          "1:0  cpu  NVIDIA CUDA  Stub C  1\n");
}

TEST(ListDevices, PrintsTheChosenDevicesOnly) {
  Options options;
  options.device_patterns = {"cuda"};
  EXPECT_EQ(run("nvidia", options).text, "1:0  cpu  NVIDIA CUDA  Stub C  1\n");
  options.device_patterns = {"radeon"};
  const ListOutcome outcome = run("nvidia", options);
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.text, "");
  EXPECT_THAT(outcome.messages, HasSubstr("no device matches 'radeon'; there are 0:0 'Stub A'"));
}

TEST(ListDevices, PrintsTheWholeTableWhenVerbose) {
  Options options;
  options.verbosity = Verbosity::verbose;
  options.device_patterns = {"0:0"};
  EXPECT_EQ(run("devices", options).text, "0:0  Stub A\n"
                                          "    platform       Oclgrind\n"
                                          "    library        /stub/first.so\n"
                                          "    global memory  16 GiB\n"
                                          "    extensions     cl_khr_fp64\n");
}

TEST(ListDevices, PrintsJson) {
  Options options;
  options.list_format = ListFormat::json;
  options.device_patterns = {"0:1"};
  const ListOutcome outcome = run("devices", options);
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.text, R"({
  "devices": [
    {
      "address_bits": 0,
      "architecture": "",
      "compiler_available": true,
      "device_index": 1,
      "device_name": "Stub B",
      "device_version": "",
      "driver_version": "1",
      "id": "0:1",
      "il_versions": [],
      "opencl_c_versions": [],
      "platform_index": 0,
      "platform_name": "Oclgrind",
      "platform_version": "",
      "properties": {
        "extensions": "cl_khr_fp64",
        "global memory": "16 GiB"
      },
      "type": "cpu",
      "vendor": "",
      "vendor_id": 0
    }
  ],
  "version": 1
}
)");
}

TEST(ListDevices, TellsALoaderThatIsMissingFromADriverThatIs) {
  ListOutcome outcome = run("no-opencl", {});
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages, "oclcc: error: no OpenCL loader here\n");
  outcome = run("no-devices", {});
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: no OpenCL device found; install a driver: your GPU vendor's, or "
            "pocl-opencl-icd for the CPU\n");
}

TEST(ListDevices, SurvivesADriverThatCrashes) {
  const ListOutcome outcome = run("crash", {});
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_THAT(outcome.messages, HasSubstr("crashed (signal 11); it printed: no such GPU"));
}

} // namespace
} // namespace oclcc

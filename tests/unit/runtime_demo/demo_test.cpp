// Runs the demo with a small bundle that oclcc makes for the devices of this machine.
#include "command.hpp"
#include "support/project_folders.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runtime_demo::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Demo : public ::testing::Test {
protected:
  void SetUp() override {
    const CommandEnd made =
        run_command(fmt::format("{} {}/transpose.cl -o {}", OCLCC,
                                clbin::test::kernels_folder().string(), bundle().string()));
    if (made.exit_code == k_no_device) {
      GTEST_SKIP() << made.errors;
    }
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }

  [[nodiscard]] std::filesystem::path bundle() const { return m_folder.path() / "transpose.clbin"; }

  [[nodiscard]] CommandEnd demo(const std::string& arguments,
                                const std::string& environment = "") const {
    return run_command(
        fmt::format("{} {} {} {}", environment, RUNTIME_DEMO, bundle().string(), arguments));
  }

private:
  TemporaryFolder m_folder;
};

TEST_F(Demo, RefusesInOneLineWhatCannotRun) {
  const CommandEnd unknown = demo("--kernel nosuch");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.errors,
            "runtime_demo: error: no kernel is called 'nosuch' (--list names them)\n");

  const CommandEnd missing = demo("--kernel sgemm");
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_EQ(missing.errors, fmt::format("runtime_demo: error: '{}' has no kernel 'sgemm' (program "
                                        "'sgemm', variant 'default')\n",
                                        bundle().string()));

  const CommandEnd no_device = demo("--device nosuch");
  EXPECT_EQ(no_device.exit_code, k_no_device);
  EXPECT_THAT(no_device.errors,
              StartsWith("runtime_demo: error: no device matches 'nosuch'; there are: 0:0 '"));

  // Intel's CPU runtime and PoCL 6 allocate most of the machine's memory, unless these variables
  // limit them (to 1 GB).
  const CommandEnd too_large =
      demo("--size 1000000x1000x1 --kernel transpose --device 0:0",
           "CL_CONFIG_CPU_FORCE_MAX_MEM_ALLOC_SIZE=64MB POCL_MEMORY_LIMIT=1");
  if (too_large.exit_code != 0) { // a GPU with 139 GiB is large enough for every int
    EXPECT_EQ(too_large.exit_code, 2);
    EXPECT_THAT(too_large.errors,
                StartsWith("runtime_demo: error: size 1000000x1000x1 is too large "
                           "for transpose on 0:0 '"));
    EXPECT_EQ(too_large.output, "");
  }

  const CommandEnd no_int = demo("--size 3000000000x1x1 --kernel transpose");
  EXPECT_EQ(no_int.exit_code, 2);
  EXPECT_EQ(no_int.errors, "runtime_demo: error: size 3000000000x1x1 is too large for transpose: "
                           "its sizes are 32-bit ints\n");
  for (const CommandEnd* const end : {&unknown, &missing, &no_device, &no_int}) {
    EXPECT_EQ(end->output, "");
  }
}

TEST_F(Demo, RefusesToRunWithoutAPlatform) {
  const CommandEnd end = demo("", "OCL_ICD_VENDORS=/no/such");
  EXPECT_EQ(end.exit_code, k_no_device);
  EXPECT_EQ(end.errors, "runtime_demo: error: no OpenCL device: install a driver "
                        "(pocl-opencl-icd runs on any CPU)\n");
}

TEST_F(Demo, RunsWhatABundleHas) {
  const CommandEnd end = demo("--size 5x3x1 --repeat 1 --seed 7");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.output, HasSubstr("--seed 7\n"));
  EXPECT_THAT(end.output, HasSubstr("\ntranspose_naive "));
  EXPECT_THAT(end.output, HasSubstr("  PASSED\n"));
  EXPECT_THAT(end.output, HasSubstr(" 0 failed, "));
  EXPECT_EQ(end.errors, "");
}

TEST_F(Demo, PlotsAndLogsWhenAsked) {
  const TemporaryFolder folder;
  const std::filesystem::path plot = folder.path() / "plot.svg";
  const CommandEnd end = demo("--size 16 --repeat 1 --plot " + plot.string(), "CLBIN_LOG=1");
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("exact identity"));
  const CommandEnd drawn = run_command("cat " + plot.string());
  EXPECT_THAT(drawn.output, StartsWith("<svg "));
  EXPECT_THAT(drawn.output, HasSubstr(">transpose, source<"));
  EXPECT_THAT(drawn.output, HasSubstr(">transpose, bundle<"));
}

TEST_F(Demo, SaysWhereAPlotCannotBeWritten) {
  const CommandEnd end = demo("--size 4 --repeat 1 --kernel transpose --plot /no/such/plot.svg");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.errors, "runtime_demo: error: cannot write '/no/such/plot.svg'\n");
}

TEST_F(Demo, ChoosesSizesThatEachDeviceCanQuicklyRun) {
  const CommandEnd quick = demo("--quick --kernel transpose --seed 1");
  EXPECT_EQ(quick.exit_code, 0) << quick.errors << quick.output;
  EXPECT_THAT(quick.output, HasSubstr(" 0 failed"));
}

} // namespace
} // namespace runtime_demo::test

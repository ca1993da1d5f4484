// The right program loads even if a real driver rejects binaries, reports wrong results, or is
// upgraded.

#include "driver_samples.hpp"
#include "support/fault_layer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::loader {
namespace {

using test::InstalledDevice;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

format::BundleReader bundle_for(const InstalledDevice& installed, const opencl::Context& context) {
  test::set_faults("");
  return test::make_bundle(
      {test::build_entry(installed, context, test::sample_source(), "-DBASE=2")});
}

// Loads under `faults`, expects a good program, and returns the report.
LoadReport load_under(const std::string& faults, const InstalledDevice& installed,
                      const opencl::Context& context, const format::BundleReader& bundle) {
  test::set_faults(faults);
  LoadReport report;
  const auto program =
      test::load(installed.driver, bundle, context.get(),
                 test::request_for({installed.device}, FallbackPolicy::if_needed), report);
  EXPECT_TRUE(program.has_value()) << faults << ": " << program.error().message << "\n"
                                   << describe(report);
  if (program) {
    test::expect_kernels(installed, *program);
  }
  return report;
}

void expect_source_behind_refusal(const LoadReport& report, const std::string& stage) {
  EXPECT_EQ(report.origin, Origin::source) << describe(report);
  ASSERT_EQ(report.attempts.size(), 2U) << describe(report);
  EXPECT_EQ(report.attempts[0].decision, Decision::refused);
  EXPECT_EQ(report.attempts[0].stage, stage);
  EXPECT_EQ(report.attempts[1].decision, Decision::loaded);
  EXPECT_EQ(report.attempts[1].origin, Origin::source);
}

TEST(LoadProgramUnderFaults, BuildsSourceWhicheverWayTheDriverRefusesAtCreate) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    const opencl::Context context = test::make_context(installed);
    const auto bundle = bundle_for(installed, context);
    for (const std::string style : {"honest", "null-success", "status-success", "unwritten-status",
                                    "program-with-error", "last-status"}) {
      SCOPED_TRACE(installed.name + ", " + style);
      expect_source_behind_refusal(
          load_under("refuse style=" + style + "\n", installed, context, bundle),
          "clCreateProgramWithBinary");
    }
  }
}

TEST(LoadProgramUnderFaults, BuildsSourceWhereTheDriverRefusesAtBuild) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = bundle_for(installed, context);
    const LoadReport report =
        load_under("fail at=clBuildProgram code=CL_BUILD_PROGRAM_FAILURE origin=binary "
                   "log=\"The program ISA is not compatible\"\n",
                   installed, context, bundle);
    expect_source_behind_refusal(report, "clBuildProgram");
    EXPECT_THAT(report.attempts[0].driver_log, HasSubstr("The program ISA is not compatible"));
  }
}

TEST(LoadProgramUnderFaults, BuildsSourceWhereTheBinaryLostAKernel) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = bundle_for(installed, context);
    const LoadReport report =
        load_under("lose-kernel kernel=shift origin=binary\n", installed, context, bundle);
    expect_source_behind_refusal(report, "clGetProgramInfo");
    EXPECT_EQ(report.attempts[0].driver_log, "the program has no kernel 'shift'");
  }
}

TEST(LoadProgramUnderFaults, LoadsTheBinaryWhereKernelNamesCannotBeAsked) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = bundle_for(installed, context);
    const LoadReport report =
        load_under("hide-kernel-names origin=binary\n", installed, context, bundle);
    EXPECT_EQ(report.origin, Origin::entry) << describe(report);
  }
}

TEST(LoadProgramUnderFaults, BuildsSourceAfterTheDriverWasUpgraded) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = bundle_for(installed, context);
    const LoadReport report =
        load_under("answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=999.0\n", installed,
                   context, bundle);
    if (installed.name.starts_with("NVIDIA")) { // a newer driver accepts older PTX
      EXPECT_EQ(report.origin, Origin::entry) << describe(report);
      continue;
    }
    EXPECT_EQ(report.origin, Origin::source);
    ASSERT_EQ(report.attempts.size(), 2U) << describe(report);
    EXPECT_EQ(report.attempts[0].decision, Decision::not_attempted);
    EXPECT_THAT(report.attempts[0].reason, HasSubstr("driver"));
    EXPECT_THAT(test::fault_log_lines({"clCreateProgramWithBinary"}), IsEmpty());
  }
}

} // namespace
} // namespace clbin::loader

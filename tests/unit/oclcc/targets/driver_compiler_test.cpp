#include "targets/driver_compiler.hpp"

#include "unit/oclcc/worker/worker_programs.hpp"
#include "units/unit.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc::worker {
namespace {

using ::testing::ElementsAre;

struct DriverOutcome {
  std::vector<UnitResult> results;
  std::vector<std::size_t> done;
};

// Runs every action on every device of the stub.
DriverOutcome run(const std::vector<std::string>& deeds, unsigned jobs,
                  const std::string& mode = "devices",
                  std::chrono::seconds timeout = std::chrono::seconds(60)) {
  WorkerSettings settings = stub_settings(mode);
  settings.enumeration_timeout = std::max(timeout, std::chrono::seconds(60));
  auto installed = find_installed_devices(settings, PropertyQuery::skip);
  EXPECT_TRUE(installed);
  BuildPlan plan;
  plan.jobs = jobs;
  for (const std::string& deed : deeds) {
    auto source = std::make_shared<clbin::format::SourcePackage>();
    source->main = {"a.cl", "a.cl", deed};
    for (std::size_t device = 0; device < installed->devices.size(); ++device) {
      plan.units.push_back({{device, source, {}}});
    }
  }
  plan.compilers = {
      make_driver_compiler(settings, installed->devices, std::move(installed->workers), timeout)};
  DriverOutcome outcome;
  outcome.results = build_units(
      plan, [&](std::size_t done, std::size_t, UnitResult&) { outcome.done.push_back(done); });
  return outcome;
}

std::string summary(const UnitResult& result) {
  return result.reply ? std::string(clbin::base::as_text(result.reply->binary)) : result.failure;
}

std::vector<std::string> summaries(const DriverOutcome& outcome) {
  std::vector<std::string> all;
  for (const UnitResult& result : outcome.results) {
    all.push_back(summary(result));
  }
  return all;
}

std::set<std::string> processes(const DriverOutcome& outcome) {
  std::set<std::string> all;
  for (const UnitResult& result : outcome.results) {
    if (result.reply) {
      all.insert(result.reply->stage);
    }
  }
  return all;
}

TEST(DriverCompiler, GivesResultsInTheOrderOfUnits) {
  const std::vector<std::string> expected{"binary of a", "binary of a", "binary of a",
                                          "binary of b", "binary of b", "binary of b"};
  for (const unsigned jobs : {1U, 2U, 3U, 16U}) {
    const DriverOutcome outcome = run({"a", "b"}, jobs);
    EXPECT_EQ(summaries(outcome), expected) << "with " << jobs << " jobs";
    EXPECT_THAT(outcome.done, ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(DriverCompiler, KeepsTheEnumeratingWorkerForEverythingWhenItIsAlone) {
  EXPECT_EQ(processes(run({"a", "b"}, 1)).size(), 1U);
}

TEST(DriverCompiler, GivesEachUnitAWorkerWhereNobodyMeasuredTheDriver) {
  for (const unsigned jobs : {1U, 2U}) {
    const DriverOutcome outcome = run({"a", "b"}, jobs, "unmeasured");
    EXPECT_THAT(summaries(outcome), ElementsAre("binary of a", "binary of a", "binary of a",
                                                "binary of b", "binary of b", "binary of b"));
    EXPECT_EQ(processes(outcome).size(), 6U) << "with " << jobs << " jobs";
  }
}

TEST(DriverCompiler, FailsOnlyTheUnitThatCrashes) {
  for (const unsigned jobs : {1U, 4U}) {
    const DriverOutcome outcome = run({"a", "crash on Stub B", "c"}, jobs);
    const std::string built = "binary of crash on Stub B";
    EXPECT_THAT(summaries(outcome),
                ElementsAre("binary of a", "binary of a", "binary of a", built,
                            "the compiler of 'Stub B' crashed (signal 11)", built, "binary of c",
                            "binary of c", "binary of c"));
    EXPECT_EQ(outcome.results[4].driver_output, "about to crash\n");
  }
}

TEST(DriverCompiler, StartsAFreshWorkerAfterEveryFault) {
  const DriverOutcome outcome = run({"crash", "garbage", "exit", "a"}, 1);
  EXPECT_EQ(summary(outcome.results[9]), "binary of a");
  EXPECT_EQ(summary(outcome.results[10]), "binary of a");
  EXPECT_EQ(summary(outcome.results[11]), "binary of a");
}

TEST(DriverCompiler, EndsUnitsThatHangAndGoesOn) {
  const DriverOutcome outcome = run({"hang on Stub A", "b"}, 2, "devices", std::chrono::seconds(3));
  EXPECT_EQ(summary(outcome.results[0]), "the compiler of 'Stub A' did not finish within 3 s");
  EXPECT_EQ(summary(outcome.results[3]), "binary of b");
}

TEST(DriverCompiler, LosesNoUnitToACrashAfterTheAnswer) {
  const DriverOutcome outcome = run({"crash afterwards", "a"}, 1);
  EXPECT_THAT(summaries(outcome),
              ElementsAre("binary of crash afterwards", "binary of crash afterwards",
                          "binary of crash afterwards", "binary of a", "binary of a",
                          "binary of a"));
  EXPECT_EQ(processes(outcome).size(), 5U)
      << "one for each that crashed, and one for each platform that did not";
}

TEST(DriverCompiler, LosesNoUnitToAHangAfterTheAnswer) {
  const DriverOutcome outcome =
      run({"hang afterwards on Stub A", "a"}, 1, "devices", std::chrono::seconds(3));
  EXPECT_EQ(summary(outcome.results[0]), "binary of hang afterwards on Stub A");
  EXPECT_EQ(summary(outcome.results[3]), "binary of a");
  EXPECT_EQ(processes(outcome).size(), 3U)
      << "the one that hung, and one for each platform that did not";
}

TEST(DriverCompiler, WaitsForNoWorkerThatStartsTooLate) {
  // In this mode, a worker that loads a single driver never finishes listing its devices. It is
  // ended after the last unit, because no unit needs it.
  const DriverOutcome outcome = run({"a", "b"}, 4, "hang-alone", std::chrono::hours(1));
  EXPECT_THAT(summaries(outcome), ElementsAre("binary of a", "binary of a", "binary of a",
                                              "binary of b", "binary of b", "binary of b"));
  EXPECT_EQ(processes(outcome).size(), 1U);
}

TEST(DriverCompiler, ShowsFurtherWorkersTheirOwnDriverOnly) {
  const DriverOutcome outcome = run({"crash", "surroundings"}, 1);
  ASSERT_TRUE(outcome.results[3].reply) << outcome.results[3].failure;
  EXPECT_THAT(outcome.results[3].reply->log,
              ::testing::HasSubstr("OCL_ICD_VENDORS=/proc/self/cwd/vendors\n"));
}

TEST(DriverCompiler, FallsBackToAllDriversWhereOneAloneShowsNoDevice) {
  const DriverOutcome outcome = run({"crash", "surroundings"}, 1, "flat-library");
  ASSERT_TRUE(outcome.results[3].reply) << outcome.results[3].failure;
  EXPECT_THAT(outcome.results[3].reply->log,
              ::testing::Not(::testing::HasSubstr("OCL_ICD_VENDORS=/proc/self/cwd/vendors\n")));
}

TEST(DriverCompiler, LeavesOutTheKernelsThatADriverCrashesOver) {
  const DriverOutcome outcome = run({"create kernels", "b"}, 1);
  for (std::size_t unit = 0; unit < outcome.results.size(); ++unit) {
    EXPECT_TRUE(is_built(outcome.results[unit])) << outcome.results[unit].failure;
    EXPECT_EQ(outcome.results[unit].failure, "");
  }
  const std::string& log = outcome.results[0].reply->log;
  EXPECT_THAT(log, ::testing::MatchesRegex("b: the compiler of '.*' crashed \\(signal 11\\)\n"
                                           "c: the compiler of '.*' crashed \\(signal 11\\)\n"));
}

TEST(DriverCompiler, BlamesNoKernelForACrashOnceAllAreCreated) {
  const DriverOutcome outcome = run({"create kernels, then crash"}, 1);
  for (const UnitResult& result : outcome.results) {
    EXPECT_FALSE(is_built(result));
    EXPECT_THAT(result.failure, ::testing::EndsWith("crashed (signal 11)"));
  }
}

} // namespace
} // namespace oclcc::worker

// Runs every kernel on every device of this machine, from a bundle that oclcc made.
#include "command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace runtime_demo::test {
namespace {

using Json = nlohmann::json;

constexpr int k_no_device = 5;

class Kernels : public ::testing::Test {
protected:
  void SetUp() override {
    make_bundle("[!s]*.cl", bundle());
    make_bundle("sgemm.cl --variant default= --variant tile64x64x16_item4x4='-DTILE_M=64 "
                "-DTILE_N=64 -DTILE_K=16 -DITEM_M=4 -DITEM_N=4'",
                sgemm_bundle());
  }

  static void make_bundle(const std::string& arguments, const std::filesystem::path& output) {
    const CommandEnd made = run_command(
        fmt::format("cd {} && {} {} -o {}", CLBIN_KERNELS, OCLCC, arguments, output.string()));
    if (made.exit_code == k_no_device) {
      GTEST_SKIP() << made.errors;
    }
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }

  [[nodiscard]] std::filesystem::path bundle() const { return m_folder.path() / "kernels.clbin"; }
  [[nodiscard]] std::filesystem::path sgemm_bundle() const {
    return m_folder.path() / "sgemm.clbin";
  }

  // Runs all kernels, and expects each to be right on each device, loaded as `origin`.
  void expect_all_right(const std::string& arguments, const std::string& origin) const {
    SCOPED_TRACE(arguments);
    const CommandEnd end =
        run_command(fmt::format("{} {} {} --json --repeat 1 {}", RUNTIME_DEMO, bundle().string(),
                                sgemm_bundle().string(), arguments));
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    const Json report = Json::parse(end.output);
    std::set<std::string> kernels;
    for (const Json& one : report["measurements"]) {
      SCOPED_TRACE(one["kernel"].get<std::string>() + " on " + one["device"].get<std::string>());
      if (one["result"] == "skipped") {
        EXPECT_EQ(one["reason"], "no fp64");
        continue;
      }
      EXPECT_EQ(one["result"], "passed") << one["reason"];
      EXPECT_EQ(one["first"]["origin"], origin);
      kernels.insert(one["kernel"]);
    }
    EXPECT_EQ(kernels.size(), 21U);
  }

private:
  TemporaryFolder m_folder;
};

// One test, because making the bundle takes longest.
TEST_F(Kernels, AreRightAtOddSizesFromTheBundleAndFromSource) {
  expect_all_right("--size 61x67x71", "entry");
  expect_all_right("--size 1x1x1", "entry");
  expect_all_right("--size 2x130x33 --from-source", "source");
}

} // namespace
} // namespace runtime_demo::test

// Runs every kernel on every device of this machine, from a bundle that oclcc made.
#include "command.hpp"
#include "support/project_folders.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace runtime_demo::test {
namespace {

using Json = nlohmann::json;

class Kernels : public ::testing::Test {
protected:
  void SetUp() override {
    make_bundle("[!s]*.cl", bundle());
    make_bundle("sgemm.cl --variant default= --variant tile64x64x16_item4x4='-DTILE_M=64 "
                "-DTILE_N=64 -DTILE_K=16 -DITEM_M=4 -DITEM_N=4'",
                sgemm_bundle());
  }

  static void make_bundle(const std::string& arguments, const std::string& output) {
    const CommandEnd made = run_command(fmt::format(
        "cd {} && {} {} -o {}", clbin::test::kernels_folder().string(), OCLCC, arguments, output));
    if (made.exit_code == k_no_device) {
      GTEST_SKIP() << made.errors;
    }
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }

  [[nodiscard]] std::string bundle() const { return m_folder.path() / "kernels.clbin"; }
  [[nodiscard]] std::string sgemm_bundle() const { return m_folder.path() / "sgemm.clbin"; }

  // Runs all kernels of the bundles, and expects each of `kernel_count` to be right on each device,
  // loaded as `origin`.
  static void expect_all_right(const std::string& arguments, const std::string& origin,
                               std::size_t kernel_count) {
    SCOPED_TRACE(arguments);
    const CommandEnd end =
        run_command(fmt::format("{} --json --repeat 1 {}", RUNTIME_DEMO, arguments));
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    const Json report = Json::parse(end.output);
    std::set<std::string> kernels;
    for (const Json& one : report["measurements"]) {
      SCOPED_TRACE(one["kernel"].get<std::string>() + " on " + one["device"].get<std::string>());
      if (one["result"] == "skipped") {
        // Those with matrix units need 48 KiB, and Oclgrind's device has 32.
        EXPECT_TRUE(one["reason"] == "no fp64" ||
                    ((one["kernel"] == "hgemm" || one["kernel"] == "tf32gemm") &&
                     one["reason"].get<std::string>().starts_with("needs 49152 bytes of local")))
            << one["reason"];
        continue;
      }
      EXPECT_EQ(one["result"], "passed") << one["reason"];
      EXPECT_EQ(one["first"]["origin"], origin);
      kernels.insert(one["kernel"]);
    }
    EXPECT_EQ(kernels.size(), kernel_count);
  }

private:
  TemporaryFolder m_folder;
};

// One test, because making the bundles takes longest. Each side is a few tiles and the rest of one:
// tiles have 64 x 16 elements in a variant of sgemm.cl, and at most 16 x 16 in the other kernels.
// A vector has 17 x 67 elements, more than one group of 1024.
TEST_F(Kernels, AreRightAtOddSizesFromTheBundleAndFromSource) {
  const std::string both = bundle() + " " + sgemm_bundle();
  expect_all_right(bundle() + " --size 17x67x21", "entry", 21);
  expect_all_right(sgemm_bundle() + " --size 65x35x65", "entry", 2);
  expect_all_right(both + " --size 1x1x1", "entry", 23);
  expect_all_right(both + " --size 2x34x33 --from-source", "source", 23);
}

} // namespace
} // namespace runtime_demo::test

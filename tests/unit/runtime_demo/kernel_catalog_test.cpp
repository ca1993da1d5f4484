#include "kernel_catalog.hpp"
#include "support/project_folders.hpp"
#include "support/texts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace runtime_demo {
namespace {

// The options of oclcc that a bundle of the demo is made with.
std::string options_of(const std::string& bundle) {
  return clbin::test::file_text(clbin::test::kernels_folder().parent_path() / "runtime_demo" /
                                (bundle + ".options"));
}

using ::testing::HasSubstr;

// Returns the functions after __kernel in a program, prefixed with "program/".
std::set<std::string> kernels_in(const std::string& program) {
  const std::string text = clbin::test::file_text(
      fmt::format("{}/{}.cl", clbin::test::kernels_folder().string(), program));
  const std::regex kernel(R"(__kernel[^;{]*?void\s+(\w+)\()");
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), kernel), end; match != end; ++match) {
    found.insert(program + "/" + (*match)[1].str());
  }
  return found;
}

const KernelCase& catalog_case_of(const char* name) {
  const std::vector<const KernelCase*> found = find_kernels(name);
  EXPECT_FALSE(found.empty()) << name;
  return *found.front();
}

TEST(KernelCatalog, ListsEveryKernelOfEveryProgramOnce) {
  std::set<std::string> programs;
  std::set<std::string> listed;
  std::set<std::string> names;
  for (const KernelCase& kernel : kernel_catalog()) {
    programs.insert(kernel.program);
    listed.insert(kernel.program + "/" + kernel.function);
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  }
  std::set<std::string> written;
  for (const std::string& program : programs) {
    written.merge(kernels_in(program));
  }
  EXPECT_EQ(listed, written);
  EXPECT_EQ(programs.size(), 9U);
}

TEST(KernelCatalog, HasTheVariantsThatTheBundleIsBuiltWith) {
  const std::string text = options_of("sgemm");
  std::set<std::string> built;
  const std::regex variant(R"re(--variant "?(\w+)=)re");
  for (std::sregex_iterator match(text.begin(), text.end(), variant), end; match != end; ++match) {
    built.insert((*match)[1].str());
  }
  std::set<std::string> listed;
  for (const KernelCase* const kernel : find_kernels("sgemm")) {
    const Blocking& sizes = kernel->blocking;
    listed.insert(kernel->variant);
    if (kernel->variant != "default") {
      EXPECT_EQ(kernel->variant, fmt::format("tile{}x{}x{}_item{}x{}", sizes.tile_m, sizes.tile_n,
                                             sizes.tile_k, sizes.item_m, sizes.item_n));
      const char* const order = sizes.item_m == 16 ? " -DSERPENTINE" : "";
      EXPECT_THAT(text, HasSubstr(fmt::format(
                            "{}=-DTILE_M={} -DTILE_N={} -DTILE_K={} -DITEM_M={} -DITEM_N={}{}\"\n",
                            kernel->variant, sizes.tile_m, sizes.tile_n, sizes.tile_k, sizes.item_m,
                            sizes.item_n, order)));
    }
  }
  EXPECT_EQ(listed, built);
  EXPECT_GE(listed.size(), 5U);
}

// The launch size, by default, of each kernel that requires no size.
TEST(KernelCatalog, LaunchesWithTheSizesThatTheBundleIsBuiltFor) {
  const std::string listed = options_of("kernels");
  for (const KernelCase& kernel : kernel_catalog()) {
    const std::string source = clbin::test::file_text(
        fmt::format("{}/{}.cl", clbin::test::kernels_folder().string(), kernel.program));
    const std::regex required(R"(reqd_work_group_size\([^;{]*\)\)\)\s+void\s+)" + kernel.function +
                              R"(\()");
    if (std::regex_search(source, required)) {
      continue;
    }
    const Result<LaunchShape> shape = launch_shape(kernel, kernel.source_size, 4096);
    ASSERT_TRUE(shape.has_value()) << kernel.name;
    const std::string size = shape->local[1] == 1
                                 ? fmt::format("{}", shape->local[0])
                                 : fmt::format("{}x{}", shape->local[0], shape->local[1]);
    EXPECT_TRUE(
        std::regex_search(listed, std::regex(fmt::format(R"(\b{}={}\s)", kernel.function, size))))
        << kernel.function << "=" << size;
  }
}

TEST(KernelCatalog, FindsAVariantByItsNameAndAllByTheFunction) {
  EXPECT_EQ(find_kernels("sgemm/tile64x64x16_item4x4").size(), 1U);
  EXPECT_EQ(find_kernels("sgemm").size(), 6U);
  EXPECT_TRUE(find_kernels("nosuch").empty());
}

TEST(KernelCatalog, CoversTheResultWithWholeGroups) {
  for (const Size& size :
       {Size{61, 67, 71}, Size{1, 1, 1}, Size{1024, 1024, 1024}, Size{7, 1, 900}}) {
    for (const KernelCase& kernel : kernel_catalog()) {
      SCOPED_TRACE(kernel.name + " at " + to_string(size));
      const Result<LaunchShape> shape = launch_shape(kernel, size, 1024);
      ASSERT_TRUE(shape.has_value()) << shape.error().message;
      for (const std::size_t dimension : {0U, 1U}) {
        ASSERT_GT(shape->local[dimension], 0U);
        EXPECT_EQ(shape->global[dimension] % shape->local[dimension], 0U);
      }
      EXPECT_LE(shape->local[0] * shape->local[1], 1024U);
    }
  }
}

TEST(KernelCatalog, LaunchesExactlyAsManyRowsAsTheBlogsKernelsCount) {
  const Result<LaunchShape> shape =
      launch_shape(catalog_case_of("matrixMul_tiled"), {60, 5, 17}, 1024);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->global, (std::array<std::size_t, 2>{32, 60}));
  EXPECT_EQ(shape->local, (std::array<std::size_t, 2>{16, 15}));
}

TEST(KernelCatalog, SaysWhichGroupADeviceCannotHold) {
  const Result<LaunchShape> blocked =
      launch_shape(catalog_case_of("mmul_block"), {64, 64, 64}, 128);
  ASSERT_FALSE(blocked.has_value());
  EXPECT_EQ(blocked.error().message, "needs a work-group of 256 items, the device allows 128");
  const Result<LaunchShape> single =
      launch_shape(catalog_case_of("matrixMul_local_ids"), {2000, 1, 1}, 1024);
  ASSERT_FALSE(single.has_value());
  EXPECT_EQ(single.error().message,
            "one work-group computes all 2000 rows, the device allows 1024 items");
}

TEST(KernelCatalog, RefusesSizesThatNoIntHolds) {
  const Result<void> long_side = check_size(catalog_case_of("sgemm"), {std::size_t{1} << 32, 1, 1});
  ASSERT_FALSE(long_side.has_value());
  EXPECT_THAT(long_side.error().message, HasSubstr("its sizes are 32-bit ints"));
  const Result<void> many = check_size(catalog_case_of("vadd"), {100'000, 100'000, 1});
  ASSERT_FALSE(many.has_value());
  EXPECT_THAT(many.error().message, HasSubstr("its number of elements is a 32-bit int"));
  EXPECT_TRUE(check_size(catalog_case_of("sgemm"), {100'000, 100'000, 1}).has_value());
}

TEST(KernelCatalog, CountsOperationsBytesAndRounds) {
  const Size size{2, 3, 5};
  EXPECT_EQ(floating_point_operations(catalog_case_of("sgemm"), size), 60);
  EXPECT_EQ(floating_point_operations(catalog_case_of("dotProduct"), size), 12);
  EXPECT_EQ(floating_point_operations(catalog_case_of("vadd"), size), 6);
  EXPECT_EQ(floating_point_operations(catalog_case_of("transpose"), size), 0);
  EXPECT_EQ(bytes_moved(catalog_case_of("sgemm"), size), 0);
  EXPECT_EQ(bytes_moved(catalog_case_of("vadd"), size), 72);
  EXPECT_EQ(bytes_moved(catalog_case_of("transpose"), size), 48);
  EXPECT_EQ(loop_iterations(catalog_case_of("mmul_row"), size, {}), 15);
  EXPECT_EQ(loop_iterations(catalog_case_of("mat_mul"), size, {}), 3);
  EXPECT_EQ(loop_iterations(catalog_case_of("dotProduct"), size, {}), 6);
}

TEST(KernelCatalog, AllowsErrorsOfFewRoundings) {
  EXPECT_DOUBLE_EQ(allowed_error(catalog_case_of("sgemm"), {1, 1024, 1}), (8 + 2 * 32) * 0x1p-24);
  EXPECT_DOUBLE_EQ(allowed_error(catalog_case_of("matMul"), {1, 64, 1}), (8 + 2 * 8) * 0x1p-53);
  EXPECT_DOUBLE_EQ(allowed_error(catalog_case_of("vadd"), {9, 9, 9}), 0x1p-24);
  EXPECT_EQ(allowed_error(catalog_case_of("transpose"), {9, 9, 9}), 0);
}

} // namespace
} // namespace runtime_demo

#include "modes/kernel_resources.hpp"

#include "support/bundle_samples.hpp"
#include "support/project_folders.hpp"
#include "targets/binary_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using testing::ElementsAre;
using testing::Optional;

base::Bytes real_file(std::string_view name) {
  const auto bytes =
      base::read_whole_file(clbin::test::tests_folder() / "unit/format/binaries" / name, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or(base::Bytes());
}

format::EntryInput entry_of(std::string_view name) {
  auto entry = offline::entry_of_binary(base::KeptBytes(real_file(name)));
  EXPECT_TRUE(entry.has_value()) << name;
  entry->target = offline::target_of_binary(format::classify_binary(real_file(name)))
                      .value_or(clbin::test::sample_device("device"));
  return *entry;
}

// The resources in a bundle with one program.
std::vector<KernelResources> resources_in(format::ProgramInput program) {
  const auto folder = base::TemporaryFolder::create({}, "kernel_resources_test");
  EXPECT_TRUE(folder.has_value());
  const std::filesystem::path path = folder->path() / "k.clbin";
  program.name = "k";
  program.variants = {{"default", ""}};
  format::BundleInput input;
  input.producer = "test";
  input.programs.push_back(std::move(program));
  EXPECT_TRUE(base::write_output_file(path, clbin::test::must_write(input)));
  const FileResources file = read_kernel_resources(path, {}, {});
  EXPECT_TRUE(file.errors.empty()) << file.errors.front().message;
  return file.groups.empty() ? std::vector<KernelResources>() : file.groups.front().kernels;
}

TEST(KernelResources, AreForTheLargestRecordedWorkGroup) {
  format::ProgramInput program;
  program.entries.push_back(entry_of("sm_80.cubin"));
  program.launches = {{"default", "k", 1, {32, 1, 1}},
                      {"default", "k", 2, {16, 4, 1}},
                      {"default", "k", 1, {0, 0, 0}},
                      {"default", "other", 1, {1024, 1, 1}}};
  const auto kernels = resources_in(program);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].work_group_size, (format::GroupSize{16, 4, 1}));
  EXPECT_THAT(kernels[0].work_group_origin, Optional(WorkGroupOrigin::recorded));
  EXPECT_THAT(kernels[0].occupancy, Optional(64U));
}

TEST(KernelResources, AreForTheRequiredWorkGroupRatherThanARecordedOne) {
  format::ProgramInput program;
  program.entries.push_back(entry_of("arguments.sm_80.cubin"));
  program.launches = {{"default", "every_space", 1, {1024, 1, 1}}};
  const auto kernels = resources_in(program);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].work_group_size, (format::GroupSize{8, 4, 2}));
  EXPECT_THAT(kernels[0].work_group_origin, Optional(WorkGroupOrigin::required));
  EXPECT_THAT(kernels[1].work_group_origin, Optional(WorkGroupOrigin::assumed));
}

// What the driver said when it compiled a binary whose format nobody else knows.
TEST(KernelResources, OfADriversBinaryAreThoseThatTheBundleRecords) {
  format::ProgramInput program;
  format::EntryInput entry = clbin::test::sample_entry("default", clbin::test::sample_device("cpu"),
                                                       clbin::test::bytes_of("of a driver"));
  for (format::KernelReflection& kernel : entry.kernels) {
    kernel.private_bytes = 48;
    kernel.local_bytes = 16;
    kernel.required_work_group_size = {8, 1, 1};
  }
  program.entries.push_back(std::move(entry));
  const auto kernels = resources_in(program);
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(kernels[0].target, "cpu");
  EXPECT_THAT(kernels[0].scratch_bytes, Optional(48U));
  EXPECT_THAT(kernels[0].local_bytes, Optional(16U));
  EXPECT_EQ(kernels[0].registers, std::nullopt);
  EXPECT_EQ(kernels[0].occupancy, std::nullopt);
  EXPECT_EQ(kernels[0].work_group_size, (format::GroupSize{8, 1, 1}));
}

} // namespace
} // namespace oclcc

#include "modes/kernel_resources.hpp"

#include "support/bundle_samples.hpp"
#include "support/project_folders.hpp"
#include "targets/binary_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
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

KernelResources kernel_resources() {
  KernelResources kernel{.kernel = "blur", .target = "cubin:sm_80", .format = "cubin"};
  kernel.registers = 32;
  kernel.spills = 0;
  kernel.code_bytes = 1000;
  kernel.occupancy = 64;
  return kernel;
}

FileResources file_of(std::vector<KernelResources> kernels) {
  return {"k.clbin", {{"program", "default", std::move(kernels)}}, {}};
}

// "registers 32 40 +10%"
std::vector<std::string> changes(const std::vector<KernelResources>& before,
                                 const std::vector<KernelResources>& after,
                                 const std::vector<ChangeLimit>& limits) {
  std::vector<std::string> texts;
  for (const ResourceChange& change : resource_changes(file_of(before), file_of(after), limits)) {
    const auto number = [](const auto& value) { return value ? std::to_string(*value) : "-"; };
    texts.push_back(fmt::format("{} {} {} {}", change.number, number(change.before),
                                number(change.after), change.exceeds.value_or("allowed")));
  }
  return texts;
}

TEST(ResourceChanges, OfAFileWithItselfAreNone) {
  EXPECT_THAT(changes({kernel_resources()}, {kernel_resources()}, {{"registers"}}), IsEmpty());
}

TEST(ResourceChanges, ExceedALimitByMoreThanItAllows) {
  const auto with = [](std::optional<std::uint64_t> KernelResources::*number, std::uint64_t value) {
    KernelResources kernel = kernel_resources();
    kernel.*number = value;
    return std::vector{kernel};
  };
  const std::vector before = {kernel_resources()};
  const ChangeLimit percent{"registers", 25, ChangeUnit::percent};
  EXPECT_THAT(changes(before, with(&KernelResources::registers, 40), {percent}),
              ElementsAre("registers 32 40 allowed"));
  EXPECT_THAT(changes(before, with(&KernelResources::registers, 41), {percent}),
              ElementsAre("registers 32 41 +25%"));
  EXPECT_THAT(changes(before, with(&KernelResources::registers, 16), {{"registers"}}),
              ElementsAre("registers 32 16 allowed"));
  EXPECT_THAT(changes(before, with(&KernelResources::spills, 4), {{"spills", 4}}),
              ElementsAre("spills 0 4 allowed"));
  EXPECT_THAT(changes(before, with(&KernelResources::spills, 1), {{"spills"}}),
              ElementsAre("spills 0 1 +0"));
  // Any increase from 0 is more than so many percent.
  EXPECT_THAT(
      changes(before, with(&KernelResources::spills, 1), {{"spills", 500, ChangeUnit::percent}}),
      ElementsAre("spills 0 1 +500%"));
  EXPECT_THAT(
      changes(before, with(&KernelResources::code_bytes, 1051), {{"size", 5, ChangeUnit::percent}}),
      ElementsAre("code bytes 1000 1051 +5%"));
}

TEST(ResourceChanges, OfTheOccupancyAreWorseDownwards) {
  KernelResources worse = kernel_resources();
  worse.occupancy = 48;
  EXPECT_THAT(changes({kernel_resources()}, {worse}, {{"occupancy", 15}}),
              ElementsAre("occupancy 64 48 -15"));
  EXPECT_THAT(changes({kernel_resources()}, {worse}, {{"occupancy", 25, ChangeUnit::percent}}),
              ElementsAre("occupancy 64 48 allowed"));
  EXPECT_THAT(changes({worse}, {kernel_resources()}, {{"occupancy"}}),
              ElementsAre("occupancy 48 64 allowed"));
}

TEST(ResourceChanges, OfANewKernelAreItsSpills) {
  KernelResources added = kernel_resources();
  added.kernel = "added";
  added.spills = 3;
  EXPECT_THAT(changes({}, {added}, {{"spills"}, {"registers"}}),
              ElementsAre("kernel 0 1 allowed", "spills 0 3 +0"));
  EXPECT_THAT(changes({added}, {}, {{"spills"}}), ElementsAre("kernel 1 0 allowed"));
}

TEST(ResourceChanges, OfAnUnknownNumberExceedNothing) {
  KernelResources unknown = kernel_resources();
  unknown.registers.reset();
  EXPECT_THAT(changes({kernel_resources()}, {unknown}, {{"registers"}}),
              ElementsAre("registers 32 - allowed"));
}

TEST(ResourceChanges, CompareKernelsWithEqualNamesInTheirOrder) {
  KernelResources other = kernel_resources();
  other.registers = 99;
  EXPECT_THAT(changes({kernel_resources(), other}, {kernel_resources(), other}, {}), IsEmpty());
  EXPECT_THAT(changes({kernel_resources(), other}, {kernel_resources()}, {}),
              ElementsAre("kernel 1 0 allowed"));
}

TEST(UncheckedNumbers, AreKnownOfNoKernel) {
  KernelResources cubin = kernel_resources();
  cubin.spills.reset();
  const std::vector<ChangeLimit> limits = {{"spills"}, {"registers"}, {"size"}};
  EXPECT_THAT(unchecked_numbers(file_of({cubin}), limits), ElementsAre("spills"));
  EXPECT_THAT(unchecked_numbers(file_of({cubin, kernel_resources()}), limits), IsEmpty());
}

} // namespace
} // namespace oclcc

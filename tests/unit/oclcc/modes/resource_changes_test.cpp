#include "modes/kernel_resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

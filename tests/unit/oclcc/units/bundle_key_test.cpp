#include "units/recipes.hpp"

#include "support/bundle_samples.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace oclcc {
namespace {

using clbin::base::Digest;
using clbin::format::AccessQualifier;
using clbin::format::AddressSpace;
using clbin::format::BundleInput;
using clbin::format::EntryInput;
using clbin::format::KernelArgument;
using clbin::format::KernelReflection;
using clbin::format::ProgramInput;
using clbin::format::TargetOrigin;

// Contains every kind of member.
BundleInput sample_input() {
  KernelReflection kernel;
  kernel.name = "k";
  kernel.arguments = {{KernelArgument{"a", "float*"}, KernelArgument{"b", "int"}}};
  kernel.specialized_sizes = {{64, 1, 1}};
  kernel.vendor = {{"registers", 12}};
  EntryInput entry = clbin::test::sample_entry("default", clbin::test::sample_device("a device"),
                                               clbin::test::sample_ptx(70, "payload"));
  entry.kernels = {kernel};
  entry.tools = {{"oclcc", "0.1.0"}};
  ProgramInput program;
  program.name = "p";
  program.source.emplace();
  program.source->main = {"p.cl", "src/p.cl", "kernel void k() {}\n"};
  program.source->headers = {{"h.h", "inc/h.h", "\n"}};
  program.variants = {{"default", "-DX=1"}};
  program.entries = {entry};
  program.launches = {{"default", "k", 1, {64, 1, 1}}};
  program.builds = {{"default", clbin::test::sample_device("a device"), {"k"}}};
  return {"oclcc 0.1.0", {program}};
}

Digest key_of(const BundleInput& input) {
  return bundle_key({input, {}}, {}, "200 bytes").value();
}

Digest key_of_unit(const BundleInput& input, std::string_view unit) {
  return bundle_key({input, {clbin::base::digest_of(clbin::base::as_bytes(unit))}}, {}, "200 bytes")
      .value();
}

TEST(BundleKey, IsTheSameForTheSame) {
  EXPECT_EQ(key_of(sample_input()), key_of(sample_input()));
}

TEST(BundleKey, IsAnotherForAnotherWriter) {
  const BundleInput input = sample_input();
  EXPECT_NE(key_of(input), bundle_key({input, {}}, {}, "201 bytes").value());
  EXPECT_NE(key_of(input), bundle_key({input, {}}, {.compression_level = 3}, "200 bytes").value());
}

TEST(BundleKey, IsAnotherForEveryPartOfABundle) {
  const std::vector<std::function<void(BundleInput&)>> changes{
      [](BundleInput& b) { b.producer = "oclcc 0.2.0"; },
      [](BundleInput& b) { b.programs.push_back(b.programs[0]); },
      [](BundleInput& b) { b.programs[0].name = "q"; },
      [](BundleInput& b) { b.programs[0].source.reset(); },
      [](BundleInput& b) { b.programs[0].source->main.text += " "; },
      [](BundleInput& b) { b.programs[0].source->main.display_name = "p.cl"; },
      [](BundleInput& b) { b.programs[0].source->main.include_name = "q.cl"; },
      [](BundleInput& b) { b.programs[0].source->headers[0].text = ""; },
      [](BundleInput& b) { b.programs[0].source->headers.clear(); },
      [](BundleInput& b) { b.programs[0].variants[0].name = "v"; },
      [](BundleInput& b) { b.programs[0].variants[0].options = "-DX=2"; },
      [](BundleInput& b) { b.programs[0].entries.clear(); },
      [](BundleInput& b) { b.programs[0].launches.clear(); },
      [](BundleInput& b) { b.programs[0].launches[0].variant = "v"; },
      [](BundleInput& b) { b.programs[0].launches[0].kernel = "l"; },
      [](BundleInput& b) { b.programs[0].launches[0].dimensions = 2; },
      [](BundleInput& b) { b.programs[0].launches[0].local_size[0] = 32; },
      [](BundleInput& b) { b.programs[0].builds.clear(); },
      [](BundleInput& b) { b.programs[0].builds[0].variant = "v"; },
      [](BundleInput& b) { b.programs[0].builds[0].target.identity.device_name = "b"; },
      [](BundleInput& b) { b.programs[0].builds[0].kernels.clear(); },
  };
  std::set<Digest> keys{key_of(sample_input())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BundleInput input = sample_input();
    changes[i](input);
    EXPECT_TRUE(keys.insert(key_of(input)).second) << i;
  }
}

TEST(BundleKey, IsAnotherForEveryPartOfAnEntry) {
  const std::vector<std::function<void(EntryInput&)>> changes{
      [](EntryInput& e) { e.variant = "v"; },
      [](EntryInput& e) { e.target.origin = TargetOrigin::offline; },
      [](EntryInput& e) { e.target.identity.driver_version = "9"; },
      [](EntryInput& e) { e.target.identity.il_versions.emplace_back("SPIR-V_1.2"); },
      [](EntryInput& e) { e.target.spec = "nvptx:sm_70"; },
      [](EntryInput& e) { e.options = "-DX=3"; },
      [](EntryInput& e) { e.payload = clbin::test::sample_ptx(70, "another"); },
      [](EntryInput& e) { e.kernels.clear(); },
      [](EntryInput& e) { e.build_log = "warning"; },
      [](EntryInput& e) { e.tools["oclcc"] = "0.2.0"; },
      [](EntryInput& e) { e.tools["ptxas"] = "13"; },
  };
  std::set<Digest> keys{key_of(sample_input())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BundleInput input = sample_input();
    changes[i](input.programs[0].entries[0]);
    EXPECT_TRUE(keys.insert(key_of(input)).second) << i;
  }
}

TEST(BundleKey, CoversTheUnitsKeyInPlaceOfItsResult) {
  BundleInput input = sample_input();
  const Digest key = key_of_unit(input, "a unit");
  EXPECT_NE(key, key_of(input));
  EXPECT_NE(key, key_of_unit(input, "another unit"));
  EntryInput& entry = input.programs[0].entries[0];
  entry.payload = clbin::test::sample_ptx(70, "another");
  entry.kernels.clear();
  entry.build_log = "warning";
  entry.tools.clear();
  EXPECT_EQ(key, key_of_unit(input, "a unit"));
  entry.options = "-DX=3";
  EXPECT_NE(key, key_of_unit(input, "a unit"));
}

TEST(BundleKey, CoversTheWholeOfEntriesWithoutAUnit) {
  BundleInput input = sample_input();
  input.programs[0].entries.push_back(input.programs[0].entries[0]);
  const Digest key = key_of_unit(input, "a unit");
  input.programs[0].entries[0].payload = clbin::test::sample_ptx(70, "another");
  EXPECT_EQ(key, key_of_unit(input, "a unit"));
  input.programs[0].entries[1].payload = clbin::test::sample_ptx(70, "another");
  EXPECT_NE(key, key_of_unit(input, "a unit"));
}

TEST(BundleKey, IsAnotherForEveryPartOfTheReflection) {
  const std::vector<std::function<void(KernelReflection&)>> changes{
      [](KernelReflection& k) { k.name = "l"; },
      [](KernelReflection& k) { k.arguments.reset(); },
      [](KernelReflection& k) { k.arguments->clear(); },
      [](KernelReflection& k) { k.arguments->at(0).name = "c"; },
      [](KernelReflection& k) { k.arguments->at(0).type_name = "int*"; },
      [](KernelReflection& k) { k.arguments->at(0).address_space = AddressSpace::local; },
      [](KernelReflection& k) { k.arguments->at(0).access = AccessQualifier::read_only; },
      [](KernelReflection& k) { k.arguments->at(0).is_const = true; },
      [](KernelReflection& k) { k.arguments->at(0).is_restrict = true; },
      [](KernelReflection& k) { k.arguments->at(0).is_volatile = true; },
      [](KernelReflection& k) { k.arguments->at(0).is_pipe = true; },
      [](KernelReflection& k) { k.argument_count = 2; },
      [](KernelReflection& k) { k.attributes = "vec_type_hint(float4)"; },
      [](KernelReflection& k) {
        k.required_work_group_size = {1, 1, 2};
      },
      [](KernelReflection& k) { k.max_work_group_size = 0; },
      [](KernelReflection& k) { k.preferred_multiple = 0; },
      [](KernelReflection& k) { k.local_bytes = 0; },
      [](KernelReflection& k) { k.private_bytes = 0; },
      [](KernelReflection& k) { k.specialized_sizes[0][2] = 2; },
      [](KernelReflection& k) { k.specialized_sizes.clear(); },
      [](KernelReflection& k) { k.vendor["registers"] = 13; },
      [](KernelReflection& k) { k.vendor.clear(); },
  };
  std::set<Digest> keys{key_of(sample_input())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BundleInput input = sample_input();
    changes[i](input.programs[0].entries[0].kernels[0]);
    EXPECT_TRUE(keys.insert(key_of(input)).second) << i;
  }
}

} // namespace
} // namespace oclcc

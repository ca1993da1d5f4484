#include "support/sample_bundle.hpp"

#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"
#include "support/sample_identities.hpp"

#include <gtest/gtest.h>

namespace clbin::test {
namespace {

format::KernelReflection saxpy_kernel() {
  format::KernelReflection kernel;
  kernel.name = "saxpy";
  kernel.argument_count = 2;
  format::KernelArgument alpha;
  alpha.name = "alpha";
  alpha.type_name = "float";
  format::KernelArgument values;
  values.name = "values";
  values.type_name = "float*";
  values.address_space = format::AddressSpace::global;
  kernel.arguments = {{alpha, values}};
  kernel.required_work_group_size = {16, 4, 1};
  return kernel;
}

format::EntryInput installed_entry() {
  format::EntryInput entry;
  entry.variant = "default";
  entry.target.identity = unknown_identity("d");
  entry.options = "-DV=1";
  entry.payload = bytes_of(k_sample_payload);
  entry.kernels = {saxpy_kernel()};
  return entry;
}

format::EntryInput offline_entry() {
  format::EntryInput entry;
  entry.variant = "default";
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = "nvptx:sm_70";
  entry.target.identity.architecture = "sm_70";
  entry.target.identity.address_bits = 64;
  entry.options = "-DV=1";
  entry.payload = bytes_of("//\n.version 7.5\n.target sm_70, texmode_independent\n"
                           ".address_size 64\n.visible .entry saxpy()\n{\n ret;\n}\n");
  entry.kernels.emplace_back().name = "saxpy";
  return entry;
}

} // namespace

base::Bytes sample_bundle() {
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "saxpy";
  program.source = format::SourcePackage{
      {"saxpy.cl", "saxpy.cl", "kernel void saxpy(float alpha, global float* values) {}\n"}, {}};
  program.variants = {{"default", "-DV=1"}, {"fast", "-DV=1 -cl-fast-relaxed-math"}};
  program.entries = {installed_entry(), offline_entry()};
  auto written = format::write_bundle(input, {});
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return std::move(written).value_or(base::Bytes());
}

} // namespace clbin::test

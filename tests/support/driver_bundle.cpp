#include "support/driver_bundle.hpp"

#include "opencl/device_query.hpp"
#include "opencl/program_build.hpp"

#include <gtest/gtest.h>

namespace clbin::test {

format::EntryInput build_entry(const InstalledDevice& installed, const opencl::Context& context,
                               const format::SourcePackage& source, const std::string& options) {
  format::EntryInput entry;
  entry.variant = std::string(format::k_default_variant);
  entry.options = options;
  auto identity = opencl::query_identity(installed.driver, installed.device);
  EXPECT_TRUE(identity.has_value()) << identity.error().message;
  entry.target.identity = std::move(identity).value_or(format::DeviceIdentity());
  const opencl::BuildOutcome outcome =
      opencl::build_from_source(installed.driver, context.get(), {installed.device}, source,
                                options + " -cl-kernel-arg-info");
  EXPECT_EQ(outcome.code, CL_SUCCESS) << installed.name << "\n" << outcome.log;
  if (outcome.code != CL_SUCCESS) {
    return entry;
  }
  auto reflection =
      opencl::reflect_kernels(installed.driver, outcome.program.get(), installed.device);
  EXPECT_TRUE(reflection.has_value()) << reflection.error().message;
  if (reflection) {
    entry.kernels = std::move(reflection->kernels);
  }
  auto binary = opencl::program_binary(installed.driver, outcome.program.get(), installed.device);
  EXPECT_TRUE(binary.has_value()) << binary.error().message;
  entry.payload = std::move(binary).value_or(base::Bytes());
  return entry;
}

format::EntryInput foreign_entry(const std::string& kernel) {
  format::EntryInput entry;
  entry.variant = "default";
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = "nvptx:sm_999";
  entry.target.identity.architecture = "sm_999";
  entry.target.identity.address_bits = 64;
  const auto text =
      base::as_bytes("//\n.version 99.0\n.target sm_999, texmode_independent\n.address_size 64\n");
  entry.payload = base::Bytes(text.begin(), text.end());
  entry.kernels.emplace_back().name = kernel;
  return entry;
}

} // namespace clbin::test

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
  auto kernels = opencl::reflect_kernels(installed.driver, outcome.program.get(), installed.device);
  EXPECT_TRUE(kernels.has_value()) << kernels.error().message;
  entry.kernels = std::move(kernels).value_or(std::vector<format::KernelReflection>());
  auto binary = opencl::program_binary(installed.driver, outcome.program.get());
  EXPECT_TRUE(binary.has_value()) << binary.error().message;
  entry.payload = std::move(binary).value_or(base::Bytes());
  return entry;
}

} // namespace clbin::test

#include "worker/unit_isolation.hpp"

#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

UnitIsolation isolation_on(const char* platform) {
  clbin::format::DeviceIdentity identity;
  identity.platform_name = platform;
  return unit_isolation(identity);
}

TEST(UnitIsolation, IsACopyWhereTheDriverKeepsStateThatShowsInBinaries) {
  EXPECT_EQ(isolation_on("Portable Computing Language"), UnitIsolation::copy);
  EXPECT_EQ(isolation_on("Intel(R) OpenCL"), UnitIsolation::copy);
}

TEST(UnitIsolation, IsAContextWhereTheDriverKeepsNoSuchState) {
  EXPECT_EQ(isolation_on("rusticl"), UnitIsolation::context);
  EXPECT_EQ(isolation_on("Oclgrind"), UnitIsolation::context);
  EXPECT_EQ(isolation_on("NVIDIA CUDA"), UnitIsolation::context);
}

TEST(UnitIsolation, IsAProcessWhereNobodyMeasuredTheDriver) {
  for (const char* const platform : {"AMD Accelerated Parallel Processing",
                                     "Intel(R) OpenCL Graphics", "clvk", "A driver of tomorrow"}) {
    EXPECT_EQ(isolation_on(platform), UnitIsolation::process) << platform;
  }
}

} // namespace
} // namespace oclcc::worker

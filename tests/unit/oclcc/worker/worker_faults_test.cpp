// A faulty driver affects only its own requests, on every platform of this machine.
#include "targets/driver_compiler.hpp"
#include "units/unit.hpp"
#include "worker/driver_rules.hpp"
#include "worker/installed_devices.hpp"

#include "support/fault_layer.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace oclcc::worker {
namespace {

using clbin::test::fault_log_lines;
using clbin::test::set_faults;
using ::testing::HasSubstr;

WorkerSettings oclcc_settings() {
  WorkerSettings settings;
  settings.executable = oclcc_program();
  return settings;
}

class WorkerFaults : public ::testing::Test {
protected:
  void SetUp() override {
    set_faults("");
    const auto installed = find_installed_devices(oclcc_settings(), PropertyQuery::skip);
    if (!installed) {
      GTEST_SKIP() << installed.error().message;
    }
    m_devices = installed->devices;
    if (m_devices.back().platform == 0) {
      GTEST_SKIP() << "there is only one platform: none is left if it fails";
    }
  }

  static std::vector<std::string> names_beside(const std::string& platform,
                                               const std::vector<DeviceDescription>& devices) {
    std::vector<std::string> names;
    for (const DeviceDescription& device : devices) {
      if (device.identity.platform_name != platform) {
        names.push_back(device.identity.device_name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Runs with `fault` in the platform of each of `devices` in turn.
  void expect_the_others(const std::vector<DeviceDescription>& devices, const std::string& fault,
                         const std::string& message, const WorkerSettings& settings) {
    for (const DeviceDescription& device : devices) {
      const std::string& platform = device.identity.platform_name;
      SCOPED_TRACE(platform);
      set_faults(fault + " platform=\"" + platform + "\"\n");
      const auto found = find_installed_devices(settings, PropertyQuery::skip);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(names_beside("", found->devices), names_beside(platform, m_devices));
      ASSERT_EQ(found->failures.size(), 1U);
      EXPECT_THAT(found->failures.front(), HasSubstr(message));
    }
  }

  // Returns the first device of each platform.
  [[nodiscard]] std::vector<DeviceDescription> first_devices() const {
    std::vector<DeviceDescription> devices;
    for (const DeviceDescription& device : m_devices) {
      if (devices.empty() || devices.back().platform != device.platform) {
        devices.push_back(device);
      }
    }
    return devices;
  }

  // Returns the first device of each way in which a worker keeps its units apart, which decides
  // what a fault can reach: the layer's faults are the same on every platform.
  [[nodiscard]] std::vector<DeviceDescription> devices_by_isolation() const {
    std::vector<DeviceDescription> devices;
    std::set<UnitIsolation> seen;
    for (const DeviceDescription& device : m_devices) {
      if (seen.insert(unit_isolation(device.identity)).second) {
        devices.push_back(device);
      }
    }
    return devices;
  }

  // Returns `faults` for the unit b on the platform of the device.
  static std::string faults_of(const std::vector<std::string>& faults,
                               const DeviceDescription& device) {
    std::string scenario;
    for (const std::string& fault : faults) {
      scenario += fault + " at=clCreateProgramWithSource source=\"void b(\" platform=\"" +
                  device.identity.platform_name + "\"\n";
    }
    return scenario;
  }

  static void expect_only_b_failed(const DeviceDescription& device,
                                   const std::vector<UnitResult>& results, std::size_t first,
                                   const std::string& message) {
    SCOPED_TRACE(device.identity.platform_name);
    ASSERT_GE(results.size(), first + 3);
    EXPECT_TRUE(is_built(results[first])) << results[first].failure;
    EXPECT_EQ(results[first + 1].failure,
              "the compiler of '" + device.identity.device_name + "' " + message);
    EXPECT_TRUE(is_built(results[first + 2])) << results[first + 2].failure;
  }

  // Builds three units for each of `devices` in turn, with `faults` in the second unit.
  static void expect_only_the_second_fails(const std::vector<DeviceDescription>& devices,
                                           const std::vector<std::string>& faults,
                                           const std::string& message) {
    for (const DeviceDescription& device : devices) {
      set_faults(faults_of(faults, device));
      expect_only_b_failed(device, build_three({device}, std::chrono::seconds(300)), 0, message);
    }
  }

  static bool is_built(const UnitResult& result) {
    return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
  }

  // Builds the units a, b and c for each of the devices, and for all of them at the same time.
  static std::vector<UnitResult> build_three(const std::vector<DeviceDescription>& devices,
                                             std::chrono::seconds timeout) {
    WorkerSettings settings = oclcc_settings();
    settings.memory_limit_bytes = 2ULL << 30U;
    BuildPlan plan;
    plan.jobs = static_cast<unsigned>(devices.size());
    for (std::size_t device = 0; device < devices.size(); ++device) {
      for (const char* name : {"a", "b", "c"}) {
        auto source = std::make_shared<clbin::format::SourcePackage>();
        source->main = {"k.cl", "k.cl",
                        std::string("kernel void ") + name + "(global int* p) { p[0] = 1; }\n"};
        plan.units.push_back({{device, source, {}}});
      }
    }
    auto installed = find_installed_devices(settings, PropertyQuery::skip);
    if (!installed) {
      ADD_FAILURE() << installed.error().message;
      return {};
    }
    plan.compilers = {
        make_driver_compiler(settings, devices, std::move(installed->workers), timeout)};
    return build_units(plan, [](std::size_t, std::size_t, UnitResult&) {});
  }

  std::vector<DeviceDescription> m_devices;
};

TEST_F(WorkerFaults, ThatCrashWhileDevicesAreListedLeaveTheOtherPlatforms) {
  expect_the_others(m_devices, "crash at=clGetDeviceIDs signal=SIGABRT",
                    "' is skipped: while listing its devices, it crashed (signal 6)",
                    oclcc_settings());
}

TEST_F(WorkerFaults, ThatHangWhileDevicesAreListedLeaveTheOtherPlatforms) {
  WorkerSettings settings = oclcc_settings();
  settings.enumeration_timeout = std::chrono::seconds(10);
  expect_the_others({m_devices.front()}, "hang at=clGetDeviceIDs",
                    "' is skipped: while listing its devices, it did not finish within 10 s",
                    settings);
}

TEST_F(WorkerFaults, ThatAreErrorsWhileDevicesAreListedLeaveTheOtherPlatforms) {
  expect_the_others({m_devices.front()}, "fail at=clGetDeviceIDs code=CL_OUT_OF_HOST_MEMORY",
                    "' is skipped: while listing its devices, it failed: ", oclcc_settings());
}

TEST_F(WorkerFaults, ThatAreCrashesCostOneUnit) {
  expect_only_the_second_fails(first_devices(), {"crash"}, "crashed (signal 11)");
  expect_only_the_second_fails(first_devices(), {"crash signal=SIGABRT"}, "crashed (signal 6)");
}

// The layer counts the kernels of each process: b is created second, then c.
TEST_F(WorkerFaults, ThatAreCrashesOverAKernelCostThatKernel) {
  for (const DeviceDescription& device : first_devices()) {
    const std::string& platform = device.identity.platform_name;
    SCOPED_TRACE(platform);
    set_faults("crash at=clCreateKernel call=2 platform=\"" + platform + "\"\n");
    BuildPlan plan;
    plan.compilers = {make_driver_compiler(oclcc_settings(), std::vector{device},
                                           std::vector<EnumeratedWorker>(),
                                           std::chrono::seconds(300))};
    auto source = std::make_shared<clbin::format::SourcePackage>();
    source->main = {"k.cl", "k.cl",
                    "kernel void a(global int* p) { p[0] = 1; }\n"
                    "kernel void b(global int* p) { p[0] = 2; }\n"
                    "kernel void c(global int* p) { p[0] = 3; }\n"};
    plan.units.push_back({{0, source, {}}});
    const auto results = build_units(plan, [](std::size_t, std::size_t, UnitResult&) {});
    ASSERT_TRUE(is_built(results.at(0))) << results[0].failure;
    const BuildReply& reply = *results[0].reply;
    const std::string crashed =
        "the compiler of '" + device.identity.device_name + "' crashed (signal 11)";
    for (const char* kernel : {"b", "c"}) {
      EXPECT_THAT(reply.log, HasSubstr(std::string("warning: the driver builds kernel '") + kernel +
                                       "', but cannot create it: " + crashed));
    }
    ASSERT_EQ(reply.kernels.size(), 3U);
    EXPECT_TRUE(reply.kernels[0].argument_count.has_value());
    EXPECT_FALSE(reply.kernels[1].argument_count.has_value());
  }
}

TEST_F(WorkerFaults, ThatKillTheWorkerCostOneUnit) {
  expect_only_the_second_fails(devices_by_isolation(), {"crash signal=SIGKILL"},
                               "was killed (signal 9); the machine may be out of memory");
}

TEST_F(WorkerFaults, ThatHangCostOneUnit) {
  const std::vector<DeviceDescription> devices = first_devices();
  std::string scenario;
  for (const DeviceDescription& device : devices) {
    scenario += faults_of({"hang"}, device);
  }
  set_faults(scenario);
  // All platforms at the same time, because each waits for the timeout.
  const std::vector<UnitResult> results = build_three(devices, std::chrono::seconds(30));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    expect_only_b_failed(devices[i], results, 3 * i, "did not finish within 30 s");
  }
}

TEST_F(WorkerFaults, ThatEatMemoryCostOneUnit) {
  expect_only_the_second_fails(devices_by_isolation(), {"allocate bytes=3221225472", "hang"},
                               "used more than 2048 MiB of memory (--memory-limit)");
}

TEST_F(WorkerFaults, ThatWriteGarbageOnTheChannelCostOneUnit) {
  expect_only_the_second_fails(devices_by_isolation(),
                               {"scribble file=3 hex=deadbeef0000000000000000"},
                               "damaged its worker process: the answer is not a message");
}

TEST_F(WorkerFaults, ThatAreCrashesOnceAUnitIsAnsweredCostNone) {
  for (const DeviceDescription& device : first_devices()) {
    const std::string& platform = device.identity.platform_name;
    SCOPED_TRACE(platform);
    set_faults("crash at=clReleaseProgram platform=\"" + platform + "\"\n");
    const std::vector<UnitResult> results = build_three({device}, std::chrono::seconds(300));
    ASSERT_EQ(results.size(), 3U);
    for (const UnitResult& result : results) {
      EXPECT_TRUE(is_built(result)) << result.failure;
    }
    const std::size_t crashes = fault_log_lines({"clReleaseProgram", "crash"}).size();
    if (unit_isolation(device.identity) == UnitIsolation::copy) {
      EXPECT_EQ(crashes, 0U) << "the end of the copy releases the unit's objects";
    } else {
      EXPECT_GE(crashes, 2U);
    }
  }
}

TEST_F(WorkerFaults, ThatEndHalfwayThroughAMessageCostOneUnit) {
  // A build reply of one MiB, of which only two bytes arrive.
  expect_only_the_second_fails(devices_by_isolation(),
                               {"scribble file=3 hex=0400000000001000000000006162", "crash"},
                               "crashed (signal 11)");
}

} // namespace
} // namespace oclcc::worker

// Runs all steps on the machine's own drivers: build, bundle, load.

#include "driver_samples.hpp"
#include "opencl/device_query.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

namespace clbin::loader {
namespace {

using base::Result;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LoadProgramOnDrivers, LoadsBackTheBinaryOfThisVeryDevice) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle =
        test::make_bundle({test::build_entry(installed, context, test::sample_source(), "-DBASE=2"),
                           test::foreign_entry("scale")});
    LoadReport report;
    const auto program =
        test::load(installed.driver, bundle, context.get(),
                   test::request_for({installed.device}, FallbackPolicy::never), report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(report.origin, Origin::entry);
    ASSERT_EQ(report.attempts.size(), 1U) << describe(report);
    EXPECT_EQ(to_string(report.attempts[0].rule), "exact identity");
    test::expect_kernels(installed, *program);
  }
}

TEST(LoadProgramOnDrivers, BuildsSourceWithHeadersWhereNoEntryFits) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = test::make_bundle({test::foreign_entry("scale")});
    LoadReport report;
    const auto program =
        test::load(installed.driver, bundle, context.get(),
                   test::request_for({installed.device}, FallbackPolicy::if_needed), report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(report.origin, Origin::source);
    ASSERT_EQ(report.attempts.size(), 2U) << describe(report);
    EXPECT_EQ(report.attempts[0].decision, Decision::not_attempted);
    EXPECT_EQ(report.attempts[0].target, "nvptx:sm_999");
    test::expect_kernels(installed, *program);
  }
}

TEST(LoadProgramOnDrivers, PrefersTheVariantWhoseExtensionsTheDeviceHas) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = test::make_bundle({}, test::half_source(),
                                          {{"default", ""}, {"half", "-DHALF", {"cl_khr_fp16"}}});
    const auto extensions = opencl::device_extensions(installed.driver, installed.device);
    ASSERT_TRUE(extensions.has_value()) << extensions.error().message;
    const bool has_half = std::ranges::find(*extensions, "cl_khr_fp16") != extensions->end();
    std::cout << installed.name << (has_half ? ": half\n" : ": default\n");
    LoadReport report;
    LoadRequest request = test::request_for({installed.device}, FallbackPolicy::if_needed);
    const auto program = test::load(installed.driver, bundle, context.get(), request, report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(report.variant, has_half ? "half" : "default") << describe(report);
    request.variant = "half";
    const auto named = test::load(installed.driver, bundle, context.get(), request, report);
    EXPECT_EQ(named.has_value(), has_half) << describe(report);
  }
}

TEST(LoadProgramOnDrivers, BuildsSourceWithOptionsOfRunTime) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = test::make_bundle(
        {test::build_entry(installed, context, test::sample_source(), "-DBASE=2")});
    LoadRequest request = test::request_for({installed.device}, FallbackPolicy::if_needed);
    request.extra_options = "-DSEVEN=7 -cl-fast-relaxed-math";
    LoadReport report;
    const auto program = test::load(installed.driver, bundle, context.get(), request, report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(report.origin, Origin::source);
    test::expect_kernels(installed, *program);
  }
}

// Loads like a new process, with the cache of the previous one.
Result<opencl::Program> load_as_new_process(const test::InstalledDevice& installed,
                                            const opencl::Context& context,
                                            const LoadRequest& request, LoadReport& report) {
  ProgramCache cache(cache::CacheSettings::from_environment(cache::this_process()));
  const auto bundle = test::make_bundle({test::foreign_entry("scale")});
  return load_program(installed.driver, bundle, cache, context.get(), request, report);
}

TEST(LoadProgramOnDrivers, LoadsWhatSourceGaveAtTheNextStart) {
  int number = 0; // a second device of the same kind would load the first one's entry
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    LoadRequest request = test::request_for({installed.device}, FallbackPolicy::if_needed);
    request.extra_options = "-DSEVEN=7 -DDEVICE=" + std::to_string(number++);
    LoadReport report;
    ASSERT_TRUE(load_as_new_process(installed, context, request, report).has_value());
    EXPECT_EQ(report.origin, Origin::source) << describe(report);
    EXPECT_THAT(report.warnings, IsEmpty());

    const auto again = load_as_new_process(installed, context, request, report);
    ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << describe(report);
    test::expect_kernels(installed, *again);
    EXPECT_THAT(report.warnings, IsEmpty());
    if (installed.name.starts_with("Portable Computing Language")) {
      EXPECT_EQ(report.origin, Origin::source) << describe(report); // from PoCL's own cache
      EXPECT_THAT(describe(report), HasSubstr("PoCL caches its own builds"));
    } else {
      EXPECT_EQ(report.origin, Origin::user_cache) << describe(report);
    }
  }
}

TEST(LoadProgramOnDrivers, GivesTheBuildLogOfSourceThatDoesNotCompile) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const opencl::Context context = test::make_context(installed);
    const auto bundle = test::make_bundle({});
    LoadRequest request = test::request_for({installed.device}, FallbackPolicy::if_needed);
    request.extra_options = "-Dscale=no_such_thing -Dglobal=nonsense";
    LoadReport report;
    const auto program = test::load(installed.driver, bundle, context.get(), request, report);
    ASSERT_FALSE(program.has_value());
    EXPECT_EQ(program.error().code, base::ErrorCode::build_failed);
    EXPECT_THAT(program.error().message, HasSubstr("building 'kernels/sample.cl' for '"));
    EXPECT_THAT(program.error().message, HasSubstr("nonsense"));
  }
}

// Two devices of one platform: PoCL lists its CPU as often as POCL_DEVICES says. It reads the
// variable when the platform starts, and each test is a separate process.
class TwoPoclDevices : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(setenv("POCL_DEVICES", "pthread pthread", 1), 0);
    std::string reason;
    for (const test::InstalledDevice& installed : test::installed_devices(reason)) {
      if (installed.name.starts_with("Portable Computing Language")) {
        m_driver = installed.driver;
        m_devices.push_back(installed.device);
        m_installed.push_back(installed);
      }
    }
    if (m_devices.size() < 2) {
      GTEST_SKIP() << "PoCL, which can list two devices of one platform, is not installed";
    }
    cl_int code = CL_SUCCESS;
    m_context = opencl::Context(
        m_driver.CreateContext(nullptr, 2, m_devices.data(), nullptr, nullptr, &code),
        m_driver.ReleaseContext);
    ASSERT_EQ(code, CL_SUCCESS) << opencl::cl_error_name(code);
  }

  opencl::Driver m_driver;
  std::vector<cl_device_id> m_devices;
  std::vector<test::InstalledDevice> m_installed;
  opencl::Context m_context;
};

TEST_F(TwoPoclDevices, LoadOneProgramFromTheirBinaries) {
  const opencl::Context alone = test::make_context(m_installed[0]);
  const auto bundle = test::make_bundle(
      {test::build_entry(m_installed[0], alone, test::sample_source(), "-DBASE=2")});
  LoadReport report;
  const auto program = test::load(m_driver, bundle, m_context.get(),
                                  test::request_for(m_devices, FallbackPolicy::never), report);
  ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
  EXPECT_EQ(report.origin, Origin::entry);
  EXPECT_EQ(to_string(report.attempts.back().rule), "several devices");
  test::expect_kernels(m_installed[0], *program);
}

TEST_F(TwoPoclDevices, LoadOneProgramFromSource) {
  const auto bundle = test::make_bundle({test::foreign_entry("scale")});
  LoadReport report;
  const auto program = test::load(m_driver, bundle, m_context.get(),
                                  test::request_for(m_devices, FallbackPolicy::if_needed), report);
  ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
  EXPECT_EQ(report.origin, Origin::source);
  test::expect_kernels(m_installed[0], *program);
}

// Returns the devices of the first platform here that has two. Empty if there is none.
std::vector<test::InstalledDevice> two_of_one_platform() {
  std::string reason;
  const auto all = test::installed_devices(reason);
  for (std::size_t i = 1; i < all.size(); ++i) {
    // PoCL caches its own builds.
    if (all[i].platform == all[i - 1].platform &&
        !all[i].name.starts_with("Portable Computing Language")) {
      return {all[i - 1], all[i]};
    }
  }
  return {};
}

TEST(LoadProgramOnDrivers, LoadsWhatSourceGaveForTwoDevicesAtTheNextStart) {
  const auto installed = two_of_one_platform();
  if (installed.empty()) {
    GTEST_SKIP() << "no platform here except PoCL has two devices";
  }
  const opencl::Driver& driver = installed[0].driver;
  const std::vector<cl_device_id> devices{installed[0].device, installed[1].device};
  cl_int code = CL_SUCCESS;
  const opencl::Context context(
      driver.CreateContext(nullptr, 2, devices.data(), nullptr, nullptr, &code),
      driver.ReleaseContext);
  ASSERT_EQ(code, CL_SUCCESS) << opencl::cl_error_name(code);
  const LoadRequest request = test::request_for(devices, FallbackPolicy::if_needed);
  for (const Origin origin : {Origin::source, Origin::user_cache}) {
    LoadReport report;
    const auto program = load_as_new_process(installed[0], context, request, report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(report.origin, origin) << describe(report);
    EXPECT_THAT(report.warnings, IsEmpty());
    test::expect_kernels(installed[0], *program);
  }
}

// Returns null if the device cannot be divided. Creating sub-devices crashes rusticl 22.3
// (doc/drivers.md).
cl_device_id make_sub_device(const test::InstalledDevice& installed) {
  if (installed.name.starts_with("rusticl")) {
    return nullptr;
  }
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto create = reinterpret_cast<decltype(&::clCreateSubDevices)>(
      library == nullptr ? nullptr : dlsym(library, "clCreateSubDevices"));
  const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                     CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id part = nullptr;
  cl_uint count = 0;
  if (create == nullptr || create(installed.device, properties, 1, &part, &count) != CL_SUCCESS ||
      count != 1) {
    return nullptr;
  }
  return part;
}

TEST(LoadProgramOnDrivers, LoadsTheParentsBinaryOnASubDevice) {
  int loaded = 0;
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    cl_device_id part = make_sub_device(installed);
    if (part == nullptr) {
      continue;
    }
    const opencl::Context parent_context = test::make_context(installed);
    const auto bundle = test::make_bundle(
        {test::build_entry(installed, parent_context, test::sample_source(), "-DBASE=2")});
    const test::InstalledDevice sub_device{installed.driver, installed.platform, part,
                                           installed.name + " (a part)"};
    const opencl::Context context = test::make_context(sub_device);
    LoadReport report;
    const auto program = test::load(installed.driver, bundle, context.get(),
                                    test::request_for({part}, FallbackPolicy::never), report);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(report);
    EXPECT_EQ(to_string(report.attempts[0].rule), "exact identity");
    test::expect_kernels(installed, *program);
    ++loaded;
  }
  if (loaded == 0) {
    GTEST_SKIP() << "no device here can be divided";
  }
}

} // namespace
} // namespace clbin::loader

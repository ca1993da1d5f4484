// Loads a bundle of each platform on every other platform. Foreign bytes never reach a driver,
// because rusticl 22.3 aborts the process on them (doc/drivers.md). Source is built instead.
#include "faults/host_run.hpp"
#include "support/fault_layer.hpp"
#include "support/installed_devices.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_surgery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <sys/resource.h>

namespace clbin::test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Runs `body` for each pair of platforms. Skips the test if there is only one platform.
template <typename Body>
void for_each_pair(const Body& body) {
  if (host_platforms().size() < 2) {
    GTEST_SKIP() << "this machine has " << host_platforms().size() << " OpenCL platform(s), not 2";
  }
  for (const HostPlatform& maker : host_platforms()) {
    for (const HostPlatform& user : host_platforms()) {
      if (maker.vendor != user.vendor) {
        SCOPED_TRACE(maker.name + " on " + user.name);
        body(maker, user);
      }
    }
  }
}

// Runs with an empty user cache.
HostRun run_fresh(const HostPlatform& platform, const std::filesystem::path& bundle) {
  const auto cache = base::TemporaryFolder::create({}, "clbin-foreign-").value();
  HostStart start;
  start.environment = {{"CLBIN_CACHE_DIR", cache.path().string()}};
  return run_host(platform, bundle, start);
}

void expect_no_attempt(const HostRun& run) {
  EXPECT_THAT(fault_log_lines({"clCreateProgramWithBinary"}), IsEmpty());
  for (const AttemptTold& attempt : run.last().attempts) {
    if (attempt.origin == 1) { // an entry
      EXPECT_EQ(attempt.decision, 2) << run.output;
      EXPECT_FALSE(attempt.reason.empty());
    }
  }
}

TEST(ForeignBundles, SourceServesAndNoForeignEntryIsAttempted) {
  for_each_pair([](const HostPlatform& maker, const HostPlatform& user) {
    set_faults("");
    const HostRun run = run_fresh(user, maker.bundle(BundleKind::both));
    EXPECT_EQ(run.summary(), "source 42 63") << run.output;
    EXPECT_THAT(run.last().path(),
                ElementsAre("not attempted user cache", "not attempted not compatible",
                            "not attempted not compatible", "loaded source"));
    expect_no_attempt(run);
  });
}

TEST(ForeignBundles, WithoutSourceTheErrorSaysSo) {
  for_each_pair([](const HostPlatform& maker, const HostPlatform& user) {
    set_faults("");
    const HostRun run = run_fresh(user, maker.bundle(BundleKind::entries));
    EXPECT_EQ(run.summary(), "CLBIN_ERROR_NO_SOURCE") << run.output;
    EXPECT_THAT(run.last().message,
                StartsWith("no entry of program 'numbers', variant 'default', for '"));
    EXPECT_THAT(run.last().message,
                EndsWith("matches, and the bundle does not contain its source"));
    expect_no_attempt(run);
  });
}

// A device that reports another platform's names still does not get that platform's bytes, unless
// it also reports its version.
TEST(ForeignBundles, ADeviceThatTakesAnothersNameIsNotGivenItsEntry) {
  for_each_pair([](const HostPlatform& maker, const HostPlatform& user) {
    const auto slash = maker.name.find(" / ");
    set_faults("answer at=clGetPlatformInfo name=CL_PLATFORM_NAME value=\"" +
               maker.name.substr(0, slash) +
               "\"\nanswer at=clGetDeviceInfo name=CL_DEVICE_NAME value=\"" +
               maker.name.substr(slash + 3) + "\"\n");
    const HostRun run = run_fresh(user, maker.bundle(BundleKind::both));
    EXPECT_EQ(run.summary(), "source 42 63") << run.output;
    expect_no_attempt(run);
  });
}

// Passes PTX to the driver, which libclbin never does. Returns whether the driver rejected it.
bool bare_driver_refuses_ptx() {
  constexpr std::string_view k_ptx =
      "//\n.version 99.0\n.target sm_999, texmode_independent\n.address_size 64\n";
  std::string reason;
  const InstalledDevice installed = installed_devices(reason).at(0);
  const opencl::Context context = make_context(installed);
  const auto* bytes = reinterpret_cast<const unsigned char*>(k_ptx.data());
  const std::size_t size = k_ptx.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const opencl::Program program(installed.driver.CreateProgramWithBinary(context.get(), 1,
                                                                         &installed.device, &size,
                                                                         &bytes, &status, &code),
                                installed.driver.ReleaseProgram);
  return code != CL_SUCCESS || !program;
}

// The reason for these tests: rusticl 22.3 panics ("unknown version") and ends the process
// (doc/drivers.md).
TEST(ForeignBundles, ABareDriverMayEndTheProcessOverForeignBytes) {
  set_faults("");
  for (const HostPlatform& platform : host_platforms()) {
    SCOPED_TRACE(platform.name);
    const ChildEnd end = run_in_child([&] {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      setenv("OCL_ICD_VENDORS", platform.vendor.c_str(), 1);
      return bare_driver_refuses_ptx() ? 0 : 1;
    });
    if (platform.is_rusticl_22()) {
      EXPECT_EQ(end.signal_number, SIGABRT) << "rusticl 22 no longer aborts on foreign bytes";
    } else if (platform.needs_equal_identity()) {
      EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
    }
  }
}

format::BundleReader open_bundle(const std::filesystem::path& path) {
  return format::BundleReader::open(base::open_file_source(path).value(), {},
                                    format::TrailingBytes::refuse)
      .value();
}

TEST(ForeignBundles, OneBundleOfAllPlatformsServesEachWithItsOwnEntry) {
  if (host_platforms().empty()) {
    GTEST_SKIP() << "this machine has no OpenCL device";
  }
  std::vector<format::BundleReader> readers;
  std::vector<const format::BundleReader*> inputs;
  for (const HostPlatform& platform : host_platforms()) {
    readers.push_back(open_bundle(platform.bundle(BundleKind::both)));
  }
  for (const format::BundleReader& reader : readers) {
    inputs.push_back(&reader);
  }
  const auto merged = format::merge_bundles(inputs);
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  const auto folder = base::TemporaryFolder::create({}, "clbin-merged-").value();
  const auto bundle = folder.path() / "all.clbin";
  ASSERT_TRUE(base::write_output_file(bundle, *merged).has_value());
  for (const HostPlatform& platform : host_platforms()) {
    SCOPED_TRACE(platform.name);
    set_faults("");
    const HostRun run = run_fresh(platform, bundle);
    EXPECT_EQ(run.summary(), "entry 42 63") << run.output;
    EXPECT_THAT(run.last().path(), ElementsAre("loaded exact identity"));
    EXPECT_EQ(fault_log_lines({"clCreateProgramWithBinary"}).size(), 1U);
    EXPECT_THAT(fault_log_lines({"clCompileProgram"}), IsEmpty());
  }
}

} // namespace
} // namespace clbin::test

// Lists the installed devices, also if drivers fail during the listing.
#include "worker/installed_devices.hpp"

#include "base/file_io.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

using clbin::base::ErrorCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InstalledDevices : public ::testing::Test {
protected:
  void SetUp() override {
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
    ::setenv("OCL_ICD_VENDORS", m_folder->path().c_str(), 1);
    ::unsetenv("OPENCL_VENDOR_PATH");
  }

  void install(const std::string& icd_file, const std::string& library) {
    std::ofstream(m_folder->path() / icd_file) << library;
  }
  // Installs the two drivers that the stub simulates.
  void install_both() {
    install("1.icd", "/stub/first.so\n");
    install("2.icd", "/stub/second.so\n");
  }

  static clbin::base::Result<worker::InstalledDevices> find(const std::string& mode) {
    return find_installed_devices(stub_settings(mode), PropertyQuery::skip);
  }

  static std::vector<std::string> places(const worker::InstalledDevices& found) {
    std::vector<std::string> all;
    for (const DeviceDescription& device : found.devices) {
      all.push_back(
          fmt::format("{}:{} {}", device.platform, device.device, device.identity.device_name));
    }
    return all;
  }

  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(InstalledDevices, TellsThatTheLoaderIsMissing) {
  const auto devices = find("no-opencl");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::no_opencl);
  EXPECT_EQ(devices.error().message, "no OpenCL loader here");
}

TEST_F(InstalledDevices, TellsWhatToInstallWhereThereIsNone) {
  const auto devices = find("no-devices");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::no_device);
  EXPECT_THAT(devices.error().message, HasSubstr("install"));
  EXPECT_THAT(devices.error().message, HasSubstr("pocl-opencl-icd"));
}

TEST_F(InstalledDevices, TellsThatADriverCrashedAndWhatItPrinted) {
  const auto devices = find("crash");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::no_device);
  EXPECT_EQ(devices.error().message,
            "an OpenCL driver that was listing its devices crashed (signal "
            "11); it printed: no such GPU");
}

TEST_F(InstalledDevices, AreFoundByOneWorkerWhereNoDriverFails) {
  install_both();
  const auto found = find("devices");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(places(*found), ElementsAre("0:0 Stub A", "0:1 Stub B", "1:0 Stub C"));
  EXPECT_EQ(found->workers.size(), 1U);
  EXPECT_THAT(found->failures, IsEmpty());
}

TEST_F(InstalledDevices, AreThoseOfTheOtherDriversWhenOneCrashes) {
  install_both();
  const auto found = find("crash-first");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(places(*found), ElementsAre("0:0 Stub C"));
  EXPECT_THAT(
      found->failures,
      ElementsAre("'/stub/first.so' is skipped: while listing its devices, it crashed (signal "
                  "11); it printed: no such GPU"));
  ASSERT_EQ(found->workers.size(), 1U);
  EXPECT_TRUE(found->workers[0].process.alive());
  EXPECT_EQ(found->workers[0].first_platform, 0U);
}

TEST_F(InstalledDevices, AreThoseOfTheOtherDriversWhenOneHangs) {
  install_both();
  WorkerSettings settings = stub_settings("hang-first");
  settings.enumeration_timeout = std::chrono::seconds(3);
  const auto found = find_installed_devices(settings, PropertyQuery::skip);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(places(*found), ElementsAre("0:0 Stub C"));
  EXPECT_THAT(
      found->failures,
      ElementsAre("'/stub/first.so' is skipped: while listing its devices, it did not finish "
                  "within 3 s"));
}

TEST_F(InstalledDevices, AreThoseOfTheOtherDriversWhenOneAnswersWithAnError) {
  install_both();
  const auto found = find("error-first");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(places(*found), ElementsAre("0:0 Stub C"));
  EXPECT_THAT(found->failures,
              ElementsAre("'/stub/first.so' is skipped: while listing its devices, it failed: "
                          "device 0:0: clGetDeviceInfo failed"));
}

TEST_F(InstalledDevices, NumberPlatformsOfWorkersThatSeeOneEach) {
  install("0.icd", "/stub/first.so"); // the other one crashes only beside it
  install("1.icd", "/stub/second.so");
  install("2.icd", "/stub/broken.so");
  const auto found = find("crash-together");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(places(*found), ElementsAre("0:0 Stub A", "0:1 Stub B", "1:0 Stub C"));
  ASSERT_EQ(found->workers.size(), 2U);
  EXPECT_EQ(found->workers[0].first_platform, 0U);
  EXPECT_EQ(found->workers[1].first_platform, 1U);
  EXPECT_EQ(found->workers[1].devices.front().platform, 0U) << "as the worker numbers it";
}

TEST_F(InstalledDevices, NameEveryDriverWhereAllFail) {
  install_both();
  const auto found = find("crash");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::no_device);
  EXPECT_EQ(found.error().message,
            "no OpenCL driver lists a device: '/stub/first.so' is skipped: while listing its "
            "devices, it crashed (signal 11); it printed: no such GPU; '/stub/second.so' is "
            "skipped: while listing its devices, it crashed (signal 11); it printed: no such GPU");
}

TEST_F(InstalledDevices, ComeFromDriversThatIcdFilesNameEachOnce) {
  install("b.icd", "/opt/b.so\r\nsecond line");
  install("a.icd", "liba.so");
  install("c.icd", "liba.so");
  install("d.icd", "");
  install("readme", "/opt/not.so");
  EXPECT_THAT(installed_driver_libraries(), ElementsAre("liba.so", "/opt/b.so"));
}

TEST_F(InstalledDevices, ComeFromTheOneDriverThatTheEnvironmentNames) {
  install("b.icd", "/opt/b.so");
  ::setenv("OCL_ICD_VENDORS", (m_folder->path() / "b.icd").c_str(), 1);
  EXPECT_THAT(installed_driver_libraries(), ElementsAre("/opt/b.so"));
  ::setenv("OPENCL_VENDOR_PATH", m_folder->path().c_str(), 1);
  ::setenv("OCL_ICD_VENDORS", "b.icd", 1);
  EXPECT_THAT(installed_driver_libraries(), ElementsAre("/opt/b.so"));
  ::setenv("OCL_ICD_VENDORS", "/opt/libother.so", 1);
  EXPECT_THAT(installed_driver_libraries(), ElementsAre("/opt/libother.so"));
  ::unsetenv("OCL_ICD_VENDORS");
  EXPECT_THAT(installed_driver_libraries(), ElementsAre("/opt/b.so"));
}

} // namespace
} // namespace oclcc::worker

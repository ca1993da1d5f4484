// The layer injects exactly the faults of its scenario, on every platform.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // declares clCreateCommandQueue, which every platform has
#include "faults/host_run.hpp"
#include "opencl/device_query.hpp"
#include "opencl/driver.hpp"
#include "opencl/program_build.hpp"
#include "support/child_process.hpp"
#include "support/fault_layer.hpp"
#include "support/installed_devices.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace clbin {
namespace {

using opencl::BuildOutcome;
using opencl::cl_error_name;
using opencl::Context;
using test::ChildEnd;
using test::fault_log_lines;
using test::host_platforms;
using test::HostPlatform;
using test::InstalledDevice;
using test::set_faults;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

format::SourcePackage two_kernels() {
  return {{"two.cl", "two.cl",
           "kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }\n"
           "kernel void thrice(global int* a) { a[get_global_id(0)] *= 3; }\n"},
          {}};
}

BuildOutcome build_source(const InstalledDevice& installed, const Context& context) {
  return opencl::build_from_source(installed.driver, context.get(), {installed.device},
                                   two_kernels(), "");
}

BuildOutcome build_binary(const InstalledDevice& installed, const Context& context,
                          const base::Bytes& binary) {
  return opencl::build_from_binary(installed.driver, context.get(), installed.device, binary, "",
                                   {"twice", "thrice"});
}

// A binary that is built before any fault is set.
base::Bytes good_binary(const InstalledDevice& installed, const Context& context) {
  const BuildOutcome built = build_source(installed, context);
  EXPECT_EQ(built.code, CL_SUCCESS) << built.log;
  auto binary = opencl::program_binary(installed.driver, built.program.get(), installed.device);
  EXPECT_TRUE(binary.has_value()) << binary.error().message;
  return binary.value_or(base::Bytes());
}

template <typename Function>
Function opencl_function(const char* name) {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NODELETE);
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Runs "twice" on one number. Returns CL_SUCCESS and 42, or the first error code.
std::pair<cl_int, cl_int> launch(const InstalledDevice& installed, const Context& context,
                                 cl_program program) {
  cl_int code = CL_SUCCESS;
  cl_int number = 21;
  const auto queue = opencl_function<decltype(&clCreateCommandQueue)>("clCreateCommandQueue")(
      context.get(), installed.device, 0, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  const auto buffer = opencl_function<decltype(&clCreateBuffer)>("clCreateBuffer")(
      context.get(), CL_MEM_COPY_HOST_PTR, sizeof number, &number, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  const auto kernel = installed.driver.CreateKernel(program, "twice", &code);
  EXPECT_EQ(code, CL_SUCCESS);
  opencl_function<decltype(&clSetKernelArg)>("clSetKernelArg")(kernel, 0, sizeof(cl_mem), &buffer);
  const std::size_t one = 1;
  code = opencl_function<decltype(&clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  if (code == CL_SUCCESS) {
    code = opencl_function<decltype(&clEnqueueReadBuffer)>("clEnqueueReadBuffer")(
        queue, buffer, CL_TRUE, 0, sizeof number, &number, 0, nullptr, nullptr);
  }
  opencl_function<decltype(&clReleaseMemObject)>("clReleaseMemObject")(buffer);
  installed.driver.ReleaseKernel(kernel);
  opencl_function<decltype(&clReleaseCommandQueue)>("clReleaseCommandQueue")(queue);
  return {code, number};
}

TEST(FaultLayer, PassesEveryCallOnWithoutAScenario) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    const BuildOutcome loaded = build_binary(installed, context, binary);
    ASSERT_EQ(loaded.code, CL_SUCCESS) << cl_error_name(loaded.code);
    EXPECT_EQ(launch(installed, context, loaded.program.get()), std::pair(CL_SUCCESS, 42));

    const std::string device = "device='" + installed.name + "'";
    for (const char* call : {"clCreateContext", "clCreateProgramWithSource", "clGetProgramInfo",
                             "clCreateKernel", "clEnqueueNDRangeKernel"}) {
      EXPECT_THAT(fault_log_lines({call, device, "-> passed", "code=0"}), Not(SizeIs(0))) << call;
    }
    EXPECT_THAT(test::fault_log(), ::testing::Contains("clCreateProgramWithBinary origin=binary " +
                                                       device + " -> passed code=0"));
    EXPECT_THAT(test::fault_log(), ::testing::Contains("clBuildProgram origin=binary " + device +
                                                       " -> passed code=0"));
  }
}

TEST(FaultLayer, ChangesWhatDevicesAndPlatformsSayOfThemselves) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const auto before = opencl::query_identity(installed.driver, installed.device);
    ASSERT_TRUE(before.has_value()) << before.error().message;
    set_faults("answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=\"9.9 new\" device=\"" +
               before->device_name +
               "\"\n"
               "answer at=clGetDeviceInfo name=CL_DEVICE_NAME value=other\n"
               "answer at=clGetPlatformInfo name=CL_PLATFORM_VERSION value=\"OpenCL 9.9\"\n"
               "answer at=clGetDeviceInfo name=CL_DEVICE_VENDOR value=wrong platform=NotThisOne\n");
    const auto after = opencl::query_identity(installed.driver, installed.device);
    ASSERT_TRUE(after.has_value()) << after.error().message;
    format::DeviceIdentity expected = *before;
    expected.driver_version = "9.9 new";
    expected.device_name = "other";
    expected.platform_version = "OpenCL 9.9";
    EXPECT_EQ(*after, expected);
  }
}

TEST(FaultLayer, TurnsThePlatformsRound) {
  const auto driver = opencl::open_icd_driver();
  if (!driver) {
    GTEST_SKIP() << driver.error().message;
  }
  const auto before = opencl::list_platforms(*driver);
  ASSERT_TRUE(before.has_value()) << before.error().message;
  set_faults("reverse at=clGetPlatformIDs");
  auto after = opencl::list_platforms(*driver);
  ASSERT_TRUE(after.has_value()) << after.error().message;
  std::reverse(after->begin(), after->end());
  EXPECT_EQ(*after, *before);
  EXPECT_THAT(fault_log_lines({"clGetPlatformIDs", "reverse"}), Not(SizeIs(0)));
}

// PoCL creates as many devices as POCL_DEVICES lists.
std::vector<cl_device_id> two_pocl_devices(const opencl::Driver& driver) {
  const auto platforms = opencl::list_platforms(driver).value();
  for (cl_platform_id platform : platforms) {
    if (opencl::platform_text(driver, platform, CL_PLATFORM_NAME) ==
        "Portable Computing Language") {
      return opencl::list_devices(driver, platform).value();
    }
  }
  return {};
}

TEST(FaultLayer, TurnsTheDevicesRound) {
  ASSERT_EQ(setenv("POCL_DEVICES", "pthread basic", 1), 0);
  const auto driver = opencl::open_icd_driver();
  const auto before = driver.has_value() ? two_pocl_devices(*driver) : std::vector<cl_device_id>();
  if (before.size() < 2) {
    GTEST_SKIP() << "no platform here shows two devices";
  }
  set_faults("reverse at=clGetDeviceIDs platform=Portable");
  EXPECT_THAT(two_pocl_devices(*driver), ElementsAre(before[1], before[0]));
}

// The devices of a program, and their binaries.
struct ProgramLists {
  std::vector<cl_device_id> devices;
  std::vector<base::Bytes> binaries;
};

ProgramLists lists_of(const opencl::Driver& driver, cl_program program) {
  ProgramLists lists;
  lists.devices.resize(2);
  std::array<std::size_t, 2> sizes{};
  EXPECT_EQ(driver.GetProgramInfo(program, CL_PROGRAM_DEVICES, 2 * sizeof(cl_device_id),
                                  static_cast<void*>(lists.devices.data()), nullptr),
            CL_SUCCESS);
  EXPECT_EQ(
      driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes.data(), nullptr),
      CL_SUCCESS);
  lists.binaries = {base::Bytes(sizes[0]), base::Bytes(sizes[1])};
  std::array places{lists.binaries[0].data(), lists.binaries[1].data()};
  EXPECT_EQ(driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof places,
                                  static_cast<void*>(places.data()), nullptr),
            CL_SUCCESS);
  return lists;
}

TEST(FaultLayer, TurnsTheDevicesOfContextsAndProgramsRound) {
  ASSERT_EQ(setenv("POCL_DEVICES", "pthread basic", 1), 0);
  const auto driver = opencl::open_icd_driver();
  const auto devices = driver.has_value() ? two_pocl_devices(*driver) : std::vector<cl_device_id>();
  if (devices.size() < 2) {
    GTEST_SKIP() << "no platform here shows two devices";
  }
  set_faults("");
  cl_int code = CL_SUCCESS;
  const Context context(driver->CreateContext(nullptr, 2, devices.data(), nullptr, nullptr, &code),
                        driver->ReleaseContext);
  ASSERT_EQ(code, CL_SUCCESS);
  const BuildOutcome built =
      opencl::build_from_source(*driver, context.get(), devices, two_kernels(), "");
  ASSERT_EQ(built.code, CL_SUCCESS) << built.log;
  const ProgramLists before = lists_of(*driver, built.program.get());
  set_faults("reverse at=clGetProgramInfo\nreverse at=clGetContextInfo");
  const ProgramLists after = lists_of(*driver, built.program.get());
  EXPECT_THAT(after.devices, ElementsAre(before.devices[1], before.devices[0]));
  EXPECT_THAT(after.binaries, ElementsAre(before.binaries[1], before.binaries[0]));
  std::array<cl_device_id, 2> listed{};
  EXPECT_EQ(driver->GetContextInfo(context.get(), CL_CONTEXT_DEVICES, sizeof listed,
                                   static_cast<void*>(listed.data()), nullptr),
            CL_SUCCESS);
  EXPECT_THAT(listed, ElementsAre(devices[1], devices[0]));
}

TEST(FaultLayer, LastStatusHidesTheFirstDevicesRefusalBehindTheSecond) {
  ASSERT_EQ(setenv("POCL_DEVICES", "pthread basic", 1), 0);
  const auto driver = opencl::open_icd_driver();
  const auto devices = driver.has_value() ? two_pocl_devices(*driver) : std::vector<cl_device_id>();
  if (devices.size() < 2) {
    GTEST_SKIP() << "no platform here shows two devices";
  }
  std::vector<base::Bytes> binaries;
  for (cl_device_id device : devices) {
    const InstalledDevice installed{*driver, nullptr, device, "PoCL"};
    binaries.push_back(good_binary(installed, test::make_context(installed)));
  }
  cl_int code = CL_SUCCESS;
  const Context context(driver->CreateContext(nullptr, 2, devices.data(), nullptr, nullptr, &code),
                        driver->ReleaseContext);
  ASSERT_EQ(code, CL_SUCCESS);
  set_faults("refuse style=last-status");
  const std::array sizes{binaries[0].size(), binaries[1].size()};
  std::array bytes{reinterpret_cast<const unsigned char*>(binaries[0].data()),
                   reinterpret_cast<const unsigned char*>(binaries[1].data())};
  std::array<cl_int, 2> statuses{1, 1};
  const opencl::Program program(driver->CreateProgramWithBinary(context.get(), 2, devices.data(),
                                                                sizes.data(), bytes.data(),
                                                                statuses.data(), &code),
                                driver->ReleaseProgram);
  EXPECT_TRUE(program);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_THAT(statuses, ElementsAre(CL_INVALID_BINARY, CL_SUCCESS));
}

struct Refusal {
  const char* style;
  bool has_program;
  cl_int code;
  cl_int status; // 1: not written
};

TEST(FaultLayer, RefusesAtCreateInEachStyle) {
  constexpr std::array k_refusals{
      Refusal{"honest", false, CL_INVALID_BINARY, CL_INVALID_BINARY},
      Refusal{"null-success", false, CL_SUCCESS, CL_SUCCESS},
      Refusal{"status-success", false, CL_INVALID_BINARY, CL_SUCCESS},
      Refusal{"unwritten-status", false, CL_INVALID_BINARY, 1},
      Refusal{"program-with-error", true, CL_INVALID_BINARY, CL_INVALID_BINARY},
      Refusal{"last-status", true, CL_INVALID_BINARY, CL_INVALID_BINARY},
  };
  CLBIN_FOR_EACH_DEVICE(installed) {
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    for (const Refusal& refusal : k_refusals) {
      SCOPED_TRACE(installed.name + ", " + refusal.style);
      set_faults(std::string("refuse style=") + refusal.style);
      const std::size_t size = binary.size();
      const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
      cl_int code = 1;
      cl_int status = 1;
      const opencl::Program program(
          installed.driver.CreateProgramWithBinary(context.get(), 1, &installed.device, &size,
                                                   &bytes, &status, &code),
          installed.driver.ReleaseProgram);
      EXPECT_EQ(static_cast<bool>(program), refusal.has_program);
      EXPECT_EQ(code, refusal.code);
      EXPECT_EQ(status, refusal.status);
      EXPECT_THAT(
          fault_log_lines({"clCreateProgramWithBinary", std::string("-> refuse:") + refusal.style}),
          SizeIs(1));
    }
  }
}

TEST(FaultLayer, IsSeenThroughByOurAttemptInEachStyle) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    for (const char* style : {"honest", "null-success", "status-success", "unwritten-status",
                              "program-with-error", "last-status"}) {
      SCOPED_TRACE(installed.name + ", " + style);
      set_faults(std::string("refuse style=") + style);
      const BuildOutcome outcome = build_binary(installed, context, binary);
      EXPECT_FALSE(outcome.program);
      EXPECT_EQ(outcome.code, CL_INVALID_BINARY);
      EXPECT_EQ(outcome.stage, "clCreateProgramWithBinary");
      EXPECT_THAT(fault_log_lines({"clBuildProgram"}), SizeIs(0));
      const bool gave_program =
          std::string(style) == "program-with-error" || std::string(style) == "last-status";
      EXPECT_THAT(fault_log_lines({"clReleaseProgram"}), SizeIs(gave_program ? 1 : 0));
    }
  }
}

TEST(FaultLayer, RefusesToBuildBinariesAndStillBuildsSource) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    set_faults("fail at=clBuildProgram origin=binary code=CL_BUILD_PROGRAM_FAILURE "
               "log=\"The program ISA is not compatible\"");
    const BuildOutcome refused = build_binary(installed, context, binary);
    EXPECT_EQ(refused.code, CL_BUILD_PROGRAM_FAILURE);
    EXPECT_EQ(refused.stage, "clBuildProgram");
    EXPECT_EQ(refused.log, "The program ISA is not compatible");
    EXPECT_EQ(build_source(installed, context).code, CL_SUCCESS);
    EXPECT_THAT(fault_log_lines({"clBuildProgram origin=binary", "-> fail code=-11"}), SizeIs(1));
    EXPECT_THAT(fault_log_lines({"clBuildProgram origin=source", "-> passed code=0"}), SizeIs(1));
  }
}

TEST(FaultLayer, PutsAnotherLogBesideABuildThatSucceeds) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    set_faults("build-log text=\"warning: recompiled [-Wrecompiled-from-ir]\" origin=binary");
    const BuildOutcome outcome = build_binary(installed, context, binary);
    EXPECT_EQ(outcome.code, CL_SUCCESS);
    EXPECT_EQ(outcome.log, "warning: recompiled [-Wrecompiled-from-ir]");
  }
}

TEST(FaultLayer, LosesAKernel) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    set_faults("lose-kernel kernel=thrice origin=binary");
    const BuildOutcome lost = build_binary(installed, context, binary);
    EXPECT_EQ(lost.code, CL_INVALID_KERNEL_NAME);
    EXPECT_EQ(lost.log, "the program has no kernel 'thrice'");

    const BuildOutcome source = build_source(installed, context);
    const auto names = opencl::program_kernel_names(installed.driver, source.program.get());
    ASSERT_TRUE(names.has_value()) << names.error().message;
    EXPECT_THAT(*names, UnorderedElementsAre("twice", "thrice"));
  }
}

TEST(FaultLayer, LosesAKernelWhoseNamesAreHiddenToo) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    set_faults("hide-kernel-names");
    EXPECT_EQ(build_binary(installed, context, binary).code, CL_SUCCESS);
    EXPECT_THAT(fault_log_lines({"clCreateKernel ", "-> passed code=0"}), SizeIs(2));
    set_faults("hide-kernel-names\nlose-kernel kernel=twice");
    EXPECT_EQ(build_binary(installed, context, binary).code, CL_INVALID_KERNEL_NAME);
    EXPECT_THAT(fault_log_lines({"clCreateKernel ", "-> lose-kernel code=-46"}), SizeIs(1));
  }
}

TEST(FaultLayer, HandsOutEmptyAndShortBinaries) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const BuildOutcome built = build_source(installed, context);
    const auto whole =
        opencl::program_binary(installed.driver, built.program.get(), installed.device);
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    ASSERT_GT(whole->size(), 16U);
    set_faults("cut-binary bytes=16");
    const auto cut =
        opencl::program_binary(installed.driver, built.program.get(), installed.device);
    ASSERT_TRUE(cut.has_value()) << cut.error().message;
    EXPECT_EQ(*cut, base::Bytes(whole->begin(), whole->begin() + 16));
    set_faults("cut-binary bytes=0");
    const auto empty =
        opencl::program_binary(installed.driver, built.program.get(), installed.device);
    ASSERT_FALSE(empty.has_value());
    EXPECT_EQ(empty.error().code, base::ErrorCode::binary_refused);
  }
}

TEST(FaultLayer, RunsOutOfHostMemoryWhereItIsTold) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    for (const char* call : {"clCreateProgramWithBinary", "clBuildProgram"}) {
      SCOPED_TRACE(installed.name + ", " + call);
      set_faults(std::string("fail code=CL_OUT_OF_HOST_MEMORY at=") + call);
      const BuildOutcome outcome = build_binary(installed, context, binary);
      EXPECT_EQ(outcome.code, CL_OUT_OF_HOST_MEMORY);
      EXPECT_EQ(outcome.stage, call);
    }
    set_faults("fail code=CL_OUT_OF_HOST_MEMORY at=clEnqueueNDRangeKernel");
    const BuildOutcome loaded = build_binary(installed, context, binary);
    EXPECT_EQ(launch(installed, context, loaded.program.get()).first, CL_OUT_OF_HOST_MEMORY);
  }
}

TEST(FaultLayer, FailsOnlyTheCallItIsTold) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    set_faults("");
    const Context context = test::make_context(installed);
    const base::Bytes binary = good_binary(installed, context);
    set_faults("fail at=clBuildProgram origin=binary code=-30 call=2");
    std::vector<cl_int> codes;
    for (int i = 0; i < 3; ++i) {
      (void)build_source(installed, context); // does not count
      codes.push_back(build_binary(installed, context, binary).code);
    }
    EXPECT_THAT(codes, ElementsAre(CL_SUCCESS, -30, CL_SUCCESS));
    set_faults("fail at=clBuildProgram code=-30 device=\"no such device\"");
    EXPECT_EQ(build_binary(installed, context, binary).code, CL_SUCCESS);
  }
}

// --- faults that end a process: in children, each of which starts one platform's driver ----------

int count_devices() {
  std::string reason;
  return static_cast<int>(test::installed_devices(reason).size());
}

// Loads from a binary and launches a kernel, under the scenario for this device of the platform.
int load_and_launch(const HostPlatform& platform, std::size_t index, const std::string& scenario) {
  setenv("OCL_ICD_VENDORS", platform.vendor.c_str(), 1);
  std::string reason;
  const InstalledDevice installed = test::installed_devices(reason).at(index);
  const Context context = test::make_context(installed);
  const base::Bytes binary = good_binary(installed, context);
  set_faults(scenario + " device=\"" +
             opencl::device_text(installed.driver, installed.device, CL_DEVICE_NAME).value() +
             "\"");
  const BuildOutcome loaded = build_binary(installed, context, binary);
  EXPECT_EQ(loaded.code, CL_SUCCESS);
  EXPECT_EQ(launch(installed, context, loaded.program.get()), std::pair(CL_SUCCESS, 42));
  return 0;
}

class FaultLayerInChildren : public ::testing::Test {
protected:
  void SetUp() override {
    set_faults("");
    if (host_platforms().empty()) {
      GTEST_SKIP() << "this machine has no OpenCL device";
    }
  }

  template <typename Body>
  static void for_each_device(const Body& body) {
    for (const HostPlatform& platform : host_platforms()) {
      for (std::size_t index = 0; index < platform.device_count; ++index) {
        SCOPED_TRACE(fmt::format("{}, device {}", platform.name, index));
        body(platform, index);
      }
    }
  }
};

void expect_crash(const HostPlatform& platform, std::size_t index, const std::string& call,
                  int signal_number) {
  const std::string scenario =
      fmt::format("crash at={} signal=SIG{} origin=binary", call, sigabbrev_np(signal_number));
  SCOPED_TRACE(scenario);
  const ChildEnd end =
      test::run_in_child([&] { return load_and_launch(platform, index, scenario); });
  EXPECT_EQ(end, (ChildEnd{std::nullopt, signal_number}));
  const auto lines = test::fault_log();
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), ::testing::StartsWith(call + " origin=binary"));
  EXPECT_THAT(lines.back(), ::testing::HasSubstr("-> crash"));
}

TEST_F(FaultLayerInChildren, CrashesAtCreateBuildAndLaunch) {
  for_each_device([](const HostPlatform& platform, std::size_t index) {
    for (const char* call :
         {"clCreateProgramWithBinary", "clBuildProgram", "clEnqueueNDRangeKernel"}) {
      expect_crash(platform, index, call, SIGSEGV);
      expect_crash(platform, index, call, SIGABRT);
    }
  });
}

TEST_F(FaultLayerInChildren, HangsUntilItIsKilled) {
  for_each_device([](const HostPlatform& platform, std::size_t index) {
    set_faults("");
    test::ChildProcess child(
        [&] { return load_and_launch(platform, index, "hang at=clBuildProgram origin=binary"); });
    const auto is_hanging = [] {
      return !fault_log_lines({"clBuildProgram origin=binary", "-> hang"}).empty();
    };
    while (!is_hanging() && child.is_running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    child.kill_it(SIGKILL);
    EXPECT_EQ(child.wait(), (ChildEnd{std::nullopt, SIGKILL}));
    EXPECT_THAT(fault_log_lines({"clEnqueueNDRangeKernel"}), SizeIs(0));
  });
}

TEST_F(FaultLayerInChildren, EndsAProcessWhoseScenarioIsWrong) {
  set_faults("hang at=nowhere");
  EXPECT_EQ(test::run_in_child(count_devices), (ChildEnd{std::nullopt, SIGABRT}));
  ASSERT_EQ(setenv("CLBIN_FAULTS", "/nonexistent/scenario", 1), 0);
  EXPECT_EQ(test::run_in_child(count_devices), (ChildEnd{std::nullopt, SIGABRT}));
}

} // namespace
} // namespace clbin

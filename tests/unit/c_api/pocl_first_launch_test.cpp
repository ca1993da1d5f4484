// What clbin_builder_keep stores on PoCL: a later process compiles nothing at its first launch.
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include "clbin/opencl.hpp"

#include "support/child_process.hpp"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace clbin {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_source = "kernel void add(global int* a) { a[get_global_id(0)] += 1; }\n";
constexpr std::size_t k_work_items = 64;

// What the first process does before it calls clbin_builder_keep.
enum class Before { nothing, launches };

class PoclFirstLaunch : public ::testing::Test {
protected:
  void SetUp() override {
    // In a child, because a process that has started a driver must not fork.
    const test::ChildEnd end = test::run_in_child([] { return find_pocl().empty() ? 77 : 0; });
    if (end.exit_code == 77) {
      GTEST_SKIP() << "this machine has no PoCL";
    }
  }

  static std::vector<cl::Device> find_pocl() {
    std::vector<cl::Platform> platforms;
    (void)cl::Platform::get(&platforms);
    std::vector<cl::Device> devices;
    for (const cl::Platform& platform : platforms) {
      if (platform.getInfo<CL_PLATFORM_NAME>() == "Portable Computing Language") {
        (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      }
    }
    return devices;
  }

  static fs::path driver_cache() { return std::getenv("POCL_CACHE_DIR"); }

  // The functions that PoCL's cache contains: those that PoCL has compiled, and those of binaries.
  static std::size_t function_count() {
    std::size_t count = 0;
    for (const auto& file : fs::recursive_directory_iterator(driver_cache())) {
      count += file.path().extension() == ".so" ? 1 : 0;
    }
    return count;
  }

  static Builder make_builder() {
    clbin_builder_options options{};
    options.struct_size = sizeof(options);
    options.cache_on_pocl = CLBIN_SWITCH_ON;
    return Builder(&options);
  }

  static void launch(const cl::Context& context, const cl::Device& device,
                     const cl::Program& program, std::size_t local) {
    const std::vector<int> zeros(k_work_items);
    const cl::Buffer buffer(context, CL_MEM_COPY_HOST_PTR, zeros.size() * sizeof(int),
                            const_cast<int*>(zeros.data()));
    cl::Kernel kernel(program, "add");
    (void)kernel.setArg(0, buffer);
    const cl::CommandQueue queue(context, device);
    EXPECT_EQ(queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(k_work_items),
                                         cl::NDRange(local)),
              CL_SUCCESS);
    int last = 0;
    EXPECT_EQ(queue.enqueueReadBuffer(buffer, CL_TRUE, (k_work_items - 1) * sizeof(int),
                                      sizeof(int), &last),
              CL_SUCCESS);
    EXPECT_EQ(last, 1);
  }

  static int build_and_keep(Before before) {
    const cl::Device device = find_pocl().front();
    const cl::Context context(device);
    const Builder builder = make_builder();
    const cl::Program program = builder.build(context, device, k_source);
    if (before == Before::launches) {
      launch(context, device, program, 16);
    }
    Report report;
    cl_device_id handle = device();
    builder.keep(context(), View<cl_device_id>(&handle, 1), k_source, program(), LoadOptions(),
                 &report);
    EXPECT_TRUE(report.warnings().empty()) << report.text();
    return 0;
  }

  // Returns how many functions PoCL compiles at the first launch with 16 work-items.
  static std::size_t compiled_at_first_launch() {
    const cl::Device device = find_pocl().front();
    const cl::Context context(device);
    const Builder builder = make_builder();
    Report report;
    const cl::Program program = builder.build(context, device, k_source, LoadOptions(), &report);
    EXPECT_EQ(report.origin(), Origin::user_cache) << report.text();
    const std::size_t of_the_binary = function_count();
    EXPECT_GE(of_the_binary, 1U);
    launch(context, device, program, 16);
    const std::size_t launched = function_count();
    launch(context, device, program, 32);
    EXPECT_EQ(function_count(), launched + 1) << "PoCL compiles for another size";
    return launched - of_the_binary;
  }

  static void expect_compiled_at_first_launch(std::size_t count) {
    const test::ChildEnd end = test::run_in_child([&] {
      EXPECT_EQ(compiled_at_first_launch(), count);
      return 0;
    });
    EXPECT_EQ(end.exit_code, 0);
  }

  // A container starts with an empty cache of the driver, and keeps libclbin's.
  static void forget_driver_cache() {
    fs::remove_all(driver_cache());
    fs::create_directories(driver_cache());
  }
};

TEST_F(PoclFirstLaunch, CompilesNothingForASizeThatAnEarlierProcessLaunched) {
  EXPECT_EQ(test::run_in_child([] { return build_and_keep(Before::launches); }).exit_code, 0);
  forget_driver_cache();
  expect_compiled_at_first_launch(0);
}

TEST_F(PoclFirstLaunch, CompilesNothingForASizeThatWasGivenToPoclBeforeItStarted) {
  EXPECT_EQ(test::run_in_child([] {
              EXPECT_EQ(setenv("POCL_BINARY_SPECIALIZE_WG", "16-1-1-goffs0-smallgrid", 1), 0);
              return build_and_keep(Before::nothing);
            }).exit_code,
            0);
  forget_driver_cache();
  expect_compiled_at_first_launch(0);
}

TEST_F(PoclFirstLaunch, CompilesIfTheBinaryWasTakenBeforeLaunches) {
  EXPECT_EQ(test::run_in_child([] { return build_and_keep(Before::nothing); }).exit_code, 0);
  forget_driver_cache();
  expect_compiled_at_first_launch(1);
}

} // namespace
} // namespace clbin

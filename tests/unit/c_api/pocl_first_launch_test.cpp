// What a builder stores on PoCL, and when: a later process compiles nothing at its first launch.
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include "clbin/opencl.hpp"

#include "support/child_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <string_view>
#include <thread>
#include <vector>

namespace clbin {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_source = "kernel void add(global int* a) { a[get_global_id(0)] += 1; }\n";
constexpr std::size_t k_work_items = 64;
// Runs for some tenths of a second.
constexpr const char* k_slow_source = "__attribute__((reqd_work_group_size(16, 1, 1)))\n"
                                      "kernel void add(global int* a) {\n"
                                      "  volatile global int* slow = a;\n"
                                      "  for (int i = 0; i < 5000000; ++i) {\n"
                                      "    slow[get_global_id(0)] += i;\n"
                                      "  }\n"
                                      "  a[get_global_id(0)] = 1;\n"
                                      "}\n";

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

  struct Machine {
    cl::Device device = find_pocl().front();
    cl::Context context{device};

    void launch(const cl::Program& program, std::size_t local) const {
      std::vector<int> zeros(k_work_items);
      const cl::Buffer buffer(context, CL_MEM_COPY_HOST_PTR, zeros.size() * sizeof(int),
                              zeros.data());
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
  };

  static void in_a_process(const std::function<void(const Machine&)>& body) {
    const test::ChildEnd end = test::run_in_child([&] {
      body(Machine());
      return 0;
    });
    EXPECT_EQ(end, test::ChildEnd({0, std::nullopt}));
  }

  static fs::path cache_folder() { return std::getenv("CLBIN_CACHE_DIR"); }

  static std::size_t stored_count() {
    std::error_code error;
    std::size_t count = 0;
    for (const auto& file : fs::recursive_directory_iterator(cache_folder() / "programs", error)) {
      count += file.path().extension() == ".clbin" ? 1 : 0;
    }
    return count;
  }

  static void wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "not within a minute";
  }
  static void wait_for_a_stored_program() {
    wait_until([] { return stored_count() != 0; });
  }

  static fs::path mark() { return driver_cache().parent_path() / "launched"; }
  static void mark_launched() { std::ofstream(mark()) << '.'; }
  static bool is_launched() { return fs::remove(mark()); }

  // Programs that differ, whose kernels do the same.
  static std::string text(int number) {
    return std::string(k_source) + "// " + std::to_string(number) + "\n";
  }

  // Expects that PoCL compiles so many functions at the first launch with 16 work-items.
  static void expect_compiled_at_first_launch(std::size_t count) {
    in_a_process([&](const Machine& machine) {
      Report report;
      const Builder builder = make_builder();
      const cl::Program program =
          builder.build(machine.context, machine.device, k_source, LoadOptions(), &report);
      EXPECT_EQ(report.origin(), Origin::user_cache) << report.text();
      const std::size_t of_the_binary = function_count();
      EXPECT_GE(of_the_binary, 1U);
      machine.launch(program, 16);
      EXPECT_EQ(function_count(), of_the_binary + count);
      machine.launch(program, 32);
      EXPECT_EQ(function_count(), of_the_binary + count + 1) << "PoCL compiles for another size";
    });
  }

  // A container starts with an empty cache of the driver, and keeps libclbin's.
  static void forget_driver_cache() {
    fs::remove_all(driver_cache());
    fs::create_directories(driver_cache());
  }
};

TEST_F(PoclFirstLaunch, CompilesNothingForASizeThatAnEarlierProcessLaunched) {
  in_a_process([](const Machine& machine) {
    const Builder builder = make_builder();
    machine.launch(builder.build(machine.context, machine.device, k_source), 16);
  });
  EXPECT_EQ(stored_count(), 1U);
  forget_driver_cache();
  expect_compiled_at_first_launch(0);
}

TEST_F(PoclFirstLaunch, CompilesNothingForASizeThatWasGivenToPoclBeforeItStarted) {
  EXPECT_EQ(setenv("POCL_BINARY_SPECIALIZE_WG", "16-1-1-goffs0-smallgrid", 1), 0);
  in_a_process([](const Machine& machine) {
    (void)make_builder().build(machine.context, machine.device, k_source);
  });
  EXPECT_EQ(unsetenv("POCL_BINARY_SPECIALIZE_WG"), 0);
  forget_driver_cache();
  expect_compiled_at_first_launch(0);
}

TEST_F(PoclFirstLaunch, CompilesIfTheBinaryWasTakenBeforeLaunches) {
  in_a_process([](const Machine& machine) {
    (void)make_builder().build(machine.context, machine.device, k_source);
  });
  forget_driver_cache();
  expect_compiled_at_first_launch(1);
}

TEST_F(PoclFirstLaunch, NeedsNoCloseIfTheApplicationGoesOn) {
  in_a_process([](const Machine& machine) {
    const Builder builder = make_builder();
    const cl::Program program = builder.build(machine.context, machine.device, k_source);
    machine.launch(program, 16);
    EXPECT_EQ(stored_count(), 0U);
    wait_for_a_stored_program();
    machine.launch(program, 32); // the application's program is as it was
  });
  forget_driver_cache();
  expect_compiled_at_first_launch(0);
}

// A program with one kernel takes PoCL some tenths of a second, so that several ends are tried.
TEST_F(PoclFirstLaunch, IsRightAfterAnExitAtAnyTime) {
  for (const int milliseconds : {0, 970, 1000, 1050, 1300, 2500}) {
    const std::string source = text(milliseconds);
    in_a_process([&](const Machine& machine) {
      static const auto* const never_freed = new Builder(make_builder());
      machine.launch(never_freed->build(machine.context, machine.device, source), 16);
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      std::exit(::testing::Test::HasFailure() ? 1 : 0);
    });
  }
  EXPECT_GE(stored_count(), 1U) << "after 2.5 seconds";
}

TEST_F(PoclFirstLaunch, IsNotStoredByAnExitHandler) {
  in_a_process([](const Machine& machine) {
    static const Builder destroyed_by_exit = make_builder();
    machine.launch(destroyed_by_exit.build(machine.context, machine.device, k_source), 16);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(stored_count(), 0U);
}

TEST_F(PoclFirstLaunch, IsRightAfterAKillAtAnyTime) {
  for (const int milliseconds : {1050, 1200, 1400}) {
    const std::string source = text(milliseconds);
    test::ChildProcess child([&] {
      const Machine machine;
      const Builder builder = make_builder();
      machine.launch(builder.build(machine.context, machine.device, source), 16);
      mark_launched();
      std::this_thread::sleep_for(std::chrono::seconds(60));
      return 0;
    });
    wait_until([&] { return is_launched(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    child.kill_it(SIGKILL);
    EXPECT_EQ(child.wait().signal_number, SIGKILL);
    in_a_process([&](const Machine& machine) {
      Report report;
      const Builder builder = make_builder();
      machine.launch(builder.build(machine.context, machine.device, source, LoadOptions(), &report),
                     16);
      EXPECT_THAT(report.warnings(), testing::IsEmpty()) << report.text();
      EXPECT_THAT(report.text(), testing::Not(testing::HasSubstr("damaged")));
    });
  }
}

// PoCL before 6 ends a process that asks for the binary of such a kernel while it runs.
TEST_F(PoclFirstLaunch, IsStoredAlthoughAKernelWithARequiredSizeRuns) {
  in_a_process([](const Machine& machine) {
    const Builder builder = make_builder();
    const cl::Program program = builder.build(machine.context, machine.device, k_slow_source);
    wait_until([&] {
      machine.launch(program, 16);
      return stored_count() != 0;
    });
    machine.launch(program, 16);
  });
}

TEST_F(PoclFirstLaunch, IsStoredWhileThreadsBuildAndLaunch) {
  in_a_process([](const Machine& machine) {
    const Builder builder = make_builder();
    const auto work = [&](int thread) {
      for (const int number : {thread, 100 + thread % 2}) {
        const std::string source = text(number);
        machine.launch(builder.build(machine.context, machine.device, source), 16);
        std::this_thread::sleep_for(std::chrono::milliseconds(150 * thread));
      }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back(work, thread);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    wait_until([] { return stored_count() == 10; });
  });
}

// Later, the exit handler that frees the builder would forbid it.
TEST_F(PoclFirstLaunch, IsStoredAtOnceIfPoclHasNoCache) {
  EXPECT_EQ(setenv("POCL_KERNEL_CACHE", "0", 1), 0);
  in_a_process([](const Machine& machine) {
    static const Builder destroyed_by_exit = make_builder();
    (void)destroyed_by_exit.build(machine.context, machine.device, k_source);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(unsetenv("POCL_KERNEL_CACHE"), 0);
  EXPECT_EQ(stored_count(), 1U);
}

TEST_F(PoclFirstLaunch, IsNotStoredIfItHasTooManyKernels) {
  in_a_process([](const Machine& machine) {
    std::string source = k_source;
    for (int i = 0; i < 64; ++i) {
      source += "kernel void k" + std::to_string(i) + "(global int* a) { *a = 0; }\n";
    }
    Report report;
    (void)make_builder().build(machine.context, machine.device, source, LoadOptions(), &report);
    EXPECT_THAT(
        report.warnings(),
        testing::ElementsAre("the user cache does not store the program: PoCL would compile "
                             "its 65 kernels again for that, for about 20 seconds"));
  });
  EXPECT_EQ(stored_count(), 0U);
}

TEST_F(PoclFirstLaunch, IsStoredByDefaultInADirectoryOfTheApplicationUnlessTheUserForbidsIt) {
  const auto build = [] {
    in_a_process([](const Machine& machine) {
      const fs::path folder = cache_folder();
      clbin_builder_options options{};
      options.struct_size = sizeof(options);
      options.cache_dir = folder.c_str();
      machine.launch(Builder(&options).build(machine.context, machine.device, k_source), 16);
    });
  };
  EXPECT_EQ(setenv("CLBIN_CACHE_POCL", "0", 1), 0);
  build();
  EXPECT_EQ(stored_count(), 0U);
  EXPECT_EQ(unsetenv("CLBIN_CACHE_POCL"), 0);
  build();
  EXPECT_EQ(stored_count(), 1U);
}

} // namespace
} // namespace clbin

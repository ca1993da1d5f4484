// Calls OpenCL directly from four threads at once, like an application, to show which drivers
// support this.
#include "devices.hpp"
#include "opencl_functions.hpp"
#include "support/child_process.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

namespace runtime_demo {
namespace {

constexpr int k_threads = 4;
constexpr std::size_t k_items = 64;
constexpr int k_skipped = 77;

constexpr const char* k_source =
    "kernel void rotate_by(global int* a, int by, local int* shared) {\n"
    "  int i = get_local_id(0);\n"
    "  shared[i] = a[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[get_global_id(0)] = shared[(i + by) % get_local_size(0)] + STEP;\n"
    "}\n"
    "kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }\n";

// The calls that the demo itself does not use.
struct ProgramCalls {
  explicit ProgramCalls(const OpenclLibrary& library)
      : with_source(reinterpret_cast<decltype(&clCreateProgramWithSource)>(
            library.resolve("clCreateProgramWithSource"))),
        with_binary(reinterpret_cast<decltype(&clCreateProgramWithBinary)>(
            library.resolve("clCreateProgramWithBinary"))),
        build(reinterpret_cast<decltype(&clBuildProgram)>(library.resolve("clBuildProgram"))),
        info(reinterpret_cast<decltype(&clGetProgramInfo)>(library.resolve("clGetProgramInfo"))) {}

  decltype(&clCreateProgramWithSource) with_source;
  decltype(&clCreateProgramWithBinary) with_binary;
  decltype(&clBuildProgram) build;
  decltype(&clGetProgramInfo) info;
};

class Caller {
public:
  Caller(const OpenclLibrary& library, cl_device_id device, cl_context context)
      : m_opencl(library.functions()), m_programs(library), m_device(device), m_context(context),
        m_queue(m_opencl.create_command_queue(context, device, 0, nullptr),
                m_opencl.release_command_queue) {}

  // Builds from source, then from the resulting binary. Returns whether both compute the right
  // results.
  [[nodiscard]] bool round(int step) {
    const std::string options = "-DSTEP=" + std::to_string(step);
    const char* text = k_source;
    const Owned<cl_program> built = {m_programs.with_source(m_context, 1, &text, nullptr, nullptr),
                                     m_opencl.release_program};
    if (m_programs.build(built.get(), 1, &m_device, options.c_str(), nullptr, nullptr) !=
            CL_SUCCESS ||
        !computes(built.get(), step)) {
      return false;
    }
    std::size_t size = 0;
    m_programs.info(built.get(), CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
    std::vector<unsigned char> binary(size);
    unsigned char* bytes = binary.data();
    m_programs.info(built.get(), CL_PROGRAM_BINARIES, sizeof(bytes), static_cast<void*>(&bytes),
                    nullptr);
    const unsigned char* given = bytes;
    cl_int status = CL_SUCCESS;
    const Owned<cl_program> loaded = {
        m_programs.with_binary(m_context, 1, &m_device, &size, &given, &status, nullptr),
        m_opencl.release_program};
    return loaded &&
           m_programs.build(loaded.get(), 1, &m_device, options.c_str(), nullptr, nullptr) ==
               CL_SUCCESS &&
           computes(loaded.get(), step);
  }

private:
  // Rotates, adds, doubles.
  [[nodiscard]] bool computes(cl_program program, int step) {
    const Owned<cl_kernel> rotate = {m_opencl.create_kernel(program, "rotate_by", nullptr),
                                     m_opencl.release_kernel};
    const Owned<cl_kernel> twice = {m_opencl.create_kernel(program, "twice", nullptr),
                                    m_opencl.release_kernel};
    if (!rotate || !twice) {
      return false;
    }
    return launches(rotate.get(), twice.get(), step);
  }

  [[nodiscard]] bool launches(cl_kernel rotate, cl_kernel twice, int step) {
    std::array<cl_int, k_items> values{};
    for (std::size_t i = 0; i < k_items; ++i) {
      values[i] = static_cast<cl_int>(i);
    }
    const Owned<cl_mem> buffer = {
        m_opencl.create_buffer(m_context, CL_MEM_READ_WRITE, sizeof(values), nullptr, nullptr),
        m_opencl.release_mem_object};
    cl_mem handle = buffer.get();
    const cl_int by = 3;
    m_opencl.set_kernel_arg(rotate, 0, sizeof(handle), &handle);
    m_opencl.set_kernel_arg(rotate, 1, sizeof(by), &by);
    m_opencl.set_kernel_arg(rotate, 2, k_items * sizeof(cl_int), nullptr);
    m_opencl.set_kernel_arg(twice, 0, sizeof(handle), &handle);
    m_opencl.enqueue_write_buffer(m_queue.get(), handle, CL_TRUE, 0, sizeof(values), values.data(),
                                  0, nullptr, nullptr);
    for (const cl_kernel kernel : {rotate, twice}) {
      if (m_opencl.enqueue_nd_range_kernel(m_queue.get(), kernel, 1, nullptr, &k_items, &k_items, 0,
                                           nullptr, nullptr) != CL_SUCCESS) {
        return false;
      }
    }
    m_opencl.enqueue_read_buffer(m_queue.get(), handle, CL_TRUE, 0, sizeof(values), values.data(),
                                 0, nullptr, nullptr);
    for (std::size_t i = 0; i < k_items; ++i) {
      if (values[i] != 2 * (static_cast<cl_int>((i + 3) % k_items) + step)) {
        return false;
      }
    }
    return true;
  }

  OpenclFunctions m_opencl;
  ProgramCalls m_programs;
  cl_device_id m_device;
  cl_context m_context;
  Owned<cl_command_queue> m_queue;
};

enum class Contexts { one_for_all, one_each };

// With or without a lock.
enum class Calls { in_turn, at_once };

// Failures occur early. CLBIN_THREAD_ROUNDS sets more rounds for calls that succeed.
int rounds_of(Calls calls) {
  constexpr int k_usual = 20;
  constexpr int k_until_it_fails = 500;
  const char* const wanted = std::getenv("CLBIN_THREAD_ROUNDS");
  if (calls == Calls::at_once) {
    return k_until_it_fails;
  }
  return wanted == nullptr ? k_usual : std::atoi(wanted);
}

// Runs until a round of a thread fails, or all rounds have passed.
bool all_compute(const OpenclLibrary& library, const Device& device, Calls calls,
                 Contexts contexts) {
  const OpenclFunctions& opencl = library.functions();
  const auto make_context = [&] {
    return Owned<cl_context>(
        opencl.create_context(nullptr, 1, &device.id, nullptr, nullptr, nullptr),
        opencl.release_context);
  };
  const Owned<cl_context> common = make_context();
  std::mutex turn;
  std::atomic<bool> good = true;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < k_threads; ++thread) {
    threads.emplace_back([&, thread] {
      const auto lock = [&] {
        return calls == Calls::in_turn ? std::unique_lock(turn) : std::unique_lock<std::mutex>();
      };
      auto held = lock();
      const Owned<cl_context> own = make_context();
      Caller caller(library, device.id, contexts == Contexts::one_each ? own.get() : common.get());
      for (int round = 0; good && round < rounds_of(calls); ++round) {
        if (!caller.round(thread * 1000 + round)) {
          good = false;
        }
        held = {};
        held = lock();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return good;
}

// Returns 0 on success, or 1 if a call failed or a result is wrong.
int call_from_threads(const std::string& platform, Calls calls, Contexts contexts) {
  const Result<OpenclLibrary> library = OpenclLibrary::open();
  if (!library) {
    return k_skipped;
  }
  const Result<std::vector<Device>> devices = find_devices(library->functions());
  if (!devices) {
    return k_skipped;
  }
  for (const Device& device : *devices) {
    if (device.platform == platform) {
      return all_compute(*library, device, calls, contexts) ? 0 : 1;
    }
  }
  return k_skipped;
}

constexpr const char* k_platform = "Oclgrind";
constexpr unsigned k_patience_seconds = 60;
constexpr int k_runs = 3; // failures are random, but nearly always in the first run
const clbin::test::ChildEnd k_good{0, std::nullopt};

// Oclgrind 21.10 crashes (in LLVM, in one of its assertions) or computes wrong results: all threads
// share LLVM's context, even with separate OpenCL contexts. The calls themselves are valid, because
// they work one at a time.
TEST(DriverThreads, OclgrindTakesCallsOfOneThreadAtATimeOnly) {
  for (const Contexts contexts : {Contexts::one_for_all, Contexts::one_each}) {
    SCOPED_TRACE(contexts == Contexts::one_for_all ? "one context" : "a context for each");
    const auto in_turn = clbin::test::run_in_child(
        [&] { return call_from_threads(k_platform, Calls::in_turn, contexts); });
    if (in_turn.exit_code == k_skipped) {
      GTEST_SKIP() << "there is no Oclgrind";
    }
    EXPECT_EQ(in_turn, k_good);
    clbin::test::ChildEnd at_once = k_good;
    for (int run = 0; run < k_runs && at_once == k_good; ++run) {
      at_once = clbin::test::run_in_child([&] {
        ::alarm(k_patience_seconds); // a deadlock is a failure, too
        return call_from_threads(k_platform, Calls::at_once, contexts);
      });
    }
    EXPECT_NE(at_once, k_good) << "Oclgrind no longer fails: threads need not take turns";
  }
}

} // namespace
} // namespace runtime_demo

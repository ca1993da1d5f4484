// Runs four kernels of kernels/ through typed launchers on every device: an example of a program
// that links OpenCL and embeds its bundle. clbin_add_kernels(typed_kernels …) generates both
// headers. The results are checked against the references of runtime_demo.
#include "kernel_catalog.hpp"
#include "reference_products.hpp"
#include "typed_kernels.hpp" // includes CL/opencl.hpp and clbin/clbin.hpp

#include "typed_kernels.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace {

using namespace runtime_demo;

constexpr std::uint64_t k_seed = 1;
// Multiples of 16, the side of a work-group: rows of A, columns of A, columns of B.
constexpr Size k_size{64, 48, 32};
constexpr auto k_rows = static_cast<cl_int>(k_size.m);
constexpr auto k_inner = static_cast<cl_int>(k_size.n);
constexpr auto k_columns = static_cast<cl_int>(k_size.l);
constexpr cl_int k_count = k_rows * k_inner;

using Floats = clbin::Buffer<cl_float>;

struct Machine {
  explicit Machine(const cl::Device& its_device)
      : device(its_device), context(device), queue(context, device) {}

  [[nodiscard]] Floats filled(const std::vector<std::byte>& bytes) const {
    Floats buffer(context, CL_MEM_READ_WRITE, bytes.size() / sizeof(cl_float));
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes.size(), bytes.data());
    return buffer;
  }
  [[nodiscard]] Floats poisoned(cl_int count) const {
    return filled(poison(Precision::single_precision, static_cast<std::size_t>(count)));
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
};

// Each function launches one kernel and returns its result.

// Runs vadd or mul, whose arguments have the same types.
template <typename Kernel>
Floats run_elementwise(const Machine& machine, const cl::Program& program, const Workload& work) {
  Kernel kernel(program);
  const Floats a = machine.filled(work.left);
  const Floats b = machine.filled(work.right);
  Floats c = machine.poisoned(k_count);
  kernel(machine.queue, {cl::NDRange(k_count)}, a, b, c, k_count);
  return c;
}

// The launcher knows that the work-groups are 16x16.
Floats run_transpose(const Machine& machine, const cl::Program& program, const Workload& work) {
  kernels::transpose::transpose transpose(program);
  const Floats in = machine.filled(work.left);
  Floats out = machine.poisoned(k_count);
  transpose(machine.queue, {cl::NDRange(k_inner, k_rows)}, out, in, k_inner, k_rows);
  return out;
}

Floats run_matmul(const Machine& machine, const cl::Program& program, const Workload& work) {
  kernels::matmul::matrixMul_tiled multiply(program);
  const Floats a = machine.filled(work.left);
  const Floats b = machine.filled(work.right);
  Floats c = machine.poisoned(k_rows * k_columns);
  multiply(machine.queue, {cl::NDRange(k_columns, k_rows), cl::NDRange(16, 16)}, c, a, b, k_inner,
           k_columns);
  return c;
}

struct TypedRun {
  const char* kernel; // the name in kernel_catalog
  Floats (*run)(const Machine&, const cl::Program&, const Workload&);
};
constexpr TypedRun k_runs[] = {
    {"vadd", run_elementwise<kernels::elementwise::vadd>},
    {"mul", run_elementwise<kernels::elementwise::mul>},
    {"transpose", run_transpose},
    {"matrixMul_tiled", run_matmul},
};

const char* name_of(clbin::Origin origin) {
  switch (origin) {
  case clbin::Origin::entry:
    return "the bundle's binary";
  case clbin::Origin::source:
    return "source";
  case clbin::Origin::il:
    return "IL";
  case clbin::Origin::user_cache:
    return "the user cache";
  case clbin::Origin::none:
    break;
  }
  return "nowhere";
}

// Returns whether the result is correct. Prints one line.
bool run_and_check(const Machine& machine, const clbin::Bundle& bundle, const TypedRun& typed) {
  const KernelCase& kernel = *find_kernels(typed.kernel).front();
  clbin::Report report;
  const cl::Program program =
      bundle.load(machine.context, machine.device, kernel.program, clbin::LoadOptions(), &report);
  const Workload work = make_workload(kernel, k_size, k_seed);
  const Floats result = typed.run(machine, program, work);
  std::vector<std::byte> bytes(work.expected.size() * sizeof(cl_float));
  machine.queue.enqueueReadBuffer(result, CL_TRUE, 0, bytes.size(), bytes.data());
  const Comparison found = compare(kernel, work, bytes, allowed_error(kernel, k_size));
  std::fputs(fmt::format("  {:<16} {}, from {}\n", kernel.name,
                         found.wrong == 0 ? "PASSED" : fmt::format("FAILED: {} wrong", found.wrong),
                         name_of(report.origin()))
                 .c_str(),
             stdout);
  return found.wrong == 0;
}

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  std::vector<cl::Device> devices;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {
    return devices; // there is no platform
  }
  for (const cl::Platform& platform : platforms) {
    try {
      std::vector<cl::Device> own;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &own);
      devices.insert(devices.end(), own.begin(), own.end());
    } catch (const cl::Error&) { // the platform has no device
    }
  }
  return devices;
}

ExitCode run_all() {
  const std::vector<cl::Device> devices = all_devices();
  if (devices.empty()) {
    std::fputs("typed_launches: error: there is no OpenCL device\n", stderr);
    return ExitCode::no_device;
  }
  const clbin::Bundle bundle = clbin::Bundle::from_memory(
      std::as_bytes(std::span(typed_kernels_clbin, typed_kernels_clbin_size)));
  bool good = true;
  for (const cl::Device& device : devices) {
    std::fputs(fmt::format("{}\n", device.getInfo<CL_DEVICE_NAME>().c_str()).c_str(), stdout);
    const Machine machine(device);
    for (const TypedRun& typed : k_runs) {
      good = run_and_check(machine, bundle, typed) && good;
    }
  }
  return good ? ExitCode::success : ExitCode::kernel_failed;
}

} // namespace

int main() {
  try {
    return static_cast<int>(run_all());
  } catch (const cl::Error& error) {
    std::fputs(fmt::format("typed_launches: error: {}: {}\n", error.what(), error.err()).c_str(),
               stderr);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("typed_launches: error: {}\n", error.what()).c_str(), stderr);
  }
  return static_cast<int>(ExitCode::kernel_failed);
}

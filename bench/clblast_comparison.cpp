// Compares the variants of sgemm with CLBlast's on every device that is not a simulator, in one
// run. Only the ratio counts, because both run under the same conditions. CLBlast chooses its
// kernels from its database of devices and may launch several of them. It is timed by the clock of
// the host, from the call to the end of the queue. The variants are timed by the event of the
// kernel.
//
// Usage: clblast_comparison SGEMM_BUNDLE [N]
#include "devices.hpp"
#include "measurement.hpp"
#include "options.hpp"

#include <chrono>
#include <clblast_c.h>
#include <fmt/core.h>

namespace {

using namespace runtime_demo;

constexpr std::size_t k_launches = 10;
constexpr std::uint64_t k_seed = 1;

struct ClblastTimes {
  double first_ms = 0; // including the compilation by CLBlast
  double median_ms = 0;
  std::size_t wrong = 0;
};

class ClblastRun {
public:
  ClblastRun(const OpenclFunctions& opencl, cl_device_id device, const Workload& workload,
             std::size_t n)
      : m_opencl(opencl), m_workload(workload), m_n(n) {
    m_context = {opencl.create_context(nullptr, 1, &device, nullptr, nullptr, nullptr),
                 opencl.release_context};
    m_queue = {opencl.create_command_queue(m_context.get(), device, 0, nullptr),
               opencl.release_command_queue};
    m_left = upload(workload.left);
    m_right = upload(workload.right);
    m_result = upload(poison(Precision::single_precision, n * n));
  }

  [[nodiscard]] ClblastTimes time(const KernelCase& kernel) {
    ClblastTimes times;
    times.first_ms = call_ms();
    std::vector<double> launches(k_launches);
    for (double& launch : launches) {
      launch = call_ms();
    }
    times.median_ms = median(launches);
    std::vector<std::byte> result(m_n * m_n * sizeof(float));
    m_opencl.enqueue_read_buffer(m_queue.get(), m_result.get(), CL_TRUE, 0, result.size(),
                                 result.data(), 0, nullptr, nullptr);
    times.wrong = compare(kernel, m_workload, result, allowed_error(kernel, {m_n, m_n, m_n})).wrong;
    return times;
  }

private:
  [[nodiscard]] Owned<cl_mem> upload(const std::vector<std::byte>& bytes) {
    Owned<cl_mem> buffer(
        m_opencl.create_buffer(m_context.get(), CL_MEM_READ_WRITE, bytes.size(), nullptr, nullptr),
        m_opencl.release_mem_object);
    m_opencl.enqueue_write_buffer(m_queue.get(), buffer.get(), CL_TRUE, 0, bytes.size(),
                                  bytes.data(), 0, nullptr, nullptr);
    return buffer;
  }

  [[nodiscard]] double call_ms() {
    const auto start = std::chrono::steady_clock::now();
    cl_command_queue queue = m_queue.get();
    CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m_n, m_n, m_n, 1,
                 m_left.get(), 0, m_n, m_right.get(), 0, m_n, 0, m_result.get(), 0, m_n, &queue,
                 nullptr);
    m_opencl.finish(queue);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  const OpenclFunctions& m_opencl;
  const Workload& m_workload;
  std::size_t m_n;
  Owned<cl_context> m_context{nullptr, nullptr};
  Owned<cl_command_queue> m_queue{nullptr, nullptr};
  Owned<cl_mem> m_left{nullptr, nullptr};
  Owned<cl_mem> m_right{nullptr, nullptr};
  Owned<cl_mem> m_result{nullptr, nullptr};
};

int compare_on(const OpenclLibrary& library, const BundlePrograms& bundles, const Device& device,
               const Size& size) {
  WorkloadStore workloads(k_seed);
  const std::vector<const KernelCase*> variants = find_kernels("sgemm");
  fmt::print("{} {}, {}x{}\n", device.index, device.name, size.m, size.n);
  ClblastRun run(library.functions(), device.id, workloads.get(*variants.front(), size), size.n);
  const ClblastTimes clblast = run.time(*variants.front());
  const double operations = floating_point_operations(*variants.front(), size);
  fmt::print("  {:<30} {:>10.3f} ms {:>10.1f} GFLOPS  first call {:.0f} ms, {} elements wrong\n",
             "CLBlast", clblast.median_ms, operations / clblast.median_ms / 1e6, clblast.first_ms,
             clblast.wrong);
  auto session = DeviceSession::open(library, bundles, device);
  if (!session) {
    fmt::print("  {}\n", session.error().message);
    return 1;
  }
  RunSettings settings;
  settings.size = size;
  settings.seed = k_seed;
  int failures = 0;
  for (const KernelCase* const variant : variants) {
    const Measurement measured = session->measure(*variant, settings, workloads);
    failures += measured.outcome == Outcome::failed ? 1 : 0;
    fmt::print("  {:<30} {:>10.3f} ms {:>10.1f} GFLOPS  {:.2f} x CLBlast {}\n", variant->name,
               measured.kernel_ms(), measured.mflops() / 1e3,
               measured.kernel_ms() > 0 ? clblast.median_ms / measured.kernel_ms() : 0,
               measured.reason);
  }
  return failures;
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "usage: clblast_comparison SGEMM_BUNDLE [N]\n");
    return 2;
  }
  const auto size = parse_size(argument_count > 2 ? arguments[2] : "1024");
  const auto bundles = BundlePrograms::open({arguments[1]});
  const auto library = OpenclLibrary::open();
  if (!size || !bundles || !library) {
    fmt::print(stderr, "clblast_comparison: bad size, bundle or no OpenCL\n");
    return 2;
  }
  const auto devices = find_devices(library->functions());
  int failures = 0;
  for (const Device& device : devices.value_or(std::vector<Device>())) {
    if (!device.is_simulator) {
      failures += compare_on(*library, *bundles, device, {size->m, size->m, size->m});
    }
  }
  return failures == 0 ? 0 : 1;
}

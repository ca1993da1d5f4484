// Loads, launches, checks and times one kernel on one device.
#pragma once

#include "bundle_programs.hpp"
#include "devices.hpp"
#include "kernel_catalog.hpp"
#include "opencl_functions.hpp"
#include "reference_products.hpp"
#include "result.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace runtime_demo {

// expected_failure: a wrong result that a known bug of the driver explains.
enum class Outcome : std::uint8_t { passed, failed, expected_failure, skipped };
enum class SourceComparison : std::uint8_t { no_kernel, blog_kernels, all_kernels };

// What a kernel may take: its timed launches are 10, or as many as fit in the time.
struct RunLimits {
  unsigned least_launches = 3;                             // however slow the kernel is
  double budget_ms = 5000;                                 // for the timed launches of one kernel
  std::size_t product_side = static_cast<std::size_t>(-1); // of matrices that a CPU multiplies
  std::optional<double> launch_ms; // of one launch, unless the size is given; std::nullopt: any
  friend bool operator==(const RunLimits&, const RunLimits&) = default;
};
inline constexpr RunLimits k_quick_limits{1, 250, 512, 300};

struct RunSettings {
  std::optional<Size> size;
  std::optional<unsigned> repeat; // std::nullopt: as `limits` says
  RunLimits limits;
  std::uint64_t seed = 0;
  LoadFrom load_from = LoadFrom::bundle;
  SourceComparison source_comparison = SourceComparison::blog_kernels;
};

// The time to the first result, by the clock of the host.
struct FirstResult {
  std::string origin; // "entry", "user cache", "IL", "source"
  double load_ms = 0;
  double launch_ms = 0;
  [[nodiscard]] double total_ms() const { return load_ms + launch_ms; }
};

struct Measurement {
  const KernelCase* kernel = nullptr;
  std::string device_index;
  std::string platform;
  std::string device_name;
  Size size;
  Outcome outcome = Outcome::failed;
  std::string reason; // why it was skipped or what failed
  FirstResult first;
  std::optional<FirstResult> from_source; // if requested, and `first` is not from source
  std::vector<double> launches_ms;
  bool timed_by_host = false; // the driver has no profiling
  SerialTime serial;
  double largest_error = 0;
  double allowed_error = 0;

  [[nodiscard]] double kernel_ms() const; // the median; 0 if nothing was timed
  [[nodiscard]] double mflops() const;
  [[nodiscard]] double gigabytes_per_second() const;
  [[nodiscard]] double times_serial() const;
};

// Returns 0 if `values` is empty.
[[nodiscard]] double median(std::vector<double> values);

// Returns the default size of a kernel: that of its source, within `limits`, or a small one on a
// simulator.
[[nodiscard]] Size default_size(const KernelCase& kernel, const Device& device,
                                const RunLimits& limits = {});

// Returns the next size to try, which is at most `most`, after a launch of `size` took
// `milliseconds`: with sides four times or twice as long, if its launch is expected to take at most
// `limit_ms`. Otherwise, or if `size` is `most`, returns std::nullopt.
[[nodiscard]] std::optional<Size> larger_size(const Size& size, const Size& most,
                                              double milliseconds, double limit_ms);

// command_line: the size exceeds the int of the kernel or the memory of the device.
[[nodiscard]] Result<void> check_fits(const KernelCase& kernel, const Size& size,
                                      const Device& device);

// Creates each workload once, because kernels and devices share them.
class WorkloadStore {
public:
  explicit WorkloadStore(std::uint64_t seed) : m_seed(seed) {}
  [[nodiscard]] const Workload& get(const KernelCase& kernel, const Size& size);

private:
  using Key = std::tuple<Task, Precision, Size>;
  std::uint64_t m_seed;
  std::map<Key, std::unique_ptr<Workload>> m_workloads;
};

// A device with its context and queue, and the programs loaded on it so far.
class DeviceSession {
public:
  [[nodiscard]] static Result<DeviceSession>
  open(const OpenclLibrary& library, const BundlePrograms& bundles, const Device& device);

  [[nodiscard]] Measurement measure(const KernelCase& kernel, const RunSettings& settings,
                                    WorkloadStore& workloads);
  // Returns the load reports since the last call.
  [[nodiscard]] std::string take_log();

private:
  struct Job;
  struct Stop {
    Outcome outcome = Outcome::failed;
    std::string reason;
  };
  template <class T>
  using Step = tl::expected<T, Stop>;

  DeviceSession(const OpenclLibrary& library, const BundlePrograms& bundles, const Device& device)
      : m_library(&library), m_bundles(&bundles), m_device(device) {}

  [[nodiscard]] Size affordable_size(const KernelCase& kernel, const RunSettings& settings,
                                     WorkloadStore& workloads);
  [[nodiscard]] Step<void> run(Job& job);
  [[nodiscard]] Step<const LoadedProgram*> program_of(const KernelCase& kernel, LoadFrom from);
  [[nodiscard]] Step<FirstResult> first_result(Job& job, LoadFrom from);
  [[nodiscard]] Step<void> create_kernel(Job& job, const LoadedProgram& program);
  [[nodiscard]] std::string exceeded_limit(const Job& job) const;
  [[nodiscard]] Step<void> choose_shape(Job& job);
  [[nodiscard]] Step<Owned<cl_mem>> create_buffer(std::size_t bytes);
  [[nodiscard]] Step<void> upload(const Owned<cl_mem>& buffer, const void* data, std::size_t bytes);
  [[nodiscard]] Step<void> create_buffers(Job& job);
  [[nodiscard]] Step<void> set_arguments(Job& job);
  [[nodiscard]] Step<double> launch(Job& job, bool& timed_by_host);
  [[nodiscard]] Step<void> time_launches(Job& job);
  [[nodiscard]] Stop explain_wrong(const Job& job, const Comparison& comparison) const;
  [[nodiscard]] Step<void> check_result(Job& job);
  [[nodiscard]] Step<void> poison_result(Job& job);

  const OpenclLibrary* m_library;
  const BundlePrograms* m_bundles;
  Device m_device;
  Owned<cl_context> m_context{nullptr, nullptr};
  Owned<cl_command_queue> m_queue{nullptr, nullptr};
  std::map<std::tuple<std::string, std::string, LoadFrom>, LoadedProgram> m_programs;
  std::string m_log;
  std::unique_ptr<DeviceSession> m_trials; // of affordable_size
};

} // namespace runtime_demo

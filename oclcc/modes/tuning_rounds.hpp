// What --tune does with one launch on one device: which work-groups are tried, how often each
// variant runs, and whose results are wrong. Workers call the drivers.
#pragma once

#include "format/bundle/known_answers.hpp"
#include "modes/launch_description.hpp"
#include "worker/installed_devices.hpp"

#include <chrono>

namespace oclcc {

using format::MeasurementOutcome;

// A variant of the program. `kernels` are what the bundle records of its entries.
struct TunedVariant {
  std::string name;
  std::string options;
  std::vector<format::KernelReflection> kernels;
};

// Why a request has no reply: `failed`, `crashed` or `timed_out`.
struct Refusal {
  MeasurementOutcome outcome = MeasurementOutcome::failed;
  std::string reason;
  std::string failed_call{}; // of OpenCL, if it is the reason
};
// The answer of a worker, whose numbers of the device and path of the bundle the function adds.
using Launch =
    std::function<tl::expected<worker::LaunchReply, Refusal>(worker::LaunchRequest request)>;

// Launches on one device, which must outlive this object, in a worker; after a crash, in another.
class LaunchingWorker {
public:
  LaunchingWorker(worker::WorkerSettings settings, const worker::DeviceDescription& device,
                  std::chrono::seconds timeout)
      : m_device(std::move(settings), device), m_timeout(timeout) {}

  // Sets the numbers of the device in the request. A reply with an error is a refusal.
  [[nodiscard]] tl::expected<worker::LaunchReply, Refusal> launch(worker::LaunchRequest request);
  // Why no worker could be started, or that the device is gone; no variant is to blame, and nothing
  // is launched any more.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return m_error; }

private:
  worker::DeviceWorker m_device;
  std::chrono::seconds m_timeout;
  std::optional<Error> m_error;
};

// device: event profiling, if the times of each variant are credible.
enum class TuningClock : std::uint8_t { host, device };
constexpr std::array<std::string_view, 2> names_of(TuningClock /*unused*/) {
  return {"host", "device"};
}
// Returns whether the device's own times can be used: not those of rusticl and Oclgrind, which do
// not measure the launch, and not those of unknown drivers.
[[nodiscard]] TuningClock clock_of(format::DeviceFamily family) noexcept;

enum class KeepResults : std::uint8_t { no, yes };

struct TuningSettings {
  TuningClock clock = TuningClock::host;
  KeepResults results = KeepResults::no; // for TunedLaunch::answers
  std::optional<double> tolerance;       // relative; otherwise, that of the type
  // What a recorded launch computes, with its contents (BundleReader::read_data). Otherwise, the
  // first variant that runs decides about results.
  std::optional<format::KnownAnswer> expected{};
  std::function<bool()> is_out_of_time;
  // Called before each launch, with those that are done and those that are planned.
  std::function<void(std::size_t done, std::size_t total, const std::string& variant)> progress;
  // What a run that was interrupted has measured of this launch on this device.
  worker::TuningProgress begun{};
  // Called after each round, with what was measured from the beginning.
  std::function<void(const worker::TuningProgress&)> keep{};
  // The result that is already known; std::nullopt if it is to be measured.
  std::function<std::optional<format::Measurement>(const format::Measurement& wanted)> known;
};

// One variant with one size of work-groups. `measurement` has no device and no source.
struct TuningResult {
  enum class State : std::uint8_t { measured, known, refused, out_of_time };
  State state = State::out_of_time;
  format::Measurement measurement;
  format::GroupSize launched_size{}; // the global size of this variant
  std::string origin;                // of the program: "entry", "il" or "source"
};

struct TunedLaunch {
  TuningClock clock = TuningClock::host;
  std::uint32_t dimensions = 0;
  format::GroupSize class_size{};
  std::vector<TuningResult> results; // the fastest first, then those that were refused
  // Of each variant that ran, with its fastest work-group and without a device; empty if the
  // settings keep no results.
  std::vector<format::KnownAnswer> answers{};
  std::string why_no_answers{}; // an unfinished sentence; empty if there is one of each
};

// Runs the launch with each variant. invalid_argument: the launch does not fit the kernel. The
// first variant that runs decides about results: a variant whose result differs is refused.
[[nodiscard]] Result<TunedLaunch> tune_launch(const LaunchDescription& description,
                                              const std::string& program,
                                              const std::vector<TunedVariant>& variants,
                                              const TuningSettings& settings, const Launch& launch);

// Returns the work-groups that are tried if neither the kernel nor the launch names one: first the
// driver's choice (all 0), then the preferred multiple and powers of two up to the limits.
[[nodiscard]] std::vector<format::GroupSize>
work_groups_to_try(const format::KernelReflection& kernel, const format::GroupSize& max_sizes,
                   std::uint32_t dimensions);

// Returns the launch that a known answer is of, of no program, and without a binary.
[[nodiscard]] worker::LaunchRequest launch_of(const format::KnownAnswer& answer);
// Returns what a launch with these arguments left in its buffers, as a worker that is not trusted
// returned them. A refusal if they are not those of the arguments.
[[nodiscard]] tl::expected<std::vector<format::ExpectedBuffer>, Refusal>
results_of(std::span<const LaunchArgument> arguments, std::vector<base::Bytes> buffers);

} // namespace oclcc

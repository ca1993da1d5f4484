// What --tune does with one launch on one device: which work-groups are tried, how often each
// variant runs, and whose results are wrong. Calls no driver itself.
#pragma once

#include "model/measurement.hpp"
#include "modes/launch_description.hpp"

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
};
// The answer of a worker, whose numbers of the device and path of the bundle the function adds.
using Launch =
    std::function<tl::expected<worker::LaunchReply, Refusal>(worker::LaunchRequest request)>;

// device: event profiling, if the times of each variant are credible.
enum class TuningClock : std::uint8_t { host, device };
constexpr std::array<std::string_view, 2> names_of(TuningClock /*unused*/) {
  return {"host", "device"};
}
// Returns whether the device's own times can be used: not those of rusticl and Oclgrind, which do
// not measure the launch, and not those of unknown drivers.
[[nodiscard]] TuningClock clock_of(format::DeviceFamily family) noexcept;

struct TuningSettings {
  TuningClock clock = TuningClock::host;
  std::optional<double> tolerance; // relative; otherwise, that of the type
  std::function<bool()> is_out_of_time;
  // Called before each launch, with those that are done and those that are planned.
  std::function<void(std::size_t done, std::size_t total, const std::string& variant)> progress;
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

// Returns where `actual` differs, "element 7 is 2, not 3"; std::nullopt if it does not. Integers
// must be equal. Other numbers may differ by `tolerance` of the expected one, or of the root mean
// square of the finite ones in the buffer if that is larger. Infinity and NaN equal themselves.
[[nodiscard]] std::optional<std::string> difference_of_results(base::ByteView expected,
                                                               base::ByteView actual,
                                                               ElementType type,
                                                               std::optional<double> tolerance);

} // namespace oclcc

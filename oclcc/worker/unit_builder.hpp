// Builds units with several concurrent workers.
#pragma once

#include "worker/installed_devices.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::worker {

// A program in one variant for one device, to be built from source or loaded from a binary.
struct Unit {
  std::size_t device = 0; // index in BuildPlan::devices
  std::shared_ptr<const clbin::format::SourcePackage> source;
  std::string options;
  std::vector<Specialization> specializations{};
  std::shared_ptr<const clbin::base::Bytes> binary{}; // if not null, `source` is null
  std::vector<std::string> binary_kernels{};
};

struct UnitResult {
  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // output of the driver
};
// Whether there is a binary. Otherwise, `failure`, the reply's `error` or its `cl_code` has the
// reason.
[[nodiscard]] bool is_built(const UnitResult& result);

struct BuildPlan {
  WorkerSettings settings;
  std::vector<DeviceDescription> devices;
  std::vector<Unit> units;
  unsigned jobs = 1; // concurrent workers; at least 1
  std::chrono::seconds timeout{300};
  // Returns the result of a unit, from `build` or from another source; if empty, `build` is used.
  // Called concurrently on the building threads, once per unit.
  std::function<UnitResult(std::size_t unit, const std::function<UnitResult()>& build)> make;
};

// Returns one result per unit, in the order of the units. The `enumerated` workers, which found the
// devices, compile for the platforms that they see, at most `jobs` of them. Additional workers see
// one platform each. A new worker replaces one that a unit ended. Calls `on_finished` on the
// caller's thread with the number of finished units, the last unit, and its result. `on_finished`
// may move parts out of the result to release memory early.
[[nodiscard]] std::vector<UnitResult> build_units(
    const BuildPlan& plan, std::vector<EnumeratedWorker> enumerated,
    const std::function<void(std::size_t done, std::size_t unit, UnitResult& result)>& on_finished);

} // namespace oclcc::worker

// Builds many units with several workers at once.
#pragma once

#include "worker/installed_devices.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::worker {

// A program in one variant for one device: to be built of its source, or loaded from a binary.
struct Unit {
  std::size_t device = 0; // index in BuildPlan::devices
  std::shared_ptr<const clbin::format::SourcePackage> source;
  std::string options;
  std::vector<Specialization> specializations{};
  std::shared_ptr<const clbin::base::Bytes> binary{}; // then `source` is null
  std::vector<std::string> binary_kernels{};
};

struct UnitResult {
  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // what the driver printed meanwhile
};
// Whether there is a binary: else `failure`, the reply's `error` or its `cl_code` says why not.
[[nodiscard]] bool is_built(const UnitResult& result);

struct BuildPlan {
  WorkerSettings settings;
  std::vector<DeviceDescription> devices;
  std::vector<Unit> units;
  unsigned jobs = 1; // workers at once; at least 1
  std::chrono::seconds timeout{300};
  // Makes the result of a unit, by `build` or otherwise; empty: by `build`. Called on the threads
  // that build, several at once, once a unit.
  std::function<UnitResult(std::size_t unit, const std::function<UnitResult()>& build)> make;
};

// One result a unit, in the order of the units whatever the order of completion. `enumerated` are
// the workers that found the devices: they go on as compilers of the platforms they see, the first
// `jobs` of them; further workers see one platform each, and a unit that costs its worker is
// followed by a fresh one.
// `on_finished` is called on the caller's thread with the number of units done, the one that ended
// last, and its result, of which it may take what is not to be held until all have ended.
[[nodiscard]] std::vector<UnitResult> build_units(
    const BuildPlan& plan, std::vector<EnumeratedWorker> enumerated,
    const std::function<void(std::size_t done, std::size_t unit, UnitResult& result)>& on_finished);

} // namespace oclcc::worker

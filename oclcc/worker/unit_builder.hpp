// Builds many units with several workers at once.
#pragma once

#include "worker/worker_process.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc::worker {

// A program in one variant for one device.
struct Unit {
  std::size_t device = 0; // index in BuildPlan::devices
  std::shared_ptr<const clbin::format::SourcePackage> source;
  std::string options;
};

struct BuildPlan {
  WorkerSettings settings;
  std::vector<DeviceDescription> devices;
  std::vector<Unit> units;
  unsigned jobs = 1; // workers at once; at least 1
  std::chrono::seconds timeout{300};
};

struct UnitResult {
  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // what the driver printed meanwhile
};

// One result a unit, in the order of the units whatever the order of completion. `enumerated` is
// the worker that found the devices: it goes on as a compiler of every platform; further workers
// see one platform each, and a unit that costs its worker is followed by a fresh one.
// `on_finished` is called on the caller's thread with the number of units done and the one that
// ended last.
[[nodiscard]] std::vector<UnitResult>
build_units(const BuildPlan& plan, WorkerProcess enumerated,
            const std::function<void(std::size_t done, std::size_t unit)>& on_finished);

} // namespace oclcc::worker

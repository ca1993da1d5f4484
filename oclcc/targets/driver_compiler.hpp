// Builds units with installed drivers, in worker processes.
#pragma once

#include "units/unit.hpp"
#include "worker/installed_devices.hpp"

namespace oclcc::worker {

// Returns a compiler whose targets are the devices, and whose lanes are platforms. A session has
// one worker, which is replaced when a unit ended it or needs another platform. The `enumerated`
// workers, which found the devices, compile for the platforms that they see, one for each session;
// further workers see one platform each. `timeout` is for each unit. Call it before other threads
// start, like with_home.
[[nodiscard]] std::shared_ptr<Compiler>
make_driver_compiler(const WorkerSettings& settings, std::vector<DeviceDescription> devices,
                     std::vector<EnumeratedWorker> enumerated, std::chrono::seconds timeout);

} // namespace oclcc::worker

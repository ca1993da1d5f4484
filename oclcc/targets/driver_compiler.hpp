// Builds units with installed drivers, in worker processes.
#pragma once

#include "units/unit.hpp"
#include "worker/installed_devices.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace oclcc::worker {

// The targets are the devices, and the lanes are platforms. A session has one worker, which is
// replaced when a unit ended it or needs another platform.
class DriverCompiler final : public Compiler {
public:
  // The `enumerated` workers, which found the devices, compile for the platforms that they see, one
  // for each session; further workers see one platform each. `timeout` is for each unit. Call it
  // before other threads start, like with_home.
  DriverCompiler(const WorkerSettings& settings, std::vector<DeviceDescription> devices,
                 std::vector<EnumeratedWorker> enumerated, std::chrono::seconds timeout);

  [[nodiscard]] std::uint32_t lane_of(std::size_t target) const override;
  void expect(const Workload& workload) override;
  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token useless) override;

private:
  class Session;
  [[nodiscard]] std::optional<EnumeratedWorker> take_enumerated(std::uint32_t platform);

  WorkerSettings m_settings; // with a home, unless none can be created
  std::vector<DeviceDescription> m_devices;
  std::chrono::seconds m_timeout;
  FurtherUnits m_further_units = FurtherUnits::expected;
  std::mutex m_mutex;
  std::vector<EnumeratedWorker> m_enumerated;
};

} // namespace oclcc::worker

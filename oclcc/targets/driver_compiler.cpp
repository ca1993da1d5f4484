#include "targets/driver_compiler.hpp"

#include "worker/driver_rules.hpp"

namespace oclcc::worker {

namespace {

class DriverCompiler final : public Compiler {
public:
  DriverCompiler(const WorkerSettings& settings, std::vector<DeviceDescription> devices,
                 std::vector<EnumeratedWorker> enumerated, std::chrono::seconds timeout)
      // If the home cannot be created, each worker fails for the same reason.
      : m_settings(with_home(settings).value_or(settings)), m_devices(std::move(devices)),
        m_timeout(timeout), m_enumerated(std::move(enumerated)) {}

  [[nodiscard]] std::uint32_t lane_of(std::size_t target) const override {
    return m_devices[target].platform;
  }
  void expect(const Workload& workload) override {
    m_further_units = workload.units == 1 ? FurtherUnits::none : FurtherUnits::expected;
    while (m_enumerated.size() > workload.sessions) { // so that each session has one worker
      m_enumerated.pop_back();
    }
  }
  [[nodiscard]] std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                               std::stop_token useless) override;

private:
  class Session;
  [[nodiscard]] std::optional<EnumeratedWorker> take_enumerated(std::uint32_t platform) {
    const std::lock_guard lock(m_mutex);
    const auto found = std::ranges::find_if(m_enumerated, [&](const EnumeratedWorker& one) {
      return one.first_platform.value_or(platform) == platform;
    });
    if (found == m_enumerated.end()) {
      return std::nullopt;
    }
    EnumeratedWorker worker = std::move(*found);
    m_enumerated.erase(found);
    return worker;
  }

  WorkerSettings m_settings; // with a home, unless none can be created
  std::vector<DeviceDescription> m_devices;
  std::chrono::seconds m_timeout;
  FurtherUnits m_further_units = FurtherUnits::expected;
  std::mutex m_mutex;
  std::vector<EnumeratedWorker> m_enumerated;
};

class DriverCompiler::Session final : public CompilerSession {
public:
  Session(const DriverCompiler& compiler, std::optional<EnumeratedWorker> worker,
          std::stop_token useless)
      : m_compiler(compiler), m_useless(std::move(useless)) {
    if (worker) {
      m_worker.emplace(std::move(worker->process));
      m_devices = std::move(worker->devices);
    }
  }

  void get_ready_for(std::size_t target) override { m_ready = prepare(device(target)); }

  [[nodiscard]] UnitResult build(const Unit& unit) override {
    const DeviceDescription& device = this->device(unit.target);
    UnitResult result;
    std::map<std::string, std::string> fatal_kernels;
    for (bool again = true; again;) {
      if (const auto ready = m_ready ? prepare(device) : m_ready; !ready) {
        result.failure = ready.error().message;
        break;
      }
      auto reply = send(unit, device, fatal_kernels);
      m_is_spent = spends_worker(unit, device);
      if (reply) {
        result.reply = std::move(*reply);
        result.failure.clear();
        break;
      }
      result.failure = reply.error().message;
      result.driver_output += m_worker->take_output();
      // Builds the other kernels of the program, which are usable, without that one.
      const std::optional<std::string> kernel = m_worker->fatal_kernel();
      again = kernel && fatal_kernels.emplace(*kernel, result.failure).second;
    }
    result.driver_output += m_worker ? m_worker->take_output() : std::string();
    return result;
  }

private:
  [[nodiscard]] const DeviceDescription& device(std::size_t target) const {
    return m_compiler.m_devices[target];
  }

  [[nodiscard]] const DeviceDescription* seen(const DeviceDescription& device) const {
    const auto found = std::ranges::find(m_devices, device.identity, &DeviceDescription::identity);
    return found == m_devices.end() ? nullptr : &*found;
  }

  // Whether the unit changes the bytes of the next unit of the same worker.
  [[nodiscard]] bool spends_worker(const Unit& unit, const DeviceDescription& device) const {
    const UnitIsolation isolation = unit_isolation(device.identity);
    return !unit.binary &&
           (isolation == UnitIsolation::process ||
            (isolation == UnitIsolation::copy && m_compiler.m_further_units == FurtherUnits::none));
  }

  [[nodiscard]] bool serves(const DeviceDescription& device) const {
    return m_worker && m_worker->alive() && seen(device) != nullptr;
  }

  [[nodiscard]] Result<void> prepare(const DeviceDescription& device) {
    if (!m_is_spent && serves(device) && m_worker->settle(m_compiler.m_timeout)) {
      return {};
    }
    if (!device.driver_library.empty()) {
      CLBIN_TRY(start(device.driver_library));
      if (serves(device)) {
        return {};
      }
    }
    // A driver that lists its devices only together with others, or whose library is unknown.
    CLBIN_TRY(start({}));
    if (!serves(device)) {
      return fail(ErrorCode::no_device, "'{}' was listed before, but is no longer available",
                  device.identity.device_name);
    }
    return {};
  }

  [[nodiscard]] Result<void> start(std::string only_driver) {
    m_worker.reset(); // end it first, so that a session has one
    m_is_spent = false;
    WorkerSettings settings = m_compiler.m_settings;
    settings.only_driver = std::move(only_driver);
    CLBIN_TRY_ASSIGN(WorkerProcess worker, WorkerProcess::start(settings));
    m_worker.emplace(std::move(worker));
    const std::stop_callback stop(m_useless, [this] { m_worker->kill(); });
    CLBIN_TRY_ASSIGN(EnumerateReply reply,
                     m_worker->enumerate({}, "an OpenCL driver that was listing its devices",
                                         settings.enumeration_timeout));
    m_devices = std::move(reply.devices);
    return {};
  }

  [[nodiscard]] Result<BuildReply> send(const Unit& unit, const DeviceDescription& device,
                                        const std::map<std::string, std::string>& fatal_kernels) {
    const DeviceDescription& own = *seen(device);
    BuildRequest request;
    request.platform = own.platform;
    request.device = own.device;
    if (unit.binary) {
      request.binary = *unit.binary;
      for (const auto& kernel : unit.kernels) {
        request.binary_kernels.push_back(kernel.name);
      }
    } else {
      request.source = *unit.source;
    }
    request.options = unit.options.text();
    request.specializations = unit.specializations;
    request.fatal_kernels = fatal_kernels;
    request.further_units = m_compiler.m_further_units;
    return m_worker->build(request, device.identity.device_name, m_compiler.m_timeout);
  }

  const DriverCompiler& m_compiler;
  std::stop_token m_useless;
  Result<void> m_ready;
  std::optional<WorkerProcess> m_worker;
  bool m_is_spent = false;                  // the next unit needs another worker
  std::vector<DeviceDescription> m_devices; // with the worker's numbers
};

std::unique_ptr<CompilerSession> DriverCompiler::start_session(std::uint32_t lane,
                                                               std::stop_token useless) {
  return std::make_unique<Session>(*this, take_enumerated(lane), std::move(useless));
}

} // namespace

std::shared_ptr<Compiler> make_driver_compiler(const WorkerSettings& settings,
                                               std::vector<DeviceDescription> devices,
                                               std::vector<EnumeratedWorker> enumerated,
                                               std::chrono::seconds timeout) {
  return std::make_shared<DriverCompiler>(settings, std::move(devices), std::move(enumerated),
                                          timeout);
}

} // namespace oclcc::worker

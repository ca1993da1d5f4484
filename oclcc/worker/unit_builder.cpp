#include "worker/unit_builder.hpp"

#include "worker/unit_isolation.hpp"
#include "worker/unit_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace oclcc::worker {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

// The state that the threads share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  UnitQueue queue;
  std::vector<UnitResult> results;
  std::deque<std::size_t> finished; // not yet reported to the caller
  std::stop_source all_built;       // a worker that is still starting is no longer needed
};

// The worker of one thread. It is started again if it was lost or sees a different platform.
class Server {
public:
  Server(const BuildPlan& plan, const WorkerSettings& settings, std::stop_token useless)
      : m_plan(plan), m_settings(settings), m_useless(std::move(useless)) {}

  void adopt(EnumeratedWorker worker) {
    m_worker.emplace(std::move(worker.process));
    m_devices = std::move(worker.devices);
    m_platform = worker.first_platform;
  }

  // The last assigned platform, or the only one that an adopted worker sees.
  [[nodiscard]] std::optional<std::uint32_t> platform() const noexcept { return m_platform; }
  void assign(std::uint32_t platform) noexcept { m_platform = platform; }

  // Called before a unit is taken. Starting a worker takes as long as many units on some drivers,
  // so that another worker may have built them meanwhile. The next unit reports errors of the
  // start.
  void get_ready_for(const Unit& unit) { m_ready = prepare(m_plan.devices[unit.device]); }

  [[nodiscard]] UnitResult build(const Unit& unit) {
    const DeviceDescription& device = m_plan.devices[unit.device];
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
  [[nodiscard]] const DeviceDescription* seen(const DeviceDescription& device) const {
    const auto found =
        std::find_if(m_devices.begin(), m_devices.end(), [&](const DeviceDescription& other) {
          return other.identity == device.identity;
        });
    return found == m_devices.end() ? nullptr : &*found;
  }

  [[nodiscard]] FurtherUnits further_units() const {
    return m_plan.units.size() == 1 ? FurtherUnits::none : FurtherUnits::expected;
  }

  // Whether the unit changes the bytes of the next unit of the same worker.
  [[nodiscard]] bool spends_worker(const Unit& unit, const DeviceDescription& device) const {
    const UnitIsolation isolation = unit_isolation(device.identity);
    return !unit.binary &&
           (isolation == UnitIsolation::process ||
            (isolation == UnitIsolation::copy && further_units() == FurtherUnits::none));
  }

  [[nodiscard]] bool serves(const DeviceDescription& device) const {
    return m_worker && m_worker->alive() && seen(device) != nullptr;
  }

  [[nodiscard]] Result<void> prepare(const DeviceDescription& device) {
    if (!m_is_spent && serves(device) && m_worker->settle(m_plan.timeout)) {
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
    m_worker.reset(); // end it first, so that at most `jobs` run
    m_is_spent = false;
    WorkerSettings settings = m_settings;
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
      request.binary_kernels = unit.binary_kernels;
    } else {
      request.source = *unit.source;
    }
    request.options = unit.options;
    request.specializations = unit.specializations;
    request.fatal_kernels = fatal_kernels;
    request.further_units = further_units();
    return m_worker->build(request, device.identity.device_name, m_plan.timeout);
  }

  const BuildPlan& m_plan;
  const WorkerSettings& m_settings; // the settings of the plan, with a home
  std::stop_token m_useless;
  Result<void> m_ready;
  std::optional<WorkerProcess> m_worker;
  bool m_is_spent = false;                  // the next unit needs another worker
  std::vector<DeviceDescription> m_devices; // with the worker's numbers
  std::optional<std::uint32_t> m_platform;  // with the plan's number
};

void serve(const BuildPlan& plan, Shared& shared, Server server) {
  for (;;) {
    std::optional<std::uint32_t> platform;
    std::optional<std::size_t> unit;
    {
      const std::lock_guard lock(shared.mutex);
      platform = shared.queue.choose(server.platform());
      unit = platform ? shared.queue.front(*platform) : std::nullopt;
    }
    if (!unit) {
      return;
    }
    server.assign(*platform);
    server.get_ready_for(plan.units[*unit]);
    {
      const std::lock_guard lock(shared.mutex);
      unit = shared.queue.take(*platform);
    }
    if (!unit) {
      continue;
    }
    const auto build = [&] { return server.build(plan.units[*unit]); };
    UnitResult result = plan.make ? plan.make(*unit, build) : build();
    const std::lock_guard lock(shared.mutex);
    shared.results[*unit] = std::move(result);
    shared.finished.push_back(*unit);
    shared.changed.notify_one();
  }
}

} // namespace

bool is_built(const UnitResult& result) {
  return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
}

std::vector<UnitResult> build_units(const BuildPlan& plan, std::vector<EnumeratedWorker> enumerated,
                                    const std::function<void(std::size_t done, std::size_t unit,
                                                             UnitResult& result)>& on_finished) {
  Shared shared;
  shared.results.resize(plan.units.size());
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    shared.queue.add(plan.devices[plan.units[i].device].platform, i);
  }
  // If the home cannot be created, each worker fails for the same reason.
  const WorkerSettings settings = with_home(plan.settings).value_or(plan.settings);
  const std::size_t thread_count =
      std::min<std::size_t>(std::max(plan.jobs, 1U), plan.units.size());
  std::vector<Server> servers;
  servers.reserve(thread_count);
  for (std::size_t i = 0; i < thread_count; ++i) {
    servers.emplace_back(plan, settings, shared.all_built.get_token());
  }
  for (std::size_t i = 0; i < std::min(thread_count, enumerated.size()); ++i) {
    servers[i].adopt(std::move(enumerated[i]));
  }
  enumerated.clear(); // so that at most `jobs` run
  std::vector<std::jthread> threads;
  threads.reserve(thread_count);
  for (Server& server : servers) {
    threads.emplace_back([&plan, &shared, own = std::move(server)]() mutable {
      serve(plan, shared, std::move(own));
    });
  }
  for (std::size_t done = 1; done <= plan.units.size(); ++done) {
    std::unique_lock lock(shared.mutex);
    shared.changed.wait(lock, [&] { return !shared.finished.empty(); });
    const std::size_t unit = shared.finished.front();
    shared.finished.pop_front();
    lock.unlock();
    on_finished(done, unit, shared.results[unit]);
  }
  shared.all_built.request_stop();
  threads.clear();
  return std::move(shared.results);
}

} // namespace oclcc::worker

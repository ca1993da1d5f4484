#include "worker/unit_builder.hpp"

#include "worker/unit_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace oclcc::worker {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::chrono::seconds k_enumerate_timeout{60};

// What the threads share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  UnitQueue queue;
  std::vector<UnitResult> results;
  std::deque<std::size_t> finished; // not yet told to the caller
};

// One thread's worker, started again where it was lost or sees another platform.
class Server {
public:
  explicit Server(const BuildPlan& plan) : m_plan(plan) {}

  // `worker` sees every device at the numbers of the plan.
  void adopt(WorkerProcess worker) {
    m_worker.emplace(std::move(worker));
    m_only_platform.reset();
    m_devices = m_plan.devices;
  }

  [[nodiscard]] UnitResult build(const Unit& unit) {
    const DeviceDescription& device = m_plan.devices[unit.device];
    UnitResult result;
    if (const auto ready = prepare(device); !ready) {
      result.failure = ready.error().message;
    } else {
      auto reply = send(unit, device);
      if (reply) {
        result.reply = std::move(*reply);
      } else {
        result.failure = reply.error().message;
      }
    }
    result.driver_output = m_worker ? m_worker->take_output() : std::string();
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

  [[nodiscard]] bool serves(const DeviceDescription& device) const {
    return m_worker && m_worker->alive() &&
           (!m_only_platform || *m_only_platform == device.platform) && seen(device) != nullptr;
  }

  [[nodiscard]] Result<void> prepare(const DeviceDescription& device) {
    if (serves(device)) {
      return {};
    }
    if (!device.driver_library.empty()) {
      CLBIN_TRY(start(device.driver_library, device.platform));
      if (serves(device)) {
        return {};
      }
    }
    // A driver that shows its devices only beside others, or whose library is not known.
    CLBIN_TRY(start({}, std::nullopt));
    if (!serves(device)) {
      return fail(ErrorCode::no_device, "'{}' was there when devices were listed, but is gone",
                  device.identity.device_name);
    }
    return {};
  }

  [[nodiscard]] Result<void> start(std::string only_driver,
                                   std::optional<std::uint32_t> only_platform) {
    m_worker.reset(); // first its end, so that never more than `jobs` run
    WorkerSettings settings = m_plan.settings;
    settings.only_driver = std::move(only_driver);
    CLBIN_TRY_ASSIGN(WorkerProcess worker, WorkerProcess::start(settings));
    m_worker.emplace(std::move(worker));
    CLBIN_TRY_ASSIGN(EnumerateReply reply, m_worker->enumerate({}, k_enumerate_timeout));
    m_only_platform = only_platform;
    m_devices = std::move(reply.devices);
    return {};
  }

  [[nodiscard]] Result<BuildReply> send(const Unit& unit, const DeviceDescription& device) {
    const DeviceDescription& own = *seen(device);
    BuildRequest request;
    request.platform = own.platform;
    request.device = own.device;
    request.source = *unit.source;
    request.options = unit.options;
    return m_worker->build(request, device.identity.device_name, m_plan.timeout);
  }

  const BuildPlan& m_plan;
  std::optional<WorkerProcess> m_worker;
  std::optional<std::uint32_t> m_only_platform; // of the plan's numbers; nothing: sees all
  std::vector<DeviceDescription> m_devices;     // as the worker numbers them
};

void serve(const BuildPlan& plan, Shared& shared, Server server) {
  std::optional<std::uint32_t> platform;
  for (;;) {
    std::optional<std::size_t> unit;
    {
      const std::lock_guard lock(shared.mutex);
      unit = shared.queue.take(platform);
    }
    if (!unit) {
      return;
    }
    platform = plan.devices[plan.units[*unit].device].platform;
    UnitResult result = server.build(plan.units[*unit]);
    const std::lock_guard lock(shared.mutex);
    shared.results[*unit] = std::move(result);
    shared.finished.push_back(*unit);
    shared.changed.notify_one();
  }
}

} // namespace

std::vector<UnitResult>
build_units(const BuildPlan& plan, WorkerProcess enumerated,
            const std::function<void(std::size_t done, std::size_t unit)>& on_finished) {
  Shared shared;
  shared.results.resize(plan.units.size());
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    shared.queue.add(plan.devices[plan.units[i].device].platform, i);
  }
  const std::size_t thread_count =
      std::min<std::size_t>(std::max(plan.jobs, 1U), plan.units.size());
  std::vector<Server> servers;
  servers.reserve(thread_count);
  for (std::size_t i = 0; i < thread_count; ++i) {
    servers.emplace_back(plan);
  }
  if (!servers.empty()) {
    servers.front().adopt(std::move(enumerated));
  }
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
    on_finished(done, unit);
  }
  threads.clear();
  return std::move(shared.results);
}

} // namespace oclcc::worker

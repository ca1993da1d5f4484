// The processes of a home. What depends on the system, its directory and the guard, is in system/.
#include "worker/worker_home.hpp"

#include "worker/spawn.hpp"

#include <algorithm>
#include <thread>

namespace oclcc::worker {

void WorkerHome::forget(pid_t worker) noexcept {
  std::erase(m_workers, worker);
  tell_guard(-worker);
}

void WorkerHome::interrupt() noexcept {
  {
    const std::lock_guard lock(m_mutex);
    m_is_interrupted = true;
    std::ranges::for_each(m_workers, end_group);
  }
  release();
}

void WorkerHome::stay_if_interrupted() noexcept {
  const auto is_interrupted = [this] {
    const std::lock_guard lock(m_mutex);
    return m_is_interrupted;
  };
  while (is_interrupted()) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

void WorkerHome::add(pid_t worker) {
  const std::lock_guard lock(m_mutex);
  m_workers.push_back(worker);
  tell_guard(worker);
  if (m_is_interrupted) {
    end_group(worker);
  }
}

void WorkerHome::remove(pid_t worker) noexcept {
  const std::lock_guard lock(m_mutex);
  forget(worker);
}

void WorkerHome::kill(pid_t worker) noexcept {
  const std::lock_guard lock(m_mutex);
  if (std::ranges::find(m_workers, worker) != m_workers.end()) {
    end_group(worker);
  }
}

void WorkerHome::retire(pid_t worker, base::TemporaryFolder folder) {
  const std::lock_guard lock(m_mutex);
  forget(worker);
  end_process(worker);
  end_group(worker);
  m_retired.push_back({worker, std::move(folder)});
}

void WorkerHome::bury_retired() noexcept {
  std::vector<Retired> retired;
  {
    const std::lock_guard lock(m_mutex);
    retired.swap(m_retired);
  }
  for (const Retired& worker : retired) {
    (void)wait_for(worker.process);
  }
}

} // namespace oclcc::worker

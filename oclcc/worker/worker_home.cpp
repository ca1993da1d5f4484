#include "worker/worker_home.hpp"

#include "worker/home_guard.hpp"
#include "worker/stray_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace oclcc::worker {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

struct WorkerHome::State {
  HomeGuard guard;
  std::filesystem::path folder;
  int hold = -1; // the directory stays in use even if the guard is killed
  std::mutex mutex;
  std::vector<pid_t> workers;
  struct Retired {
    pid_t process;
    clbin::base::TemporaryFolder folder;
  };
  std::vector<Retired> retired;
  bool interrupted = false;
  bool released = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;

  void release() noexcept;
  void tell(WorkerState state, pid_t worker) const noexcept {
    if (!interrupted) { // otherwise, the lifeline is closed
      tell_guard(guard.lifeline, state, worker);
    }
  }
  void forget(pid_t worker) noexcept {
    std::erase(workers, worker);
    tell(WorkerState::ended, worker);
  }
};

void WorkerHome::State::release() noexcept {
  if (std::exchange(released, true)) {
    return;
  }
  if (guard.lifeline >= 0) {
    ::close(guard.lifeline);
  }
  if (guard.process > 0) {
    while (::waitpid(guard.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code ignored;
  if (!folder.empty() && std::filesystem::exists(folder, ignored)) {
    remove_home(folder.string()); // the guard was killed
  }
  if (hold >= 0) {
    ::close(hold);
  }
}

WorkerHome::WorkerHome(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Result<std::shared_ptr<WorkerHome>> WorkerHome::create(std::stop_token stop) {
  auto state = std::make_unique<State>();
  state->guard = start_home_guard();
  state->folder = state->guard.folder;
  std::shared_ptr<WorkerHome> home(new WorkerHome(std::move(state)));
  if (home->path().empty()) {
    return fail(home->m_state->guard.process < 0 ? ErrorCode::internal : ErrorCode::file_write,
                "{}", home->m_state->guard.error);
  }
  home->m_state->hold = hold_home(home->path().string());
  adopt_strays(Adoption::on);
  home->m_state->on_stop.emplace(std::move(stop), [raw = home.get()] { raw->interrupt(); });
  return home;
}

WorkerHome::~WorkerHome() {
  m_state->on_stop.reset(); // waits for a running callback
  bury_retired();
  if (m_state->workers.empty() && has_no_child_but(m_state->guard.process)) {
    m_state->tell(WorkerState::all_ended, -1);
  }
  m_state->release();
  adopt_strays(Adoption::off);
}

const std::filesystem::path& WorkerHome::path() const noexcept {
  return m_state->folder;
}

void WorkerHome::interrupt() noexcept {
  {
    const std::lock_guard lock(m_state->mutex);
    m_state->interrupted = true;
    for (const pid_t worker : m_state->workers) {
      ::kill(-worker, SIGKILL);
    }
  }
  m_state->release();
}

void WorkerHome::stay_if_interrupted() noexcept {
  bool interrupted = false;
  {
    const std::lock_guard lock(m_state->mutex);
    interrupted = m_state->interrupted;
  }
  if (!interrupted) {
    return;
  }
  for (;;) {
    ::pause();
  }
}

void WorkerHome::add(pid_t worker) {
  const std::lock_guard lock(m_state->mutex);
  m_state->workers.push_back(worker);
  m_state->tell(WorkerState::started, worker);
  if (m_state->interrupted) {
    ::kill(-worker, SIGKILL);
  }
}

void WorkerHome::remove(pid_t worker) noexcept {
  const std::lock_guard lock(m_state->mutex);
  m_state->forget(worker);
}

void WorkerHome::kill(pid_t worker) noexcept {
  const std::lock_guard lock(m_state->mutex);
  if (std::find(m_state->workers.begin(), m_state->workers.end(), worker) !=
      m_state->workers.end()) {
    ::kill(-worker, SIGKILL);
  }
}

void WorkerHome::retire(pid_t worker, clbin::base::TemporaryFolder folder) {
  const std::lock_guard lock(m_state->mutex);
  m_state->forget(worker);
  ::kill(worker, SIGKILL);
  ::kill(-worker, SIGKILL);
  m_state->retired.push_back({worker, std::move(folder)});
}

void WorkerHome::bury_retired() noexcept {
  std::vector<State::Retired> retired;
  {
    const std::lock_guard lock(m_state->mutex);
    retired.swap(m_state->retired);
  }
  for (const State::Retired& worker : retired) {
    while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

} // namespace oclcc::worker

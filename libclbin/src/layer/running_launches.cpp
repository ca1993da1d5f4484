#include "layer/running_launches.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace clbin::layer {

void RunningLaunches::begin() {
  std::unique_lock lock(m_mutex);
  m_resumed.wait(lock, [this] { return !m_is_paused; });
  ++m_beginning;
}

void RunningLaunches::end(cl_event event) {
  const std::scoped_lock lock(m_mutex);
  if (m_events.size() >= m_next_check) {
    forget_ended_locked();
    m_next_check = std::max<std::size_t>(64, 2 * m_events.size());
  }
  if (event != nullptr) {
    m_events.push_back(event);
  }
  --m_beginning;
}

void RunningLaunches::forget_ended() {
  const std::scoped_lock lock(m_mutex);
  forget_ended_locked();
}

RunningLaunches::Pause RunningLaunches::try_pause() {
  const std::scoped_lock lock(m_mutex);
  if (m_is_paused || m_beginning != 0) {
    return nullptr;
  }
  forget_ended_locked();
  if (!m_events.empty()) {
    return nullptr;
  }
  m_is_paused = true;
  return Pause(this);
}

void RunningLaunches::resume() noexcept {
  {
    const std::scoped_lock lock(m_mutex);
    m_is_paused = false;
  }
  m_resumed.notify_all();
}

bool RunningLaunches::has_ended(cl_event event) const {
  cl_int status = CL_QUEUED;
  const cl_int code = m_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof(status), &status, nullptr);
  return code != CL_SUCCESS || status <= CL_COMPLETE; // negative: an error
}

void RunningLaunches::forget_ended_locked() {
  const auto ended = std::partition(m_events.begin(), m_events.end(),
                                    [this](cl_event event) { return !has_ended(event); });
  std::for_each(ended, m_events.end(), [this](cl_event event) { m_next.clReleaseEvent(event); });
  m_events.erase(ended, m_events.end());
}

namespace {

struct Work {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_ending = false;
  int running = 0;
  ::pid_t process = 0; // of the last begin(): a forked child has none of the threads
};

// Never destroyed, so that it can be used until the end.
Work& work() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): exit() knows no object
  static auto* const state = new Work;
  return *state;
}

// What the calling thread does: it must not wait for itself if the driver calls exit().
int& own_work() noexcept {
  static thread_local int count = 0;
  return count;
}

void end_work() noexcept {
  constexpr std::chrono::seconds k_longest_wait{30};
  Work& state = work();
  std::unique_lock lock(state.mutex);
  state.is_ending = true;
  if (state.process == ::getpid() && own_work() == 0) {
    (void)state.changed.wait_for(lock, k_longest_wait, [&] { return state.running == 0; });
  }
}

} // namespace

// Handlers run in the reverse order of their registration, before what existed then is destroyed.
void watch_process_end() {
  (void)std::atexit(end_work);
}

DriverWork begin_driver_work() {
  Work& state = work();
  const std::scoped_lock lock(state.mutex);
  if (state.is_ending) {
    return nullptr;
  }
  if (state.process != ::getpid()) {
    state.process = ::getpid();
    state.running = 0;
  }
  ++state.running;
  ++own_work();
  return DriverWork(&state);
}

void EndDriverWork::operator()(void* /*work*/) const noexcept {
  Work& state = work();
  const std::scoped_lock lock(state.mutex);
  --state.running;
  --own_work();
  state.changed.notify_all();
}

} // namespace clbin::layer

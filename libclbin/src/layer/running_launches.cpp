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

} // namespace clbin::layer

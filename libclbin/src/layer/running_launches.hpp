// When a driver may be asked for a binary. PoCL aborts the process if a kernel with a required
// work-group size runs (doc/drivers.md). See also opencl/process_end.hpp.
#pragma once

#include <CL/cl_icd.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace clbin::layer {

// Which launches of the application have not ended. Thread-safe. Borrows the table, whose functions
// of events must not be null.
class RunningLaunches {
public:
  explicit RunningLaunches(const cl_icd_dispatch& next) noexcept : m_next(next) {}

  // Call it before a launch is passed to the driver. Waits for the end of a pause.
  void begin();
  // Call it after each begin(). Takes over a reference to the event of the launch; null: the driver
  // has refused it. After an exception (out of memory), there is no pause any more.
  void end(cl_event event);

  // Releases the events of launches that have ended.
  void forget_ended();

  // While it lives, no launch runs, and begin() waits.
  struct Resume {
    void operator()(RunningLaunches* paused) const noexcept { paused->resume(); }
  };
  using Pause = std::unique_ptr<RunningLaunches, Resume>;
  // Does not block. Null: launches are running, or another thread has a pause.
  [[nodiscard]] Pause try_pause();

private:
  void resume() noexcept;
  [[nodiscard]] bool has_ended(cl_event event) const;
  void forget_ended_locked();

  const cl_icd_dispatch& m_next;
  std::mutex m_mutex;
  std::condition_variable m_resumed;
  std::vector<cl_event> m_events; // of launches that may be running
  std::size_t m_next_check = 64;  // how many events begin a search for those that have ended
  int m_beginning = 0;            // launches that the driver is being told of
  bool m_is_paused = false;
};

} // namespace clbin::layer

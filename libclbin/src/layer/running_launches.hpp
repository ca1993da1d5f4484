// When a driver may be asked for a binary. PoCL aborts the process if a kernel with a required
// work-group size runs (doc/drivers.md), and a driver's objects may be gone when the process ends.
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

// Call it after a driver has built or compiled something. exit() then ends DriverWork before it
// destroys what the driver had created until this call. An application that keeps OpenCL objects in
// static variables releases them later, after PoCL's compiler has destroyed its own: asking PoCL
// for a binary would crash. Thread-safe.
void watch_process_end();

// Work of a thread that calls a driver for the layer's own purposes. exit() in another thread waits
// for its end, at most 30 seconds.
struct EndDriverWork {
  void operator()(void* work) const noexcept;
};
using DriverWork = std::unique_ptr<void, EndDriverWork>;
// Returns null if the process is ending. Thread-safe.
[[nodiscard]] DriverWork begin_driver_work();

} // namespace clbin::layer

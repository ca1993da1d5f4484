// Whether a driver may still be called: its objects may be gone when the process ends.
#pragma once

#include <memory>

namespace clbin::opencl {

// Call it after a driver has built or compiled something. exit() then ends DriverWork before it
// destroys what the driver had created until this call; if it was called on the main thread and
// exit() is, too, before it destroys anything. An application that keeps OpenCL objects in
// static variables releases them later, after PoCL's compiler has destroyed its own: asking PoCL
// for a binary would crash. Thread-safe.
void watch_process_end();

// Work of a thread that calls a driver for libclbin's own purposes. exit() in another thread waits
// for its end, at most 30 seconds.
struct EndDriverWork {
  void operator()(void* work) const noexcept;
};
using DriverWork = std::unique_ptr<void, EndDriverWork>;
// Returns null if the process is ending. Thread-safe.
[[nodiscard]] DriverWork begin_driver_work();

} // namespace clbin::opencl

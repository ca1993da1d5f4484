// Whether the process is ending, so that a driver's own objects may no longer exist.
#pragma once

#include <optional>

namespace clbin::layer {

// Call it after a driver has built or compiled something. exit() then ends DriverWork before it
// destroys what the driver had created until this call. An application that keeps OpenCL objects in
// static variables releases them later, after PoCL's compiler has destroyed its own: asking PoCL
// for a binary would crash. Thread-safe.
void watch_process_end();

// Work of a thread that calls a driver for the layer's own purposes. exit() in another thread waits
// for it, at most 30 seconds. Thread-safe.
class DriverWork {
public:
  // Returns std::nullopt if the process is ending.
  [[nodiscard]] static std::optional<DriverWork> begin();
  DriverWork(DriverWork&& other) noexcept;
  DriverWork& operator=(DriverWork&&) = delete;
  ~DriverWork();

private:
  DriverWork() = default;
  bool m_is_counted = true;
};

} // namespace clbin::layer

// Whether the process is ending, so that a driver's own objects may no longer exist.
#pragma once

namespace clbin::layer {

// Call it after a driver has built a program. From then on, process_is_ending() notices exit().
void watch_process_end();

// Returns true while exit() destroys what was created before the first watch_process_end(). An
// application that keeps OpenCL objects in static variables releases them then, after PoCL's
// compiler has destroyed its own: asking PoCL for a binary would crash. Thread-safe.
[[nodiscard]] bool process_is_ending() noexcept;

} // namespace clbin::layer

// Memory of this process as malloc hands it out. Linking counted_memory.cpp replaces malloc: not
// with a sanitizer, which does so too.
#pragma once

#include <cstdint>

namespace clbin::test {

// All that is in use now, all that ever was handed out, and the most that was in use at once since
// forget_peak. Thread-safe.
[[nodiscard]] std::uint64_t live_memory() noexcept;
[[nodiscard]] std::uint64_t taken_memory() noexcept;
[[nodiscard]] std::uint64_t peak_memory() noexcept;
void forget_peak() noexcept;
// Beyond this there is no memory: a runaway call fails before the machine does.
void set_memory_limit(std::uint64_t bytes) noexcept;

} // namespace clbin::test

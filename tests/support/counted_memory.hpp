// Counts the memory that malloc returns. Linking counted_memory.cpp replaces malloc, so it
// cannot be used with a sanitizer, which replaces it too.
#pragma once

#include <cstdint>

namespace clbin::test {

// Bytes in use now, bytes allocated in total, and the maximum number of bytes in use since
// forget_peak. Thread-safe.
[[nodiscard]] std::uint64_t live_memory() noexcept;
[[nodiscard]] std::uint64_t taken_memory() noexcept;
[[nodiscard]] std::uint64_t peak_memory() noexcept;
void forget_peak() noexcept;
// malloc fails beyond this limit: a runaway call then fails before the machine runs out of memory.
void set_memory_limit(std::uint64_t bytes) noexcept;

} // namespace clbin::test

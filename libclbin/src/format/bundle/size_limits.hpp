// Limits that grow with a bundle, so that the work on it is linear in the size of its file.
#pragma once

#include <cstdint>
#include <limits>

namespace clbin::format {

// Returns `always` + `ratio` times `total_bytes`, or the largest number if that overflows. `ratio`
// must not be 0.
[[nodiscard]] constexpr std::uint64_t
limit_for_file(std::uint64_t total_bytes, std::uint64_t always, std::uint64_t ratio) noexcept {
  constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();
  return total_bytes > (k_most - always) / ratio ? k_most : always + ratio * total_bytes;
}

// Returns the limit of raw bytes of sources or payloads that an operation keeps in memory at the
// same time, for a bundle of `total_bytes`.
[[nodiscard]] constexpr std::uint64_t held_bytes_limit(std::uint64_t total_bytes) noexcept {
  return limit_for_file(total_bytes, 32ULL << 20U, 12);
}

} // namespace clbin::format

// Limits of the work on a bundle, whatever the bundle declares.
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <limits>

namespace clbin::format {

// Returns `always` + `ratio` times `total_bytes`, or the largest number if that overflows. `ratio`
// must not be 0.
[[nodiscard]] constexpr std::uint64_t
limit_for_file(std::uint64_t total_bytes, std::uint64_t always, std::uint64_t ratio) noexcept {
  constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();
  return total_bytes > (k_most - always) / ratio ? k_most : always + ratio * total_bytes;
}

// The limit of raw bytes of sources or payloads that an operation keeps in memory at the same time.
[[nodiscard]] constexpr std::uint64_t held_bytes_limit(std::uint64_t total_bytes) noexcept {
  return limit_for_file(total_bytes, 32ULL << 20U, 12);
}

// Limits of allocations, whatever the file declares.
struct ReadLimits {
  std::uint64_t max_directory_bytes = 64ULL << 20U;
  std::uint64_t max_raw_bytes = 1ULL << 30U; // one payload, source or manifest, decompressed
  // Limits of one call: the raw bytes that it creates, including each use of a reference, and its
  // memory other than payloads. If 0, BundleReader::budget derives them from the size of the
  // bundle.
  std::uint64_t max_total_raw_bytes = 0;
  std::uint64_t max_memory_bytes = 0;
};

// Whether bytes may follow the bundle, which in memory may be part of a larger region.
enum class TrailingBytes : std::uint8_t { refuse, ignore };

// All steps of a call share one budget, so that repeated steps cannot exceed the limits that apply
// to a single one. Not thread-safe.
class ReadBudget {
public:
  ReadBudget(std::uint64_t memory_bytes, std::uint64_t raw_bytes) noexcept
      : m_memory_limit(memory_bytes), m_raw_limit(raw_bytes), m_memory_left(memory_bytes),
        m_raw_left(raw_bytes) {}

  // 48 MiB of memory plus 8 bytes for each byte of the bundle; 2 GiB of raw bytes, or 256 bytes for
  // each byte of the bundle if that is more.
  [[nodiscard]] static ReadBudget for_bundle(std::uint64_t total_bytes) noexcept {
    constexpr std::uint64_t k_raw_bytes = 2ULL << 30U;
    return {limit_for_file(total_bytes, 48ULL << 20U, 8),
            std::max(k_raw_bytes, limit_for_file(total_bytes, 0, 256))};
  }

  // Call it before allocating `bytes` of memory for anything other than payloads: decoded manifests
  // and sources, listings, reports. `what` names the purpose. Error: limit_exceeded.
  [[nodiscard]] base::Result<void> take_memory(std::uint64_t bytes, std::string_view what) {
    if (bytes > m_memory_left) {
      return base::fail(
          base::ErrorCode::limit_exceeded,
          "{}: the call needs more than its limit of {} bytes of memory besides payloads", what,
          m_memory_limit);
    }
    m_memory_left -= bytes;
    return {};
  }
  // Call it after releasing such memory.
  void return_memory(std::uint64_t bytes) noexcept { m_memory_left += bytes; }
  [[nodiscard]] std::uint64_t memory_limit() const noexcept { return m_memory_limit; }
  [[nodiscard]] std::uint64_t raw_limit() const noexcept { return m_raw_limit; }
  [[nodiscard]] std::uint64_t memory_left() const noexcept { return m_memory_left; }

  // Call it before creating or hashing `bytes` raw bytes; limits the time of a call. Error:
  // limit_exceeded.
  [[nodiscard]] base::Result<void> take_raw(std::uint64_t bytes, std::string_view what) {
    if (bytes > m_raw_left) {
      m_raw_left = 0; // smaller steps must also fail, so that the call ends
      return base::fail(base::ErrorCode::limit_exceeded,
                        "{}: the call needs more than its limit of {} raw bytes", what,
                        m_raw_limit);
    }
    m_raw_left -= bytes;
    return {};
  }
  [[nodiscard]] bool is_raw_spent() const noexcept { return m_raw_left == 0; }

private:
  std::uint64_t m_memory_limit;
  std::uint64_t m_raw_limit;
  std::uint64_t m_memory_left;
  std::uint64_t m_raw_left;
};

} // namespace clbin::format

// What one call on a bundle may cost, whatever the bundle declares.
#pragma once

#include "base/result.hpp"
#include "format/bundle/size_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace clbin::format {

// Every step of a call draws from one of these, so that no repetition of what is allowed once can
// add up. Not thread-safe: it lives as long as one call.
class ReadBudget {
public:
  ReadBudget(std::uint64_t memory_bytes, std::uint64_t raw_bytes) noexcept
      : m_memory_limit(memory_bytes), m_raw_limit(raw_bytes), m_memory_left(memory_bytes),
        m_raw_left(raw_bytes) {}

  // Of a bundle of `total_bytes`, unless the caller has limits of its own: 48 MiB and 8 bytes for
  // each of the bundle's of memory; 2 GiB, or 256 bytes for each of the bundle's where that is
  // more, of raw bytes.
  [[nodiscard]] static ReadBudget for_bundle(std::uint64_t total_bytes) noexcept {
    constexpr std::uint64_t k_raw_bytes = 2ULL << 30U;
    return {limit_for_file(total_bytes, 48ULL << 20U, 8),
            std::max(k_raw_bytes, limit_for_file(total_bytes, 0, 256))};
  }

  // Before memory for `bytes` is taken that is no payload: decoded manifests and sources, listings,
  // reports. `what` names what needs it. limit_exceeded.
  [[nodiscard]] base::Result<void> take_memory(std::uint64_t bytes, std::string_view what) {
    if (bytes > m_memory_left) {
      return base::fail(base::ErrorCode::limit_exceeded,
                        "{}: one call may take {} bytes of memory besides payloads, and needs more",
                        what, m_memory_limit);
    }
    m_memory_left -= bytes;
    return {};
  }
  // Once such memory is free again.
  void return_memory(std::uint64_t bytes) noexcept { m_memory_left += bytes; }
  [[nodiscard]] std::uint64_t memory_limit() const noexcept { return m_memory_limit; }
  [[nodiscard]] std::uint64_t raw_limit() const noexcept { return m_raw_limit; }
  [[nodiscard]] std::uint64_t memory_left() const noexcept { return m_memory_left; }

  // Before `bytes` raw bytes are made or hashed: bounds time. limit_exceeded.
  [[nodiscard]] base::Result<void> take_raw(std::uint64_t bytes, std::string_view what) {
    if (bytes > m_raw_left) {
      m_raw_left = 0; // smaller steps cannot go on for ever either
      return base::fail(base::ErrorCode::limit_exceeded,
                        "{}: one call may read {} raw bytes, and needs more", what, m_raw_limit);
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

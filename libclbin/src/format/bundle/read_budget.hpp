// Limits the cost of one call on a bundle, whatever the bundle declares.
#pragma once

#include "base/result.hpp"
#include "format/bundle/size_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace clbin::format {

// All steps of a call share one budget, so that repeated steps cannot exceed the limits that apply
// to a single one. Lives as long as one call. Not thread-safe.
class ReadBudget {
public:
  ReadBudget(std::uint64_t memory_bytes, std::uint64_t raw_bytes) noexcept
      : m_memory_limit(memory_bytes), m_raw_limit(raw_bytes), m_memory_left(memory_bytes),
        m_raw_left(raw_bytes) {}

  // Returns the budget for a bundle of `total_bytes` if the caller has no other limits: 48 MiB of
  // memory plus 8 bytes for each byte of the bundle; 2 GiB of raw bytes, or 256 bytes for each byte
  // of the bundle if that is more.
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

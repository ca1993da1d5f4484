// Reads structured values from a fuzzer's bytes. When no bytes are left, every value is 0 or empty.
#pragma once

#include "base/byte_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace clbin::fuzz {

class FuzzInput {
public:
  explicit FuzzInput(base::ByteView bytes) : m_rest(bytes) {}

  [[nodiscard]] bool is_empty() const { return m_rest.empty(); }

  std::uint8_t byte() {
    if (m_rest.empty()) {
      return 0;
    }
    const auto value = std::to_integer<std::uint8_t>(m_rest.front());
    m_rest = m_rest.subspan(1);
    return value;
  }

  // Returns 0 to max, both included.
  std::uint8_t number(std::uint8_t max) {
    return static_cast<std::uint8_t>(byte() % (static_cast<unsigned>(max) + 1U));
  }

  bool coin() { return (byte() & 1U) != 0; }

  // Returns at most 255 bytes.
  std::string text(std::uint8_t max_bytes) {
    const std::size_t wanted = number(max_bytes);
    const std::size_t size = std::min(wanted, m_rest.size());
    const std::string value(base::as_text(m_rest.first(size)));
    m_rest = m_rest.subspan(size);
    return value;
  }

private:
  base::ByteView m_rest;
};

} // namespace clbin::fuzz

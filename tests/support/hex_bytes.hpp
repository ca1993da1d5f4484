#pragma once

#include "base/byte_codec.hpp"

#include <cstddef>
#include <string_view>

namespace clbin::test {

// "0aff" are two bytes.
inline base::Bytes from_hex(std::string_view text) {
  const auto value = [](char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  base::Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(value(text[i]) * 16 + value(text[i + 1])));
  }
  return bytes;
}

} // namespace clbin::test

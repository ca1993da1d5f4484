#include "specialization.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

// No device has larger work-groups; and each size costs a compilation.
constexpr std::uint64_t k_largest = 65536;

// "16x16" → 16, 16, 1. False for anything else.
bool parse_size(std::string_view text, GroupSize& size) {
  for (std::size_t dimension = 0; dimension < size.size(); ++dimension) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, size[dimension]);
    if (code != std::errc() || size[dimension] == 0 || size[dimension] > k_largest) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty()) {
      return true;
    }
    if (text.front() != 'x') {
      return false;
    }
    text.remove_prefix(1);
  }
  return false;
}

} // namespace

Result<Specialization> parse_specialization(const std::string& text) {
  const std::size_t equals = text.find('=');
  Specialization result;
  if (equals == std::string::npos || equals == 0 ||
      !parse_size(std::string_view(text).substr(equals + 1), result.size)) {
    return fail(ErrorCode::invalid_argument,
                "'--specialize' takes KERNEL=SIZE, as matmul=16x16 or scale=64: one to three "
                "numbers from 1 to {}; not '{}'",
                k_largest, text);
  }
  result.kernel = text.substr(0, equals);
  return result;
}

std::string to_string(const GroupSize& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

void add_specialization(std::vector<Specialization>& all, Specialization specialization) {
  const auto place = std::lower_bound(all.begin(), all.end(), specialization);
  if (place == all.end() || *place != specialization) {
    all.insert(place, std::move(specialization));
  }
}

} // namespace oclcc

#include "model/target_facts.hpp"

#include <charconv>
#include <string_view>

namespace clbin::format {

namespace {

constexpr int k_decimal = 10;
constexpr int k_hexadecimal = 16;
constexpr std::uint32_t k_feature_off = 2;
constexpr std::uint32_t k_feature_on = 3;
constexpr std::uint32_t k_xnack_shift = 2;

// Returns the number at the start of `text`, and sets `rest` to the text after it.
std::uint32_t leading_number(std::string_view text, int base, std::string_view& rest) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (parsed.ec != std::errc()) {
    rest = {};
    return 0;
  }
  rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

std::uint32_t amd_feature(std::string_view features, std::string_view name) {
  const std::size_t at = features.find(name);
  if (at == std::string_view::npos || at + name.size() >= features.size()) {
    return 0;
  }
  const char sign = features[at + name.size()];
  return sign == '+' ? k_feature_on : (sign == '-' ? k_feature_off : 0);
}

} // namespace

TargetFacts target_facts(const Target& target) {
  TargetFacts facts;
  facts.family = target_family(target);
  const std::string_view text = target.identity.architecture;
  std::string_view rest;
  if (text.starts_with("sm_")) {
    facts.architecture = leading_number(text.substr(3), k_decimal, rest);
    facts.features = rest.size() == 1 ? static_cast<unsigned char>(rest.front()) : 0;
  } else if (text.starts_with("gfx")) {
    facts.architecture = leading_number(text.substr(3), k_hexadecimal, rest);
    facts.features = amd_feature(rest, ":sramecc") | (amd_feature(rest, ":xnack") << k_xnack_shift);
  } else {
    const std::uint32_t number = leading_number(text, k_decimal, rest);
    facts.architecture = rest.empty() ? number : 0;
  }
  return facts;
}

} // namespace clbin::format

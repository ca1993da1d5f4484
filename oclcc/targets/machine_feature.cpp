#include "targets/machine_feature.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

namespace {

constexpr std::size_t k_digest_letters = 16;
constexpr std::size_t k_max_name_letters = 24;

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

// "cpu-haswell-Intel(R) Core" is "cpu_haswell_intel_r_core".
std::string feature_word(std::string_view name) {
  std::string plain;
  for (char letter : name) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    if (is_plain(letter)) {
      plain += letter;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  plain.resize(std::min(plain.size(), k_max_name_letters));
  while (plain.ends_with('_')) {
    plain.pop_back();
  }
  return plain;
}

std::string start_of_digest(const clbin::base::Digest& digest) {
  return clbin::base::to_hex(digest).substr(0, k_digest_letters);
}

} // namespace

std::string device_feature(const clbin::format::DeviceIdentity& identity) {
  const std::string name = feature_word(identity.device_name);
  return fmt::format("{}{}_{}{}{}", k_feature_prefix, to_string(device_family(identity)), name,
                     name.empty() ? "" : "_", start_of_digest(identity_digest(identity)));
}

std::string tools_feature(std::string_view spec,
                          const std::vector<clbin::cache::Ingredient>& facts) {
  return fmt::format("{}{}_{}", k_feature_prefix, feature_word(spec.substr(0, spec.find(':'))),
                     start_of_digest(clbin::cache::recipe_key({{}, facts})));
}

} // namespace oclcc

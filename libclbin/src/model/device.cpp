#include "model/device.hpp"

#include "base/text.hpp"

namespace clbin::format {

namespace {

// The first field of each digest, so that different kinds of targets never share a digest
// (clbin(5), TARGET).
constexpr std::string_view k_identity_domain = "clbin-identity-1";
constexpr std::string_view k_offline_domain = "clbin-offline-target-1";

class TargetHasher : public RecordHasher<TargetHasher> {};

constexpr int k_decimal = 10;
constexpr int k_hexadecimal = 16;
constexpr std::uint32_t k_feature_off = 2;
constexpr std::uint32_t k_feature_on = 3;
constexpr std::uint32_t k_xnack_shift = 2;

// Returns the number at the start of `text`, and sets `rest` to the text after it.
std::uint32_t leading_number(std::string_view text, int radix, std::string_view& rest) {
  const auto number = base::take_number<std::uint32_t>(text, radix);
  rest = number ? text : std::string_view();
  return number.value_or(0);
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

base::Digest identity_digest(const DeviceIdentity& identity) {
  TargetHasher hasher;
  hasher.write(k_identity_domain);
  hasher.write(identity);
  return hasher.finish();
}

// Uses the platform instead of the vendor, because the platform's driver reads the binary. PoCL and
// rusticl also support other vendors' devices.
DeviceFamily device_family(const DeviceIdentity& identity) noexcept {
  constexpr std::array<std::pair<std::string_view, DeviceFamily>, 6> k_platforms{{
      {"NVIDIA CUDA", DeviceFamily::nvidia},
      {"AMD Accelerated Parallel Processing", DeviceFamily::amd},
      {"Portable Computing Language", DeviceFamily::pocl},
      {"rusticl", DeviceFamily::rusticl},
      {"Oclgrind", DeviceFamily::oclgrind},
      {"clvk", DeviceFamily::clvk},
  }};
  for (const auto& [name, family] : k_platforms) {
    if (identity.platform_name == name) {
      return family;
    }
  }
  // Covers "Intel(R) OpenCL", "Intel(R) OpenCL Graphics" and "Intel(R) OpenCL HD Graphics".
  return identity.platform_name.starts_with("Intel(R) OpenCL") ? DeviceFamily::intel
                                                               : DeviceFamily::unknown;
}

DeviceFamily target_family(const Target& target) noexcept {
  if (target.origin == TargetOrigin::installed_device) {
    return device_family(target.identity);
  }
  constexpr std::array<std::pair<std::string_view, DeviceFamily>, 5> k_toolchains{{
      {"nvptx", DeviceFamily::nvidia},
      {"cubin", DeviceFamily::nvidia},
      {"amdgcn", DeviceFamily::amd},
      {"intel", DeviceFamily::intel},
      {"spirv", DeviceFamily::spirv},
  }};
  const std::string_view spec = target.spec;
  for (const auto& [name, family] : k_toolchains) {
    if (spec.substr(0, spec.find(':')) == name) {
      return family;
    }
  }
  return DeviceFamily::unknown;
}

std::string_view to_string(DeviceFamily family) noexcept {
  constexpr std::array<std::string_view, 9> k_names{"unknown", "nvidia",   "amd",  "intel", "pocl",
                                                    "rusticl", "oclgrind", "clvk", "spirv"};
  const auto number = static_cast<std::size_t>(family); // a file can contain any
  return k_names[number < k_names.size() ? number : 0];
}

base::Digest target_digest(const Target& target) {
  if (target.origin == TargetOrigin::installed_device) {
    return identity_digest(target.identity);
  }
  return base::Hasher().add_field(k_offline_domain).add_field(target.spec).finish();
}

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

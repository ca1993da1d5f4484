#include "matching/vendor_rules.hpp"

#include <fmt/format.h>
#include <map>

// A word of CL_DEVICE_IL_VERSION is "<IL_Prefix>_<Major_Version>.<Minor_Version>" (OpenCL 3.0,
// table of device queries); "SPIR-V" is the only existing prefix. A consumer of SPIR-V 1.n accepts
// modules of version 1.m for m <= n, because minor versions only add features (SPIR-V
// specification, 2.3 and its changes).

namespace clbin::matching {
namespace {

using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceIdentity;

// Major and minor.
using IlVersion = std::array<std::uint16_t, 2>;

// Returns std::nullopt for another language and for a word without a valid version.
std::optional<IlVersion> parse_il_version(std::string_view word) {
  constexpr std::string_view k_prefix = "SPIR-V_";
  return word.starts_with(k_prefix) ? parse_numbers<2>(word.substr(k_prefix.size())) : std::nullopt;
}

} // namespace

Verdict judge_il(const BinaryInfo& info, const DeviceIdentity& device) {
  for (const std::string& word : device.il_versions) {
    const auto version = parse_il_version(word);
    if (version && (*version)[0] == info.arch_major && (*version)[1] >= info.arch_minor) {
      return accept(0, "the driver compiles {}, because it accepts {}", format::describe(info),
                    word);
    }
  }
  if (device.il_versions.empty()) {
    return refuse("{} is an intermediate language, and this device accepts none",
                  format::describe(info));
  }
  return refuse("this device accepts '{}', but not {}", fmt::join(device.il_versions, " "),
                format::describe(info));
}

std::vector<KeyRange> il_key_ranges(const DeviceIdentity& device) {
  std::map<std::uint16_t, std::uint16_t> newest; // from major to minor version
  for (const std::string& word : device.il_versions) {
    if (const auto version = parse_il_version(word)) {
      std::uint16_t& minor = newest[(*version)[0]];
      minor = std::max(minor, (*version)[1]);
    }
  }
  std::vector<KeyRange> ranges;
  ranges.reserve(newest.size());
  for (const auto& [major, minor] : newest) {
    ranges.push_back(architecture_range(bound(BinaryKind::spirv, major, 0),
                                        bound(BinaryKind::spirv, major, minor)));
  }
  return ranges;
}

} // namespace clbin::matching

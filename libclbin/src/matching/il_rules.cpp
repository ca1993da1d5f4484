#include "matching/vendor_rules.hpp"

#include <algorithm>
#include <charconv>
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

struct IlVersion {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

// Returns std::nullopt for another language and for a word without a valid version.
std::optional<IlVersion> parse_il_version(std::string_view word) {
  constexpr std::string_view k_prefix = "SPIR-V_";
  if (!word.starts_with(k_prefix)) {
    return std::nullopt;
  }
  word.remove_prefix(k_prefix.size());
  IlVersion version;
  const char* const end = word.data() + word.size();
  const auto major = std::from_chars(word.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') {
    return std::nullopt;
  }
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  return minor.ec == std::errc() && minor.ptr == end ? std::optional(version) : std::nullopt;
}

} // namespace

Verdict judge_il(const BinaryInfo& info, const DeviceIdentity& device) {
  for (const std::string& word : device.il_versions) {
    const auto version = parse_il_version(word);
    if (version && version->major == info.arch_major && version->minor >= info.arch_minor) {
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
      std::uint16_t& minor = newest[version->major];
      minor = std::max(minor, version->minor);
    }
  }
  std::vector<KeyRange> ranges;
  for (const auto& [major, minor] : newest) {
    ranges.push_back(architecture_range(bound(BinaryKind::spirv, major, 0),
                                        bound(BinaryKind::spirv, major, minor)));
  }
  return ranges;
}

} // namespace clbin::matching

// Does a device binary fit a device? One pure function a vendor, over what the bytes say and what
// the device says; and the match keys between which a vendor's fitting binaries lie.
#pragma once

#include "format/binary/binary_kind.hpp"
#include "format/identity/device_identity.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clbin::matching {

enum class Fit : std::uint8_t { no, yes };

// Why not: the binary or its format does not fit, or it would, but serves its own device only.
enum class Cause : std::uint8_t { none, binary, other_device };

struct Verdict {
  Fit fit = Fit::no;
  std::uint8_t preference = 0; // among binaries that fit: the higher first
  std::string reason;          // a sentence with the binary's and the device's value
  Cause cause = Cause::none;
};

[[nodiscard]] Verdict refuse(std::string reason);
[[nodiscard]] Verdict accept(std::uint8_t preference, std::string reason);

// First and last match key, both included.
struct KeyRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// For kinds ptx and cubin, on a device of family nvidia.
[[nodiscard]] Verdict judge_nvidia(const format::BinaryInfo& info,
                                   const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> nvidia_key_ranges(const format::DeviceIdentity& device);

// For kind amd_code_object, on a device of family amd.
[[nodiscard]] Verdict judge_amd(const format::BinaryInfo& info,
                                const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> amd_key_ranges(const format::DeviceIdentity& device);

// For kind intel_zebin, on a device of family intel.
[[nodiscard]] Verdict judge_intel(const format::BinaryInfo& info,
                                  const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> intel_key_ranges(const format::DeviceIdentity& device);

// For kind spirv: not a binary of any device, but what many a driver builds from.
[[nodiscard]] Verdict judge_il(const format::BinaryInfo& info,
                               const format::DeviceIdentity& device);
[[nodiscard]] std::vector<KeyRange> il_key_ranges(const format::DeviceIdentity& device);

// For a binary of any kind that was made for this very identity.
[[nodiscard]] Verdict judge_own(const format::BinaryInfo& info,
                                const format::DeviceIdentity& device);
// For a binary of any kind that was made for another target.
[[nodiscard]] Verdict judge_foreign(const format::BinaryInfo& info,
                                    const format::DeviceIdentity& device);
// Those of the device's family, none where binaries are accepted on equal identity only.
[[nodiscard]] std::vector<KeyRange> compatible_key_ranges(const format::DeviceIdentity& device);

// From the lowest key of `first` to the highest of `last`, by architecture; both of one kind.
[[nodiscard]] KeyRange architecture_range(const format::BinaryInfo& first,
                                          const format::BinaryInfo& last);

} // namespace clbin::matching

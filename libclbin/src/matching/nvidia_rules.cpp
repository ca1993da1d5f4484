#include "matching/ptx_versions.hpp"
#include "matching/vendor_rules.hpp"

#include <charconv>
#include <fmt/core.h>
#include <optional>

namespace clbin::matching {
namespace {

using format::BinaryInfo;
using format::BinaryKind;
using format::DeviceIdentity;

// A cubin needs no JIT: 0.06 ms instead of 32 ms for the second program of a process
// (doc/drivers.md, "NVIDIA").
constexpr std::uint8_t k_prefer_cubin = 2;
constexpr std::uint8_t k_prefer_ptx = 1;

struct Capability {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend auto operator<=>(const Capability&, const Capability&) = default;
};

// "sm_90"
std::optional<Capability> capability_of(const DeviceIdentity& device) {
  constexpr std::string_view prefix = "sm_";
  std::string_view text = device.architecture;
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  std::uint16_t sm = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, sm);
  if (code != std::errc{} || stop != end || sm < 10 || sm > 999) {
    return std::nullopt;
  }
  return Capability{static_cast<std::uint16_t>(sm / 10), static_cast<std::uint16_t>(sm % 10)};
}

std::string to_text(Capability capability) {
  return fmt::format("{}.{}", capability.major, capability.minor);
}

std::string sm_text(const BinaryInfo& info) {
  const std::string suffix = info.arch_suffix == '\0' ? "" : std::string(1, info.arch_suffix);
  return fmt::format("sm_{}{}{}", info.arch_major, info.arch_minor, suffix);
}

// CUDA C++ Programming Guide, "Binary Compatibility": a cubin runs on devices of its own major
// compute capability with an equal or higher minor one. "Architecture-Specific Features": with the
// suffix 'a', it runs only on its own capability.
Verdict judge_cubin(const BinaryInfo& info, Capability device) {
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse(fmt::format("cubin {} runs on compute capability {} only, this device has {}",
                              sm_text(info), to_text(built), to_text(device)));
  }
  if (built.major != device.major || built.minor > device.minor) {
    return refuse(fmt::format("cubin {} needs compute capability {} or a higher one of the same "
                              "major, this device has {}",
                              sm_text(info), to_text(built), to_text(device)));
  }
  return accept(k_prefer_cubin, fmt::format("cubin {} runs on compute capability {}", sm_text(info),
                                            to_text(device)));
}

// PTX ISA, ".target": PTX for sm_XY can be compiled for every device of that capability or above.
// With the suffix 'a' or 'f' it is accepted only for its own capability; other devices that 'f'
// permits use the fallback. ".version": at most the driver's. Otherwise the build fails with -9999
// and "Unsupported .version 9.9; current version is '9.0'" (doc/drivers.md, "NVIDIA").
Verdict judge_ptx(const BinaryInfo& info, Capability device, std::string_view driver_version) {
  if (info.ptx_flavour != format::PtxFlavour::nvcl) {
    return refuse(fmt::format("PTX for {} is of CUDA's flavour, this device needs OpenCL's "
                              "(texmode_independent): the driver would build it and the launch "
                              "would fail",
                              sm_text(info)));
  }
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse(fmt::format("PTX for {} runs on compute capability {} only, this device has {}",
                              sm_text(info), to_text(built), to_text(device)));
  }
  if (built > device) {
    return refuse(fmt::format("PTX for {} needs compute capability {}, this device has {}",
                              sm_text(info), to_text(built), to_text(device)));
  }
  const auto newest = newest_ptx(driver_version);
  if (!newest) {
    return refuse(fmt::format("PTX {}.{} needs a driver known to read it, this one is '{}'",
                              info.format_major, info.format_minor, driver_version));
  }
  if (PtxVersion{info.format_major, info.format_minor} > *newest) {
    return refuse(fmt::format(
        "PTX {}.{} is newer than {}.{}, the newest version that driver '{}' is known to read",
        info.format_major, info.format_minor, newest->major, newest->minor, driver_version));
  }
  return accept(k_prefer_ptx,
                fmt::format("PTX {}.{} for {} is compiled by the driver for compute capability {}",
                            info.format_major, info.format_minor, sm_text(info), to_text(device)));
}

BinaryInfo bound(BinaryKind kind, std::uint16_t major, std::uint16_t minor) {
  BinaryInfo info;
  info.kind = kind;
  info.arch_major = major;
  info.arch_minor = minor;
  return info;
}

} // namespace

Verdict judge_nvidia(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto capability = capability_of(device);
  if (!capability) {
    return refuse(
        fmt::format("{} requires a known compute capability, but this device reports '{}'",
                    format::describe(info), device.architecture));
  }
  return info.kind == BinaryKind::cubin ? judge_cubin(info, *capability)
                                        : judge_ptx(info, *capability, device.driver_version);
}

std::vector<KeyRange> nvidia_key_ranges(const DeviceIdentity& device) {
  const auto capability = capability_of(device);
  if (!capability) {
    return {};
  }
  const auto [major, minor] = *capability;
  return {architecture_range(bound(BinaryKind::cubin, major, 0),
                             bound(BinaryKind::cubin, major, minor)),
          architecture_range(bound(BinaryKind::ptx, 0, 0), bound(BinaryKind::ptx, major, minor))};
}

} // namespace clbin::matching

#include "matching/vendor_rules.hpp"

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
  const std::string_view text = device.architecture;
  const auto sm = text.starts_with(prefix) ? parse_numbers<1>(text.substr(prefix.size())) //
                                           : std::nullopt;
  if (!sm || (*sm)[0] < 10 || (*sm)[0] > 999) {
    return std::nullopt;
  }
  const unsigned number = (*sm)[0];
  return Capability{static_cast<std::uint16_t>(number / 10),
                    static_cast<std::uint16_t>(number % 10)};
}

std::string to_text(Capability capability) {
  return fmt::format("{}.{}", capability.major, capability.minor);
}

// CUDA C++ Programming Guide, "Binary Compatibility": a cubin runs on devices of its own major
// compute capability with an equal or higher minor one. "Architecture-Specific Features": with the
// suffix 'a', it runs only on its own capability.
Verdict judge_cubin(const BinaryInfo& info, Capability device) {
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse("cubin {} runs on compute capability {} only, this device has {}", sm_name(info),
                  to_text(built), to_text(device));
  }
  if (built.major != device.major || built.minor > device.minor) {
    return refuse("cubin {} needs compute capability {} or a higher one of the same "
                  "major, this device has {}",
                  sm_name(info), to_text(built), to_text(device));
  }
  return accept(k_prefer_cubin, "cubin {} runs on compute capability {}", sm_name(info),
                to_text(device));
}

// PTX ISA, ".target": PTX for sm_XY can be compiled for every device of that capability or above.
// With the suffix 'a' or 'f' it is accepted only for its own capability; other devices that 'f'
// permits use the fallback. ".version": at most the driver's. Otherwise the build fails with -9999
// and "Unsupported .version 9.9; current version is '9.0'" (doc/drivers.md, "NVIDIA").
Verdict judge_ptx(const BinaryInfo& info, Capability device, std::string_view driver_version) {
  if (info.ptx_flavour != format::PtxFlavour::nvcl) {
    return refuse("PTX for {} is of CUDA's flavour, this device needs OpenCL's "
                  "(texmode_independent): the driver would build it and the launch "
                  "would fail",
                  sm_name(info));
  }
  const Capability built{info.arch_major, info.arch_minor};
  if (info.arch_suffix != '\0' && built != device) {
    return refuse("PTX for {} runs on compute capability {} only, this device has {}",
                  sm_name(info), to_text(built), to_text(device));
  }
  if (built > device) {
    return refuse("PTX for {} needs compute capability {}, this device has {}", sm_name(info),
                  to_text(built), to_text(device));
  }
  const auto newest = newest_ptx(driver_version);
  if (!newest) {
    return refuse("PTX {}.{} needs a driver known to read it, this one is '{}'", info.format_major,
                  info.format_minor, driver_version);
  }
  if (PtxVersion{info.format_major, info.format_minor} > *newest) {
    return refuse(
        "PTX {}.{} is newer than {}.{}, the newest version that driver '{}' is known to read",
        info.format_major, info.format_minor, newest->major, newest->minor, driver_version);
  }
  return accept(k_prefer_ptx,
                "PTX {}.{} for {} is compiled by the driver for compute capability {}",
                info.format_major, info.format_minor, sm_name(info), to_text(device));
}

using DriverVersion = std::array<std::uint32_t, 3>;

struct Release {
  DriverVersion driver; // the oldest Linux driver of the release
  PtxVersion ptx;
};

// Driver: "CUDA Toolkit and Corresponding Driver Versions" of NVIDIA's CUDA Toolkit release notes
// (GA of each release). PTX: "Release History" of the PTX ISA manual, as in NVIDIA's cuda-python,
// cuda/bindings/utils/_ptx_utils.py. Both read in 2026. Driver 580.159 rejected versions above 9.0
// in a test (doc/drivers.md). PTX 8.6 belongs to CUDA 12.7, of which no toolkit was released. No
// table contains its first driver version; its drivers therefore count as those of 12.6.
constexpr std::array k_releases{
    Release{{610, 43, 2}, {9, 3}},  // CUDA 13.3
    Release{{595, 45, 4}, {9, 2}},  // CUDA 13.2
    Release{{590, 44, 1}, {9, 1}},  // CUDA 13.1
    Release{{580, 65, 6}, {9, 0}},  // CUDA 13.0
    Release{{575, 51, 3}, {8, 8}},  // CUDA 12.9
    Release{{570, 26, 0}, {8, 7}},  // CUDA 12.8
    Release{{555, 42, 2}, {8, 5}},  // CUDA 12.5 and 12.6
    Release{{550, 54, 14}, {8, 4}}, // CUDA 12.4
    Release{{545, 23, 6}, {8, 3}},  // CUDA 12.3
    Release{{535, 54, 3}, {8, 2}},  // CUDA 12.2
    Release{{530, 30, 2}, {8, 1}},  // CUDA 12.1
    Release{{525, 60, 13}, {8, 0}}, // CUDA 12.0
    Release{{520, 61, 5}, {7, 8}},  // CUDA 11.8
    Release{{515, 43, 4}, {7, 7}},  // CUDA 11.7
    Release{{510, 39, 1}, {7, 6}},  // CUDA 11.6
    Release{{495, 29, 5}, {7, 5}},  // CUDA 11.5
    Release{{470, 42, 1}, {7, 4}},  // CUDA 11.4
    Release{{465, 19, 1}, {7, 3}},  // CUDA 11.3
    Release{{460, 27, 3}, {7, 2}},  // CUDA 11.2
    Release{{455, 23, 0}, {7, 1}},  // CUDA 11.1
    Release{{450, 51, 5}, {7, 0}},  // CUDA 11.0
    Release{{440, 33, 0}, {6, 5}},  // CUDA 10.2
    Release{{418, 39, 0}, {6, 4}},  // CUDA 10.1
    Release{{410, 48, 0}, {6, 3}},  // CUDA 10.0
    Release{{396, 26, 0}, {6, 2}},  // CUDA 9.2
    Release{{387, 26, 0}, {6, 1}},  // CUDA 9.1
    Release{{384, 81, 0}, {6, 0}},  // CUDA 9.0
    Release{{367, 48, 0}, {5, 0}},  // CUDA 8.0
    Release{{352, 31, 0}, {4, 3}},  // CUDA 7.5
    Release{{346, 46, 0}, {4, 2}},  // CUDA 7.0
};

} // namespace

Verdict judge_nvidia(const BinaryInfo& info, const DeviceIdentity& device) {
  const auto capability = capability_of(device);
  if (!capability) {
    return refuse("{} requires a known compute capability, but this device reports '{}'",
                  format::describe(info), device.architecture);
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

std::optional<PtxVersion> newest_ptx(std::string_view driver_version) {
  DriverVersion version{}; // the text after its numbers is ignored
  if (take_numbers(driver_version, version) == 0) {
    return std::nullopt;
  }
  for (const Release& release : k_releases) {
    if (version >= release.driver) {
      return release.ptx;
    }
  }
  return std::nullopt;
}

} // namespace clbin::matching

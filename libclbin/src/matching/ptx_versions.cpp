#include "matching/ptx_versions.hpp"

#include <array>
#include <charconv>

namespace clbin::matching {
namespace {

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

// Parses up to three numbers separated by dots; ignores the text after them.
std::optional<DriverVersion> parse_driver_version(std::string_view text) {
  DriverVersion version{};
  for (std::size_t index = 0; index < version.size(); ++index) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, version[index]);
    if (code != std::errc{}) {
      return index == 0 ? std::nullopt : std::optional(version);
    }
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (!text.starts_with('.')) {
      break;
    }
    text.remove_prefix(1);
  }
  return version;
}

} // namespace

std::optional<PtxVersion> newest_ptx(std::string_view driver_version) {
  const auto version = parse_driver_version(driver_version);
  if (!version) {
    return std::nullopt;
  }
  for (const Release& release : k_releases) {
    if (*version >= release.driver) {
      return release.ptx;
    }
  }
  return std::nullopt;
}

} // namespace clbin::matching

// PTX versions that NVIDIA's drivers accept. OpenCL cannot query them; the driver's version implies
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace clbin::matching {

struct PtxVersion {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

// Returns the newest PTX version that a driver of this version ("580.159.03") is known to accept.
// For a driver newer than the table, this is the newest version of the table. Returns std::nullopt
// for a driver older than the table and for a text that is not a version.
[[nodiscard]] std::optional<PtxVersion> newest_ptx(std::string_view driver_version);

} // namespace clbin::matching

// Which PTX does an NVIDIA driver read? OpenCL does not tell; the driver's version does.
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

// The newest PTX version known to be read by a driver of version "580.159.03": of a driver newer
// than the table, the newest one in it. Nothing for a driver older than the table, or no version.
[[nodiscard]] std::optional<PtxVersion> newest_ptx(std::string_view driver_version);

} // namespace clbin::matching

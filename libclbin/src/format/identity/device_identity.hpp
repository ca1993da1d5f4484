// What a device says of itself, and what an entry was made for.
#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clbin::format {

// Every field as the driver gives it, UTF-8 not assumed, without the closing NUL. Fields that a
// device does not have are empty or 0.
struct DeviceIdentity {
  std::string platform_name;    // CL_PLATFORM_NAME
  std::string platform_version; // CL_PLATFORM_VERSION: only here does PoCL tell its LLVM
  std::string vendor;           // CL_DEVICE_VENDOR
  std::string device_name;      // CL_DEVICE_NAME
  std::uint32_t vendor_id = 0;  // CL_DEVICE_VENDOR_ID
  std::string driver_version;   // CL_DRIVER_VERSION
  std::string device_version;   // CL_DEVICE_VERSION
  std::vector<std::string>
      opencl_c_versions;                // "OpenCL C 1.2 …" or "OpenCL C:3.0.0", driver's order
  std::vector<std::string> il_versions; // words of CL_DEVICE_IL_VERSION, driver's order
  std::uint32_t address_bits = 0;       // CL_DEVICE_ADDRESS_BITS
  std::string architecture;             // "sm_90", "gfx90a:sramecc+:xnack-", a CPU's name, or empty

  friend bool operator==(const DeviceIdentity&, const DeviceIdentity&) = default;
};

// A digest over every field, each with its length first. Equal identities, and only they, have
// equal digests.
[[nodiscard]] base::Digest identity_digest(const DeviceIdentity& identity);

// The family decides which rules of matching/ apply. Numbers are in the file (TARGET.family).
enum class DeviceFamily : std::uint16_t {
  unknown = 0,
  nvidia = 1,
  amd = 2,
  intel = 3,
  pocl = 4,
  rusticl = 5,
  oclgrind = 6,
  clvk = 7,
  spirv = 8, // offline targets that name no device, such as "spirv:1.2"
};
[[nodiscard]] DeviceFamily device_family(const DeviceIdentity& identity) noexcept;
// "nvidia"; "unknown" for a number that is none of the above.
[[nodiscard]] std::string_view to_string(DeviceFamily family) noexcept;

enum class TargetOrigin : std::uint8_t { installed_device = 0, offline = 1 };

// What an entry was made for: an installed device's identity, or an offline target.
struct Target {
  TargetOrigin origin = TargetOrigin::installed_device;
  DeviceIdentity identity; // offline: only what the target fixes (architecture, address bits)
  std::string spec;        // offline: "nvptx:sm_70"; empty for an installed device

  friend bool operator==(const Target&, const Target&) = default;
};
// identity_digest for an installed device; for an offline target a digest over origin and spec.
[[nodiscard]] base::Digest target_digest(const Target& target);
// device_family of an installed device; of an offline target, by the word before the colon of its
// spec ("cubin:sm_90" is nvidia).
[[nodiscard]] DeviceFamily target_family(const Target& target) noexcept;

} // namespace clbin::format

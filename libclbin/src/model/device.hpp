// Devices, and the targets of entries.
#pragma once

#include "model/record.hpp"

namespace clbin::format {

// Fields contain the values that the driver returns, without the terminating null character. They
// are not necessarily UTF-8. Fields that a device does not have are empty or 0.
struct DeviceIdentity {
  std::string platform_name;    // CL_PLATFORM_NAME
  std::string platform_version; // CL_PLATFORM_VERSION; only here, PoCL reports its LLVM
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
CLBIN_VISIT(DeviceIdentity, platform_name, platform_version, vendor, device_name, vendor_id,
            driver_version, device_version, opencl_c_versions, il_versions, address_bits,
            architecture);

// One installed device, with its numbers.
struct DeviceDescription {
  std::uint32_t platform = 0; // index in the ICD loader's order
  std::uint32_t device = 0;   // index in its platform
  std::uint64_t type = 0;     // CL_DEVICE_TYPE
  bool compiler_available = true;
  std::string driver_library; // path of the platform's library; empty if unknown
  // With the features of OpenCL C; empty if unknown.
  std::vector<std::string> extensions;
  DeviceIdentity identity;
  // The table of device properties in the order of output, ("global memory", "16 GiB"); only on
  // request.
  std::vector<std::pair<std::string, std::string>> properties;
};
CLBIN_VISIT(DeviceDescription, platform, device, type, compiler_available, driver_library,
            extensions, identity, properties);

// Returns a digest of all fields, each preceded by its length. Two identities have equal digests if
// and only if they are equal.
[[nodiscard]] base::Digest identity_digest(const DeviceIdentity& identity);

// The family decides which rules of matching/ apply. The file contains these numbers
// (TARGET.family).
enum class DeviceFamily : std::uint16_t {
  unknown = 0,
  nvidia = 1,
  amd = 2,
  intel = 3,
  pocl = 4,
  rusticl = 5,
  oclgrind = 6,
  clvk = 7,
  spirv = 8, // offline targets without a specific device, such as "spirv:1.2"
};
[[nodiscard]] DeviceFamily device_family(const DeviceIdentity& identity) noexcept;
// Returns a name such as "nvidia"; "unknown" for any other number.
[[nodiscard]] std::string_view to_string(DeviceFamily family) noexcept;

// The file contains these numbers (TARGET.flags).
enum class TargetOrigin : std::uint16_t { installed_device = 0, offline = 1 };
constexpr std::array<std::string_view, 2> names_of(TargetOrigin /*unused*/) {
  return {"installed", "offline"};
}

// The target of an entry: an installed device's identity, or an offline target.
struct Target {
  TargetOrigin origin = TargetOrigin::installed_device;
  DeviceIdentity identity; // offline: only what the target fixes (architecture, address bits)
  std::string spec;        // offline: "nvptx:sm_70"; empty for an installed device

  friend bool operator==(const Target&, const Target&) = default;
};
CLBIN_VISIT(Target, origin, identity, spec);
// Returns identity_digest for an installed device, and a digest of origin and spec for an offline
// target.
[[nodiscard]] base::Digest target_digest(const Target& target);
// Returns device_family for an installed device. For an offline target, the word before the colon
// of its spec determines the family ("cubin:sm_90" is nvidia).
[[nodiscard]] DeviceFamily target_family(const Target& target) noexcept;

// Numbers of TARGET that are parsed from the texts of a target.
struct TargetFacts {
  DeviceFamily family = DeviceFamily::unknown;
  std::uint32_t architecture = 0;
  std::uint32_t features = 0;
};

// Returns TARGET.family, architecture and features as specified in clbin(5). Fields that cannot be
// parsed are 0.
[[nodiscard]] TargetFacts target_facts(const Target& target);

} // namespace clbin::format

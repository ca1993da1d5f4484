#include "model/device.hpp"

#include "model/record_hasher.hpp"

#include <array>
#include <utility>

namespace clbin::format {

namespace {

// The first field of each digest, so that different kinds of targets never share a digest
// (clbin(5), TARGET).
constexpr std::string_view k_identity_domain = "clbin-identity-1";
constexpr std::string_view k_offline_domain = "clbin-offline-target-1";

class TargetHasher : public RecordHasher<TargetHasher> {};

} // namespace

base::Digest identity_digest(const DeviceIdentity& identity) {
  TargetHasher hasher;
  hasher.write(k_identity_domain);
  hasher.write(identity);
  return hasher.finish();
}

// Uses the platform instead of the vendor, because the platform's driver reads the binary. PoCL and
// rusticl also support other vendors' devices.
DeviceFamily device_family(const DeviceIdentity& identity) noexcept {
  constexpr std::array<std::pair<std::string_view, DeviceFamily>, 6> k_platforms{{
      {"NVIDIA CUDA", DeviceFamily::nvidia},
      {"AMD Accelerated Parallel Processing", DeviceFamily::amd},
      {"Portable Computing Language", DeviceFamily::pocl},
      {"rusticl", DeviceFamily::rusticl},
      {"Oclgrind", DeviceFamily::oclgrind},
      {"clvk", DeviceFamily::clvk},
  }};
  for (const auto& [name, family] : k_platforms) {
    if (identity.platform_name == name) {
      return family;
    }
  }
  // Covers "Intel(R) OpenCL", "Intel(R) OpenCL Graphics" and "Intel(R) OpenCL HD Graphics".
  return identity.platform_name.starts_with("Intel(R) OpenCL") ? DeviceFamily::intel
                                                               : DeviceFamily::unknown;
}

DeviceFamily target_family(const Target& target) noexcept {
  if (target.origin == TargetOrigin::installed_device) {
    return device_family(target.identity);
  }
  constexpr std::array<std::pair<std::string_view, DeviceFamily>, 5> k_toolchains{{
      {"nvptx", DeviceFamily::nvidia},
      {"cubin", DeviceFamily::nvidia},
      {"amdgcn", DeviceFamily::amd},
      {"intel", DeviceFamily::intel},
      {"spirv", DeviceFamily::spirv},
  }};
  const std::string_view spec = target.spec;
  for (const auto& [name, family] : k_toolchains) {
    if (spec.substr(0, spec.find(':')) == name) {
      return family;
    }
  }
  return DeviceFamily::unknown;
}

std::string_view to_string(DeviceFamily family) noexcept {
  switch (family) {
  case DeviceFamily::unknown:
    return "unknown";
  case DeviceFamily::nvidia:
    return "nvidia";
  case DeviceFamily::amd:
    return "amd";
  case DeviceFamily::intel:
    return "intel";
  case DeviceFamily::pocl:
    return "pocl";
  case DeviceFamily::rusticl:
    return "rusticl";
  case DeviceFamily::oclgrind:
    return "oclgrind";
  case DeviceFamily::clvk:
    return "clvk";
  case DeviceFamily::spirv:
    return "spirv";
  }
  return "unknown"; // an unknown number from a file
}

base::Digest target_digest(const Target& target) {
  if (target.origin == TargetOrigin::installed_device) {
    return identity_digest(target.identity);
  }
  base::Hasher hasher;
  hasher.add_field(k_offline_domain);
  hasher.add_field(target.spec);
  return hasher.finish();
}

} // namespace clbin::format

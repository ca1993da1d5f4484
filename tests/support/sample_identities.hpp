// Devices that no test machine needs to have.
#pragma once

#include "model/device.hpp"

#include <string>

namespace clbin::test {

[[nodiscard]] inline format::DeviceIdentity nvidia_identity(const std::string& architecture) {
  format::DeviceIdentity identity;
  identity.platform_name = "NVIDIA CUDA";
  identity.platform_version = "OpenCL 3.0 CUDA 13.0.97";
  identity.vendor = "NVIDIA Corporation";
  identity.device_name = "NVIDIA of " + architecture;
  identity.vendor_id = 0x10de;
  identity.driver_version = "580.159.03";
  identity.device_version = "OpenCL 3.0 CUDA";
  identity.opencl_c_versions = {"OpenCL C 1.2 "};
  identity.address_bits = 64;
  identity.architecture = architecture;
  return identity;
}

[[nodiscard]] inline format::DeviceIdentity unknown_identity(const std::string& name) {
  format::DeviceIdentity identity;
  identity.platform_name = "Platform of " + name;
  identity.platform_version = "OpenCL 1.2";
  identity.vendor = "Nobody";
  identity.device_name = name;
  identity.vendor_id = 0x77;
  identity.driver_version = "1.0";
  identity.device_version = "OpenCL 1.2";
  identity.opencl_c_versions = {"OpenCL C 1.2"};
  identity.address_bits = 64;
  return identity;
}

// Drivers of phones and boards, with the texts that their users quote (matching/vendor_rules.cpp).
[[nodiscard]] inline format::DeviceIdentity adreno_identity() {
  format::DeviceIdentity identity = unknown_identity("QUALCOMM Adreno(TM) 750");
  identity.platform_name = "QUALCOMM Snapdragon(TM)";
  identity.driver_version = "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.45.02.06";
  identity.device_version = "OpenCL 3.0 Adreno(TM) 750";
  return identity;
}

[[nodiscard]] inline format::DeviceIdentity mali_identity() {
  format::DeviceIdentity identity = unknown_identity("Mali-G610 MC6 r0p0");
  identity.platform_name = "ARM Platform";
  identity.driver_version = "3.0";
  identity.device_version = "OpenCL 3.0 v1.r32p1-01eac0.54329dee8f160f288c574caaf67bbe3f";
  return identity;
}

} // namespace clbin::test

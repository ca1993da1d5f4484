// The GPUs of phones and boards, whose drivers have no family of their own.
#pragma once

#include "model/device.hpp"

namespace clbin::format {

enum class PhoneGpu : std::uint8_t { none, adreno, mali };

// Of a name such as "Adreno(TM) 740", "QUALCOMM Adreno(TM)" or "Mali-G610 MC6 r0p0".
[[nodiscard]] inline PhoneGpu phone_gpu(std::string_view name) noexcept {
  if (name.find("Adreno") != std::string_view::npos) {
    return PhoneGpu::adreno;
  }
  return name.starts_with("Mali") || name.starts_with("Immortalis") ? PhoneGpu::mali
                                                                    : PhoneGpu::none;
}

// Of a device on a platform of its vendor. Older drivers of Adreno name the model in
// CL_DEVICE_VERSION alone. Mali's driver compiles a kernel when it is created, not when its program
// is built: a build of any binary succeeds (viennacl/viennacl-dev, pull request 225).
[[nodiscard]] inline PhoneGpu phone_gpu(const DeviceIdentity& identity) noexcept {
  if (device_family(identity) != DeviceFamily::unknown) {
    return PhoneGpu::none;
  }
  const PhoneGpu by_name = phone_gpu(identity.device_name);
  const bool has_model = phone_gpu(identity.device_version) == PhoneGpu::adreno;
  return by_name == PhoneGpu::none && has_model ? PhoneGpu::adreno : by_name;
}

// Returns "64-bit host", for a process with pointers of `bits`. These drivers reject a binary that
// a process with others made (PaddlePaddle/Paddle-Lite, pull request 5804).
[[nodiscard]] inline std::string host_text(unsigned bits = 8 * sizeof(void*)) {
  return std::to_string(bits) + "-bit host";
}

} // namespace clbin::format

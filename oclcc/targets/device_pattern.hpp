// --device PATTERN: which of the installed devices are meant.
#pragma once

#include "base/result.hpp"
#include "worker/worker_protocol.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// "cpu", "gpu", "accelerator", "custom" or "other".
[[nodiscard]] std::string_view device_type_name(std::uint64_t type) noexcept;

// A pattern is "all", a type ("gpu", "cpu", "accelerator"), "PLATFORM:DEVICE" or "PLATFORM" by the
// numbers of --list-devices, or a part of the platform's or the device's name in any case.
[[nodiscard]] bool matches_pattern(const worker::DeviceDescription& device,
                                   std::string_view pattern);

// A pattern that is a device's whole name means that device alone. Those that match one of
// `patterns` (all, where there is none), in the order of `devices`. no_device when a pattern
// matches nothing, with those there are.
[[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
select_devices(const std::vector<worker::DeviceDescription>& devices,
               const std::vector<std::string>& patterns);

} // namespace oclcc

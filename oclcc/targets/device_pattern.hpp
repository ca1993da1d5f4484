// Matches the patterns of --device against installed devices.
#pragma once

#include "base/result.hpp"
#include "worker/worker_protocol.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Returns "cpu", "gpu", "accelerator", "custom" or "other".
[[nodiscard]] std::string_view device_type_name(std::uint64_t type) noexcept;

// Whether `device` matches. A pattern is "all", a type ("gpu", "cpu", "accelerator"),
// "PLATFORM:DEVICE" or "PLATFORM" by the numbers of --list-devices, the feature of a device that
// --identity prints, or a part of a platform or device name in any case.
[[nodiscard]] bool matches_pattern(const worker::DeviceDescription& device,
                                   std::string_view pattern);

// Returns the devices that match one of `patterns` (all if there are none), in the order of
// `devices`. If a pattern is the whole name of a device, only that device matches. no_device, with
// the available devices, if a pattern matches nothing.
[[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
select_devices(const std::vector<worker::DeviceDescription>& devices,
               const std::vector<std::string>& patterns);

} // namespace oclcc

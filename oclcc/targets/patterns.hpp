// Matches the patterns of --device against installed devices, and those of --keep-target and
// --drop-target against entries.
#pragma once

#include "base/result.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "worker/installed_devices.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Returns "PLATFORM:DEVICE", by the numbers of --list-devices.
[[nodiscard]] std::string device_number(const worker::DeviceDescription& device);
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

// Gives `settings` their home, lists the installed devices, warns of drivers that cannot, and
// leaves only the devices that match. Errors as for worker::with_home, find_installed_devices and
// select_devices.
[[nodiscard]] clbin::base::Result<worker::InstalledDevices>
find_selected_devices(worker::WorkerSettings& settings, const std::vector<std::string>& patterns,
                      Reporter& reporter);

// Whether `target` matches, in any case. A pattern is the spec of an offline target, one side of
// its colon ("sm_70"), or a part of a device or platform name. A pattern with '*', '?' or '[…]'
// must match the whole of one of these (fnmatch(3)).
[[nodiscard]] bool matches_target(const clbin::format::TargetView& target,
                                  const std::string& pattern);

// The patterns of --keep-target and --drop-target.
struct TargetChoice {
  std::vector<std::string> keep; // empty for all
  std::vector<std::string> drop;
};
[[nodiscard]] bool is_chosen(const clbin::format::TargetView& target, const TargetChoice& choice);

// Whether --program, --variant or --kernel selects `name`: it is among `wanted`, or these are
// empty.
[[nodiscard]] inline bool is_wanted(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

// Returns the patterns of `choice` that match no entry of `bundle`, or any reader error.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
idle_patterns(const clbin::format::BundleReader& bundle, const TargetChoice& choice);

// Returns "'nvptx:sm_70'", or device and platform, for messages.
[[nodiscard]] std::string target_name(const clbin::format::TargetView& target);
// Returns the names of all targets, sorted, without duplicates: "'cpu-a' (PoCL), 'nvptx:sm_50'".
// Returns any reader error.
[[nodiscard]] clbin::base::Result<std::string>
list_targets(const clbin::format::BundleReader& bundle);

} // namespace oclcc

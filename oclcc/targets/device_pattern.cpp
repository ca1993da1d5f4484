#include "targets/device_pattern.hpp"

#include "targets/machine_feature.hpp"

#include <CL/cl.h>
#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using worker::DeviceDescription;

namespace {

char to_lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// Returns std::nullopt unless the pattern is a number or a pair of numbers.
std::optional<bool> matches_numbers(const DeviceDescription& device, std::string_view pattern) {
  const std::size_t colon = pattern.find(':');
  const auto platform = parse_number(pattern.substr(0, colon));
  if (!platform) {
    return std::nullopt;
  }
  if (colon == std::string_view::npos) {
    return device.platform == *platform;
  }
  const auto number = parse_number(pattern.substr(colon + 1));
  if (!number) {
    return std::nullopt;
  }
  return device.platform == *platform && device.device == *number;
}

std::string list_of(const std::vector<DeviceDescription>& devices) {
  std::string list;
  for (const DeviceDescription& device : devices) {
    list += fmt::format("{}{}:{} '{}' ({})", list.empty() ? "" : ", ", device.platform,
                        device.device, device.identity.device_name, device.identity.platform_name);
  }
  return list;
}

} // namespace

std::string_view device_type_name(std::uint64_t type) noexcept {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return "gpu";
  }
  if ((type & CL_DEVICE_TYPE_CPU) != 0) {
    return "cpu";
  }
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) {
    return "accelerator";
  }
  return (type & CL_DEVICE_TYPE_CUSTOM) != 0 ? "custom" : "other";
}

bool matches_pattern(const DeviceDescription& device, std::string_view pattern) {
  const std::string wanted = lower_case(pattern);
  if (wanted == "all") {
    return true;
  }
  // Tests bits, as clGetDeviceIDs does: a device of several types matches each (Oclgrind's has
  // all).
  if (wanted == "gpu") {
    return (device.type & CL_DEVICE_TYPE_GPU) != 0;
  }
  if (wanted == "cpu") {
    return (device.type & CL_DEVICE_TYPE_CPU) != 0;
  }
  if (wanted == "accelerator") {
    return (device.type & CL_DEVICE_TYPE_ACCELERATOR) != 0;
  }
  if (wanted.starts_with(k_feature_prefix)) {
    return wanted == device_feature(device.identity);
  }
  if (const auto by_number = matches_numbers(device, wanted)) {
    return *by_number;
  }
  return !wanted.empty() &&
         (lower_case(device.identity.device_name).find(wanted) != std::string::npos ||
          lower_case(device.identity.platform_name).find(wanted) != std::string::npos);
}

namespace {

// A whole name matches that device only, not devices whose names contain it.
bool is_whole_name(const DeviceDescription& device, std::string_view pattern) {
  return lower_case(device.identity.device_name) == lower_case(pattern);
}

std::vector<bool> matches_of(const std::vector<DeviceDescription>& devices,
                             std::string_view pattern) {
  const bool whole =
      std::any_of(devices.begin(), devices.end(),
                  [&](const DeviceDescription& device) { return is_whole_name(device, pattern); });
  std::vector<bool> matches;
  matches.reserve(devices.size());
  for (const DeviceDescription& device : devices) {
    matches.push_back(whole ? is_whole_name(device, pattern) : matches_pattern(device, pattern));
  }
  return matches;
}

} // namespace

Result<std::vector<DeviceDescription>> select_devices(const std::vector<DeviceDescription>& devices,
                                                      const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return devices;
  }
  std::vector<bool> is_selected(devices.size(), false);
  for (const std::string& pattern : patterns) {
    const std::vector<bool> matches = matches_of(devices, pattern);
    if (std::find(matches.begin(), matches.end(), true) == matches.end()) {
      return fail(ErrorCode::no_device, "no device matches '{}'; there are {}", pattern,
                  list_of(devices));
    }
    std::transform(is_selected.begin(), is_selected.end(), matches.begin(), is_selected.begin(),
                   std::logical_or<>());
  }
  std::vector<DeviceDescription> selected;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_selected[i]) {
      selected.push_back(devices[i]);
    }
  }
  return selected;
}

} // namespace oclcc

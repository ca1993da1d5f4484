#include "targets/patterns.hpp"

#include "targets/machine_description.hpp"

#include <CL/cl.h>
#include <algorithm>
#include <charconv>
#include <fnmatch.h>
#include <functional>
#include <optional>
#include <set>

namespace oclcc {

namespace format = clbin::format;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using format::TargetView;
using worker::DeviceDescription;

namespace {

char lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char letter : text) {
    lower += lower_case(letter);
  }
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

constexpr std::size_t k_max_listed_targets = 64;

bool same_letter(char a, char b) {
  return lower_case(a) == lower_case(b);
}

bool holds(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

bool equals(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter);
}

bool matches_wildcards(const std::string& text, const std::string& pattern) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

bool matches_spec(const std::string& spec, const std::string& pattern) {
  const bool wild = pattern.find_first_of("*?[") != std::string::npos;
  const auto matches = wild ? matches_wildcards : equals;
  const std::size_t colon = spec.find(':');
  return matches(spec, pattern) ||
         (colon != std::string::npos &&
          (matches(spec.substr(0, colon), pattern) || matches(spec.substr(colon + 1), pattern)));
}

bool matches_name(const std::string& name, const std::string& pattern) {
  const bool wild = pattern.find_first_of("*?[") != std::string::npos;
  return wild ? matches_wildcards(name, pattern) : holds(name, pattern);
}

// A target name in a bundle may have up to 1 MiB, and any number of targets may have it.
std::string start_of(const std::string& name) {
  constexpr std::size_t k_max_name_bytes = 256; // longer than any device name
  return name.size() <= k_max_name_bytes ? name : name.substr(0, k_max_name_bytes) + "...";
}

bool matches_any(const TargetView& target, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_target(target, pattern); });
}

Result<std::vector<TargetView>> targets_of(const format::BundleReader& bundle) {
  std::vector<TargetView> targets;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    CLBIN_TRY_ASSIGN(format::EntryView entry, bundle.entry(i));
    targets.push_back(std::move(entry.target));
  }
  return targets;
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

bool matches_target(const TargetView& target, const std::string& pattern) {
  return target.origin == format::TargetOrigin::offline
             ? matches_spec(start_of(target.spec), pattern)
             : matches_name(start_of(target.device_name), pattern) ||
                   matches_name(start_of(target.platform_name), pattern);
}

bool is_chosen(const TargetView& target, const TargetChoice& choice) {
  return (choice.keep.empty() || matches_any(target, choice.keep)) &&
         !matches_any(target, choice.drop);
}

Result<std::vector<std::string>> idle_patterns(const format::BundleReader& bundle,
                                               const TargetChoice& choice) {
  CLBIN_TRY_ASSIGN(const std::vector<TargetView> targets, targets_of(bundle));
  std::vector<std::string> idle;
  for (const auto* const patterns : {&choice.keep, &choice.drop}) {
    std::copy_if(patterns->begin(), patterns->end(), std::back_inserter(idle),
                 [&](const std::string& pattern) {
                   return std::none_of(
                       targets.begin(), targets.end(),
                       [&](const TargetView& target) { return matches_target(target, pattern); });
                 });
  }
  return idle;
}

std::string target_name(const TargetView& target) {
  return target.origin == format::TargetOrigin::offline
             ? fmt::format("'{}'", start_of(target.spec))
             : fmt::format("'{}' ({})", start_of(target.device_name),
                           start_of(target.platform_name));
}

Result<std::string> list_targets(const format::BundleReader& bundle) {
  CLBIN_TRY_ASSIGN(const std::vector<TargetView> targets, targets_of(bundle));
  std::set<std::string> names;
  for (const TargetView& target : targets) {
    names.insert(target_name(target));
  }
  std::string list;
  std::size_t listed = 0;
  for (const std::string& name : names) {
    if (listed == k_max_listed_targets) {
      return list + fmt::format(" and {} more", names.size() - listed);
    }
    list += fmt::format("{}{}", listed == 0 ? "" : ", ", name);
    ++listed;
  }
  return list.empty() ? "none" : list;
}

} // namespace oclcc

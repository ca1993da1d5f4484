#include "targets/patterns.hpp"

#include "targets/machine_description.hpp"
#include "terminal/reporter.hpp"

#include <CL/cl.h>
#include <charconv>
#include <fnmatch.h>
#include <set>

namespace oclcc {

using format::TargetView;
using worker::DeviceDescription;

namespace {

struct DeviceType {
  std::string_view name;
  std::uint64_t bit;
};
constexpr DeviceType k_device_types[] = {{"gpu", CL_DEVICE_TYPE_GPU},
                                         {"cpu", CL_DEVICE_TYPE_CPU},
                                         {"accelerator", CL_DEVICE_TYPE_ACCELERATOR},
                                         {"custom", CL_DEVICE_TYPE_CUSTOM}};

char lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) { return lower_case(letter); });
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
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_target(target, pattern); });
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
  const auto* const found = std::ranges::find_if(
      k_device_types, [&](const DeviceType& candidate) { return (type & candidate.bit) != 0; });
  return found == std::end(k_device_types) ? "other" : found->name;
}

bool matches_pattern(const DeviceDescription& device, std::string_view pattern) {
  const std::string wanted = lower_case(pattern);
  if (wanted == "all") {
    return true;
  }
  // Tests bits, as clGetDeviceIDs does: a device of several types matches each (Oclgrind's has
  // all).
  for (const auto& [name, type] : k_device_types) {
    if (wanted == name && type != CL_DEVICE_TYPE_CUSTOM) {
      return (device.type & type) != 0;
    }
  }
  if (wanted.starts_with(k_feature_prefix)) {
    return wanted == device_feature(device.identity);
  }
  if (const auto by_number = matches_numbers(device, wanted)) {
    return *by_number;
  }
  return !wanted.empty() && (holds(device.identity.device_name, wanted) ||
                             holds(device.identity.platform_name, wanted));
}

Result<std::vector<DeviceDescription>> select_devices(const std::vector<DeviceDescription>& devices,
                                                      const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return devices;
  }
  std::vector<bool> is_selected(devices.size(), false);
  for (const std::string& pattern : patterns) {
    // A whole name matches that device only, not devices whose names contain it.
    const auto has_name = [&](const DeviceDescription& device) {
      return equals(device.identity.device_name, pattern);
    };
    const bool is_name = std::ranges::any_of(devices, has_name);
    bool is_found = false;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (is_name ? has_name(devices[i]) : matches_pattern(devices[i], pattern)) {
        is_selected[i] = true;
        is_found = true;
      }
    }
    if (!is_found) {
      return fail(ErrorCode::no_device, "no device matches '{}'; there are {}", pattern,
                  list_of(devices));
    }
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
    std::ranges::copy_if(*patterns, std::back_inserter(idle), [&](const std::string& pattern) {
      return std::ranges::none_of(
          targets, [&](const TargetView& target) { return matches_target(target, pattern); });
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

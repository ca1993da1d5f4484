#include "targets/patterns.hpp"

#include "base/text.hpp"
#include "targets/machine_description.hpp"

#include <CL/cl.h>
#include <cctype>
#include <fmt/format.h>

namespace oclcc {

using format::TargetView;
using worker::DeviceDescription;

namespace {

constexpr std::pair<std::string_view, std::uint64_t> k_device_types[] = {
    {"gpu", CL_DEVICE_TYPE_GPU},
    {"cpu", CL_DEVICE_TYPE_CPU},
    {"accelerator", CL_DEVICE_TYPE_ACCELERATOR},
    {"custom", CL_DEVICE_TYPE_CUSTOM}};

char lower_case(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Returns std::nullopt unless the pattern is a number or a pair of numbers.
std::optional<bool> matches_numbers(const DeviceDescription& device, std::string_view pattern) {
  const std::size_t colon = pattern.find(':');
  const bool is_pair = colon != std::string_view::npos;
  const auto platform = base::parse_number<std::uint32_t>(pattern.substr(0, colon));
  const auto number =
      is_pair ? base::parse_number<std::uint32_t>(pattern.substr(colon + 1)) : device.device;
  if (!platform || !number) {
    return std::nullopt;
  }
  return device.platform == *platform && device.device == *number;
}

constexpr std::size_t k_max_listed_targets = 64;

bool same_letter(char a, char b) {
  return lower_case(a) == lower_case(b);
}

bool has_part(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

bool equals(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter);
}

// Removes a letter of a class, which a backslash may precede. std::nullopt at the end.
std::optional<char> take_letter(std::string_view& rest) {
  const std::size_t place = rest.starts_with('\\') ? 1 : 0;
  if (rest.size() <= place) {
    return std::nullopt;
  }
  const char letter = lower_case(rest[place]);
  rest.remove_prefix(place + 1);
  return letter;
}

// Whether the class "[a-z_]" or "[!a-z]" at the start of `pattern` contains the letter, which is
// lower case; std::nullopt if the class has no end. Removes the class.
std::optional<bool> take_class(std::string_view& pattern, char letter) {
  std::string_view rest = pattern.substr(1);
  const bool is_negated = rest.starts_with('!') || rest.starts_with('^');
  rest.remove_prefix(is_negated ? 1 : 0);
  bool is_inside = false;
  for (bool is_first = true; is_first || !rest.starts_with(']'); is_first = false) {
    const std::optional<char> low = take_letter(rest);
    const bool is_range = rest.size() > 1 && rest[0] == '-' && rest[1] != ']';
    rest.remove_prefix(is_range ? 1 : 0);
    const std::optional<char> high = is_range ? take_letter(rest) : low;
    if (!low || !high) {
      return std::nullopt;
    }
    is_inside = is_inside || (*low <= letter && letter <= *high);
  }
  pattern = rest.substr(1);
  return is_inside != is_negated;
}

// Whether the start of `pattern` matches the letter, which is lower case. Removes that start.
bool takes(std::string_view& pattern, char letter) {
  if (pattern.starts_with('[')) {
    if (const auto is_inside = take_class(pattern, letter)) {
      return *is_inside;
    }
  }
  const bool is_escaped = pattern.starts_with('\\');
  if (is_escaped && pattern.size() == 1) {
    return false;
  }
  const char wanted = pattern[is_escaped ? 1 : 0];
  const bool is_any = wanted == '?' && !is_escaped;
  pattern.remove_prefix(is_escaped ? 2 : 1);
  return is_any || lower_case(wanted) == letter;
}

// As fnmatch(3) with FNM_CASEFOLD in the C locale, which not every system has.
bool matches_wildcards(std::string_view text, std::string_view pattern) {
  std::string_view after_star; // of the pattern, and the text that it is to match next
  std::string_view retried;
  bool has_star = false;
  while (!text.empty() || !pattern.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      after_star = pattern;
      retried = text;
      has_star = true;
      continue;
    }
    if (!text.empty() && !pattern.empty() && takes(pattern, lower_case(text.front()))) {
      text.remove_prefix(1);
      continue;
    }
    if (!has_star || retried.empty()) {
      return false;
    }
    retried.remove_prefix(1);
    text = retried;
    pattern = after_star;
  }
  return true;
}

// By `fits`, unless the pattern has wildcards.
bool matches(const std::string& text, const std::string& pattern, const auto& fits) {
  return pattern.find_first_of("*?[") == std::string::npos ? fits(text, pattern)
                                                           : matches_wildcards(text, pattern);
}

bool matches_spec(const std::string& spec, const std::string& pattern) {
  const std::size_t colon = spec.find(':');
  return matches(spec, pattern, equals) ||
         (colon != std::string::npos && (matches(spec.substr(0, colon), pattern, equals) ||
                                         matches(spec.substr(colon + 1), pattern, equals)));
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

std::string device_number(const DeviceDescription& device) {
  return fmt::format("{}:{}", device.platform, device.device);
}

std::string_view device_type_name(std::uint64_t type) noexcept {
  for (const auto& [name, bit] : k_device_types) {
    if ((type & bit) != 0) {
      return name;
    }
  }
  return "other";
}

bool matches_pattern(const DeviceDescription& device, std::string_view pattern) {
  std::string wanted(pattern);
  std::ranges::transform(wanted, wanted.begin(), [](char letter) { return lower_case(letter); });
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
  return !wanted.empty() && (has_part(device.identity.device_name, wanted) ||
                             has_part(device.identity.platform_name, wanted));
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
      std::vector<std::string> all;
      all.reserve(devices.size());
      for (const auto& device : devices) {
        all.push_back(fmt::format("{} '{}' ({})", device_number(device),
                                  device.identity.device_name, device.identity.platform_name));
      }
      return fail(ErrorCode::no_device, "no device matches '{}'; there are {}", pattern,
                  fmt::join(all, ", "));
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

clbin::base::Result<worker::InstalledDevices>
find_selected_devices(worker::WorkerSettings& settings, const std::vector<std::string>& patterns,
                      Reporter& reporter) {
  CLBIN_TRY_ASSIGN(settings, worker::with_home(std::move(settings)));
  CLBIN_TRY_ASSIGN(auto installed,
                   worker::find_installed_devices(settings, worker::PropertyQuery::skip));
  for (const std::string& failure : installed.failures) {
    reporter.warning(failure);
  }
  CLBIN_TRY_ASSIGN(installed.devices, select_devices(installed.devices, patterns));
  return installed;
}

bool matches_target(const TargetView& target, const std::string& pattern) {
  return target.origin == format::TargetOrigin::offline
             ? matches_spec(start_of(target.spec), pattern)
             : matches(start_of(target.device_name), pattern, has_part) ||
                   matches(start_of(target.platform_name), pattern, has_part);
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
                           start_of(target.platform_name.empty() ? target.driver_version
                                                                 : target.platform_name));
}

Result<std::string> list_targets(const format::BundleReader& bundle) {
  CLBIN_TRY_ASSIGN(const std::vector<TargetView> targets, targets_of(bundle));
  std::set<std::string> names;
  for (const TargetView& target : targets) {
    names.insert(target_name(target));
  }
  const std::size_t listed = std::min(names.size(), k_max_listed_targets);
  const auto end = std::next(names.begin(), static_cast<std::ptrdiff_t>(listed));
  return names.empty() ? "none"
                       : fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                                     listed == names.size()
                                         ? ""
                                         : fmt::format(" and {} more", names.size() - listed));
}

} // namespace oclcc

#include "targets/target_pattern.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <set>

namespace oclcc {

namespace format = clbin::format;
using clbin::base::Result;
using format::TargetView;

namespace {

constexpr std::size_t k_max_listed_targets = 64;

char lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

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

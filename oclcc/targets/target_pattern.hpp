// Matches the patterns of --keep-target and --drop-target against entries.
#pragma once

#include "format/bundle/bundle_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

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

// --keep-target and --drop-target: which entries are meant.
#pragma once

#include "format/bundle_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// In any case. A pattern is a spec of an offline target, or one side of its colon ("sm_70"), or a
// part of a device's or platform's name; with '*', '?' or '[…]' it is matched against the whole of
// each of these (fnmatch(3)).
[[nodiscard]] bool matches_target(const clbin::format::TargetView& target,
                                  const std::string& pattern);

// What is chosen by --keep-target and --drop-target.
struct TargetChoice {
  std::vector<std::string> keep; // empty: all
  std::vector<std::string> drop;
};
[[nodiscard]] bool is_chosen(const clbin::format::TargetView& target, const TargetChoice& choice);

// The patterns of `choice` that match no entry of `bundle`. Any reader error.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
idle_patterns(const clbin::format::BundleReader& bundle, const TargetChoice& choice);

// "'nvptx:sm_70'", or device and platform: for messages.
[[nodiscard]] std::string target_name(const clbin::format::TargetView& target);
// Those of all entries, each once, ascending: "'cpu-a' (PoCL), 'nvptx:sm_50'". Any reader error.
[[nodiscard]] clbin::base::Result<std::string>
list_targets(const clbin::format::BundleReader& bundle);

} // namespace oclcc

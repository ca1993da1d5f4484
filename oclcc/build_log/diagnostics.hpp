// Parses build logs into diagnostics in gcc's format.
#pragma once

#include "model/source.hpp"
#include "source/source_map.hpp"
#include "terminal/reporter.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Parses one log. Replaces the file names of drivers ("input.cl", "<kernel>", a temporary file, the
// include name of an embedded header) with the user's paths. Omits remarks with their notes, and
// lines that are not diagnostics ("2 errors generated."); the caller keeps the log.
[[nodiscard]] std::vector<Diagnostic> parse_build_log(std::string_view log,
                                                      const clbin::format::SourcePackage& source);
// The same for several logs of one package, whose lines are read once.
[[nodiscard]] std::vector<Diagnostic> parse_build_log(std::string_view log, const SourceMap& map);

enum class WarningPolicy : std::uint8_t { show, drop, make_errors };
// Returns the policy of -w, which has priority, and -Werror.
[[nodiscard]] WarningPolicy warning_policy(const std::vector<std::string>& options);
// Applies `policy` to warnings and their notes.
void apply_warning_policy(std::vector<Diagnostic>& diagnostics, WarningPolicy policy);

// Merges equal diagnostics of several devices into one that names the devices, in the order of
// first occurrence. Notes remain with their error or warning, and only the latter names devices.
[[nodiscard]] std::vector<Diagnostic> merge_diagnostics(std::vector<Diagnostic> diagnostics);

} // namespace oclcc

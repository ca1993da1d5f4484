// Turns build logs into gcc's terms.
#pragma once

#include "format/source_package.hpp"
#include "source/source_map.hpp"
#include "terminal/reporter.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// One log, parsed: file names that drivers invent ("input.cl", "<kernel>", a temporary file, the
// include name of an embedded header) become the user's own paths. Remarks with their notes, and
// lines that are no diagnostic ("2 errors generated."), are left out; the caller keeps the log.
[[nodiscard]] std::vector<Diagnostic> parse_build_log(std::string_view log,
                                                      const clbin::format::SourcePackage& source);
// The same for several logs of one package, whose lines are read once.
[[nodiscard]] std::vector<Diagnostic> parse_build_log(std::string_view log, const SourceMap& map);

enum class WarningPolicy : std::uint8_t { show, drop, make_errors };
// By -w, which wins, and -Werror.
[[nodiscard]] WarningPolicy warning_policy(const std::vector<std::string>& options);
// Notes share the fate of the warning before them.
void apply_warning_policy(std::vector<Diagnostic>& diagnostics, WarningPolicy policy);

// Equal diagnostics of several devices become one that names them, in the order of first mention.
// Notes stay with the error or warning before them, and only that names devices.
[[nodiscard]] std::vector<Diagnostic> merge_diagnostics(std::vector<Diagnostic> diagnostics);

} // namespace oclcc

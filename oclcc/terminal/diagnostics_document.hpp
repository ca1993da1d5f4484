// The messages of one run as a document for other programs.
#pragma once

#include "terminal/reporter.hpp"

#include <span>
#include <string>

namespace oclcc {

// What oclcc/schema/diagnostics.schema.json describes. `log`: what -v asked for.
[[nodiscard]] std::string diagnostics_json(std::span<const Report> reports,
                                           std::span<const std::string> log);

// SARIF 2.1.0 (OASIS). Columns are counted in Unicode code points there: a column of a line whose
// text is not known stays in bytes.
[[nodiscard]] std::string diagnostics_sarif(std::span<const Report> reports,
                                            std::span<const std::string> log, RunResult result);

} // namespace oclcc

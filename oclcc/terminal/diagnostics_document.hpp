// Writes the messages of one run as a document for other programs.
#pragma once

#include "terminal/reporter.hpp"

#include <span>
#include <string>

namespace oclcc {

// Returns the document that oclcc/schema/diagnostics.schema.json describes. `log` contains the
// texts that -v adds.
[[nodiscard]] std::string diagnostics_json(std::span<const Report> reports,
                                           std::span<const std::string> log);

// Returns the document as SARIF 2.1.0 (OASIS). Its columns count Unicode code points; if the text
// of a line is unknown, its column counts bytes.
[[nodiscard]] std::string diagnostics_sarif(std::span<const Report> reports,
                                            std::span<const std::string> log, RunResult result);

} // namespace oclcc

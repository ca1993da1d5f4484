// --report --html: what --report, --info, --explain and --disassemble say about files, on one page
// for a browser: report.html with their documents of JSON.
#pragma once

#include "command_line/bundle_file.hpp"
#include "command_line/modes.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc {

// Returns false if it cannot write.
using Print = JsonStream::Sink;

// Writes the page. `print_report` prints the document of --report and returns the exit status; if
// it prints nothing, no page is written. Calls drivers and starts disassemblers; if these are
// missing or fail, the page says why. Errors: invalid_argument, if the page would replace a file
// that is read; those of OutputFile and worker::with_home.
[[nodiscard]] Result<ExitCode>
write_report_page(const Options& options, const BundleKeys& keys, const ModeContext& context,
                  const std::function<Result<ExitCode>(const Print& print)>& print_report);

} // namespace oclcc

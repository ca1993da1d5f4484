// --info: lists the contents of bundles, without OpenCL.
#pragma once

#include "command_line/options.hpp"
#include "inspect/bundle_summary.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <string>

namespace oclcc {

// Lists the readable parts of every bundle, then its errors. Returns the status of the first error.
[[nodiscard]] ExitCode info(const Options& options, Reporter& reporter);

[[nodiscard]] std::string info_text(const BundleSummary& bundle);

} // namespace oclcc

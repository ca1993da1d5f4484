// --info: what bundles hold. Starts no OpenCL.
#pragma once

#include "command_line/options.hpp"
#include "inspect/bundle_summary.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <string>

namespace oclcc {

// Shows every bundle as far as it can be read, then what is wrong with it. The status is that of
// the first error.
[[nodiscard]] ExitCode info(const Options& options, Reporter& reporter);

[[nodiscard]] std::string info_text(const BundleSummary& bundle);
// As oclcc/schema/info.schema.json says.
[[nodiscard]] std::string info_json(const std::vector<BundleSummary>& bundles);

} // namespace oclcc

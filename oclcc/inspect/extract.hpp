// --extract: device binaries and sources of bundles as files.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Into the folder of -o, which is made where it is missing, or the current one; "-" is standard
// output, for one entry. Sources only where neither variants nor targets are chosen. Names are
// those of extracted_names.hpp, so nothing leaves the folder.
[[nodiscard]] ExitCode extract(const Options& options, Reporter& reporter);

} // namespace oclcc

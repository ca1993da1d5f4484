// --extract: writes device binaries and sources of bundles to files.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Writes to the directory of -o, which it creates if necessary, or to the working directory; "-" is
// standard output, for one entry. Writes sources only if neither variants nor targets are selected.
// Names are from extracted_names.hpp, so that no file is outside the directory.
[[nodiscard]] ExitCode extract(const Options& options, Reporter& reporter);

} // namespace oclcc

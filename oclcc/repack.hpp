// --repack: bundles compressed afresh.
#pragma once

#include "exit_code.hpp"
#include "options.hpp"
#include "reporter.hpp"

namespace oclcc {

// In place, or one bundle to -o: the bytes that one run of oclcc would have made of the same
// contents; hidden payloads are gone.
[[nodiscard]] ExitCode repack(const Options& options, Reporter& reporter);

} // namespace oclcc

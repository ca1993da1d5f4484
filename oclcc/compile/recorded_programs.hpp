// Reads the programs of bundles that are built anew.
#pragma once

#include "compile/compile_job.hpp"
#include "input/bundle_keys.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// Fills `bundle`, `programs` and `variants` of `job`: every program with a source, in the variants
// and with the options of the bundle. If the inputs of `options` are several bundles, their merge
// is read. The sources are closed, so that no compiler opens a file of this machine for them.
// Prints a warning for a program without a source, and for a variant whose options may not be
// passed to a compiler: both keep their entries. Errors: those of the reader and of merging; the
// first of these reasons if no program is left; invalid_argument for an unknown program of
// --optional. `keys` open encrypted inputs; unless `options` request another encryption,
// `encryption` of `job` is theirs.
[[nodiscard]] clbin::base::Result<void> read_recorded_programs(const Options& options,
                                                               const BundleKeys& keys, Job& job,
                                                               Reporter& reporter);

} // namespace oclcc

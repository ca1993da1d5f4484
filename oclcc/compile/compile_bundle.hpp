// Creates the bundle of one run.
#pragma once

#include "cache/bundle_key.hpp"
#include "compile/compile_job.hpp"

namespace oclcc {

// Returns a program's source as a bundle contains it: without paths of this machine.
[[nodiscard]] clbin::format::SourcePackage
bundled_source(const clbin::format::SourcePackage& source);

// Returns the bundle and takes the binaries out of `job`. Omits variants and programs that no
// device built. For an optional program, the source remains; `source` must keep it.
[[nodiscard]] BundleOfUnits make_bundle(Job& job, SourcePolicy source);

} // namespace oclcc

// The bundle of what one run built.
#pragma once

#include "compile/compile_job.hpp"
#include "format/bundle.hpp"

namespace oclcc {

// A variant, or a program, that no device could build is not in it, unless the program is optional:
// then its source is, which `source` must keep. Takes the binaries out of
// `job`.
[[nodiscard]] clbin::format::BundleInput make_bundle(Job& job, SourcePolicy source);

} // namespace oclcc

// --emit=hpp: creates a C++ header with a typed launcher for each kernel.
#pragma once

#include "format/bundle.hpp"

#include <string>
#include <vector>

namespace oclcc {

struct LauncherHeader {
  std::string text;
  // "program 'p': kernel 'k' has no launcher: no compiler reported its arguments"
  std::vector<std::string> left_out;
};

// Returns a header with a class for each kernel, in namespace kernels::PROGRAM. All entries must
// agree on the argument types. The result is deterministic. Names that are not C++ identifiers are
// converted (cpp_identifier).
[[nodiscard]] LauncherHeader launcher_header(const clbin::format::BundleInput& bundle);

} // namespace oclcc

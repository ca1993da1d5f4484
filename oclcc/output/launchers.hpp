// --emit=hpp: a C++ header with a typed launcher for each kernel.
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

// A class for each kernel, in namespace kernels::PROGRAM, of what the entries tell: they must agree
// on the arguments' types. Deterministic; names that are no C++ become some (cpp_identifier).
[[nodiscard]] LauncherHeader launcher_header(const clbin::format::BundleInput& bundle);

} // namespace oclcc

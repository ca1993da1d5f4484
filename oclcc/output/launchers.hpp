// --emit=hpp: creates a C++ header with a typed launcher for each kernel.
#pragma once

#include "model/bundle.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace oclcc {

struct LauncherHeader {
  std::string text;
  // "program 'p': kernel 'k' has no launcher: no compiler reported its arguments"
  std::vector<std::string> left_out;
};

// Returns a header with a class for each kernel, in namespace kernels::PROGRAM. All entries must
// agree on the argument types. Leaves out kernels with more than 1,024 arguments, or with names of
// more than 1,024 bytes. The result is deterministic. Names that are not C++ identifiers are
// converted (cpp_identifier). limit_exceeded: more than `max_bytes` of text.
[[nodiscard]] clbin::base::Result<LauncherHeader>
launcher_header(const clbin::format::BundleInput& bundle, std::uint64_t max_bytes);

} // namespace oclcc

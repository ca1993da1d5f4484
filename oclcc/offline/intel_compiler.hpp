// Compiles to zebins, the binaries of Intel's GPUs, with Intel's ocloc.
#pragma once

#include "base/byte_codec.hpp"
#include "offline/offline_compiler.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

[[nodiscard]] const FamilyCompiler& intel_compiler();

// Returns the value of ocloc's -options. ocloc splits it at white space, without a way to quote,
// and has no -U: invalid_argument. Definitions with such characters are in the source by then
// (join_options).
[[nodiscard]] clbin::base::Result<std::string> ocloc_options(const std::vector<std::string>& words);

// Returns ocloc's output as a build log: with the name of the main file, and without what ocloc
// prints about itself.
[[nodiscard]] std::string build_log_of(std::string_view ocloc_output);

// Returns the undefined symbols of a zebin, which ocloc does not report. damaged.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
undefined_symbols_of_zebin(clbin::base::ByteView zebin);

} // namespace oclcc::offline

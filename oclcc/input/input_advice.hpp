// Notes for inputs of the wrong kind: a bundle where sources are compiled, and the other way round.
#pragma once

#include "command_line/options.hpp"
#include "terminal/reporter.hpp"

#include <filesystem>

namespace oclcc {

// After the error about `bundle` as an input of a compile: a note on what can be done with it.
void explain_bundle_input(const std::filesystem::path& bundle, const Options& options,
                          Reporter& reporter);

// After a mode that reads bundles has failed: a note for each input that looks like OpenCL source.
// Reads the beginning of each input that is a regular file.
void explain_source_inputs(const Options& options, Reporter& reporter);

// Whether it is a regular file of text that is named as OpenCL C is (".cl") or defines a kernel in
// its first 64 KiB. False for a file that cannot be read.
[[nodiscard]] bool looks_like_source(const std::filesystem::path& path);

} // namespace oclcc

// Rejects outputs that would overwrite their inputs, and explains inputs of the wrong kind.
#pragma once

#include "command_line/options.hpp"

namespace oclcc {

// invalid_argument if an output is one of the files of a program.
[[nodiscard]] Result<void> require_other_files(std::span<const std::filesystem::path> outputs,
                                               const std::vector<std::filesystem::path>& files);

// Prints a note on the uses of `bundle`, after the error that a compile cannot read it.
void explain_bundle_input(const std::filesystem::path& bundle, const Options& options,
                          Reporter& reporter);

// Prints a note for each input that looks like OpenCL source, after a mode that reads bundles has
// failed. Reads the beginning of each regular file.
void explain_source_inputs(const Options& options, Reporter& reporter);

} // namespace oclcc

// The output of an embedded bundle, whether it was just made or is an input.
#pragma once

#include "base/file_io.hpp"
#include "command_line/options.hpp"
#include "output/output_plan.hpp"
#include "terminal/reporter.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace oclcc {

// `plan` is of OutputForm::embedding. Writes all of its file into `output`, which the caller
// commits afterwards, and its header where one is asked for. Warns of a header so large that
// compilers take minutes over it. Errors of write_embedding and OutputFile.
[[nodiscard]] clbin::base::Result<void> write_embedding_files(const OutputPlan& plan,
                                                              clbin::base::ByteView bundle,
                                                              clbin::base::OutputFile& output,
                                                              Reporter& reporter);

// The first input that is a bundle; nothing where all are sources.
[[nodiscard]] std::optional<std::filesystem::path> bundle_among(const std::vector<Input>& inputs);

// Of the input `bundle`, before anything is planned. invalid_argument: the output is neither an
// embedding nor launchers, or an option says how to compile.
[[nodiscard]] clbin::base::Result<void> check_bundle_use(const Options& options,
                                                         const std::filesystem::path& bundle);

// `oclcc k.clbin -o k.o`: the bytes of the input `bundle`, checked as a whole. invalid_argument: it
// is not alone. Reader errors, with the file.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
read_bundle_to_embed(const Options& options, const std::filesystem::path& bundle);

} // namespace oclcc

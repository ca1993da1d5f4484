// Writes embedded bundles, either new or from an input.
#pragma once

#include "base/file_io.hpp"
#include "command_line/options.hpp"
#include "input/bundle_keys.hpp"
#include "output/output_plan.hpp"
#include "terminal/reporter.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace oclcc {

// Writes the file of `plan`, of OutputForm::embedding, into `output`, which the caller commits, and
// its header if one is requested. Warns about headers that take minutes to compile. Errors of
// write_embedding and OutputFile.
[[nodiscard]] clbin::base::Result<void> write_embedding_files(const OutputPlan& plan,
                                                              clbin::base::ByteView bundle,
                                                              clbin::base::OutputFile& output,
                                                              Reporter& reporter);

// Returns the first input that is a bundle; std::nullopt if all are sources.
[[nodiscard]] std::optional<std::filesystem::path> bundle_among(const std::vector<Input>& inputs);

// convert: to an embedding or to launchers. rebuild: its programs are built anew.
enum class BundleUse : std::uint8_t { convert, rebuild };

// Returns the use of the input `bundle`, before planning. invalid_argument: an option has no effect
// on it, or other inputs of a rebuild are not bundles.
[[nodiscard]] clbin::base::Result<BundleUse> use_of_bundle(const Options& options,
                                                           const std::filesystem::path& bundle);

// Returns the bytes of the input `bundle` for `oclcc k.clbin -o k.o`, after verifying all of it, or
// all that can be read without a key. invalid_argument: there are other inputs. Reader errors, with
// the file name.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
read_bundle_to_embed(const Options& options, const std::filesystem::path& bundle,
                     const BundleKeys& keys);

} // namespace oclcc

// What the modes that write bundles of bundles have in common: where they write, and what they
// tell.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/encryption.hpp"
#include "terminal/exit_code.hpp"

#include <functional>

namespace oclcc {

// A bundle made of others.
struct BundleChange {
  std::vector<std::string> inputs;    // as given; "<stdin>" for "-"
  std::string output;                 // "<stdout>" for "-"
  format::StripResult result;         // without its bytes once they are written
  std::uint64_t total_bytes = 0;      // of those
  std::size_t removed_signatures = 0; // and counters and vouches
  std::vector<std::string> notes{};
};

// The contents of `bundle` can be read. `encryption` is that of the result; null if it is plain.
using ChangeBundle = std::function<Result<format::StripResult>(
    const format::BundleReader& bundle, const format::Encryption* encryption)>;

// Returns the result and what to tell of it, and the name of the output if there is no -o.
using ChangeFile = std::function<Result<BundleChange>(const std::filesystem::path& path)>;
using NameOutput = std::filesystem::path (*)(const std::filesystem::path& input);
// The output replaces the input.
inline constexpr NameOutput k_in_place = [](const std::filesystem::path& input) { return input; };

// Behaves like change_bundles.
[[nodiscard]] ExitCode change_files(const Options& options, const ChangeFile& change,
                                    NameOutput output, Reporter& reporter);

// Changes each input in place, or the only one to -o, tells of it, and goes on after an error: the
// status is that of the first. An input that could not be changed stays as it is. The output is
// encrypted as the options request, otherwise as its input; with Mode::decrypt, it is plain.
[[nodiscard]] ExitCode change_bundles(const Options& options, const ChangeBundle& change,
                                      Reporter& reporter);

// Adds the signatures, counters and vouches of an input, which the output does not have. Errors: as
// BundleReader::signature_records.
[[nodiscard]] Result<void> count_removed_signatures(BundleChange& change,
                                                    const format::BundleReader& input);

// Writes the bytes, and drops them. Errors of write_output_file.
[[nodiscard]] Result<void> write_change(BundleChange& change, const std::filesystem::path& output);

// Notes of what a user would not expect, or JSON (oclcc/schema/change.schema.json), then the
// errors. The status is that of the first error.
[[nodiscard]] ExitCode tell_changes(const std::vector<BundleChange>& changes,
                                    const std::vector<Error>& errors, ListFormat format,
                                    Reporter& reporter);

// Returns the format of errors before anything is written: text if -o is standard output, which
// cannot be that of JSON, too.
[[nodiscard]] ListFormat format_of_errors(const Options& options);

// invalid_argument: JSON and a bundle would both go to standard output, or the output is the file
// of a key.
[[nodiscard]] Result<void> check_output(const Options& options);

// Returns the bytes of `bundle` with the entries of `newer`, which has no source. An entry of
// `newer` replaces the entry of the same program, variant, target and kind. All other entries are
// copied without compressing them again. `newer` is plain, and the contents of `bundle` can be
// read; `encryption` is that of the result (null: plain). Errors: those of the reader, of
// strip_bundle and of merge_bundles.
[[nodiscard]] Result<base::Bytes> replace_entries(const format::BundleReader& bundle,
                                                  const base::Bytes& newer, SourcePolicy source,
                                                  const format::Encryption* encryption);

} // namespace oclcc

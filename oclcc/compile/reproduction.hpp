// --reproduce: whether the binaries of a bundle are what its source, options and compilers make.
#pragma once

#include "compile/compile_job.hpp"

namespace oclcc {

// An entry of a bundle, and whether this machine has what made it.
struct RecordedEntry {
  std::string program;
  std::uint32_t blob = 0;
  format::BinaryKind kind = format::BinaryKind::unknown;
  std::shared_ptr<const format::ManifestEntry> details;
  std::string why_missing{}; // what is not on this machine; empty if it can be built
};

// Returns the entries of a valid bundle, in its order. Errors: those of verifying it.
[[nodiscard]] Result<std::vector<RecordedEntry>>
recorded_entries(const format::BundleReader& bundle);

// Returns the offline targets of the entries that this machine can build for, as --target names
// them, and notes in the other entries what is missing.
[[nodiscard]] std::vector<std::string>
reproducible_targets(std::vector<RecordedEntry>& entries,
                     const std::map<std::string, std::filesystem::path, std::less<>>& tools);

// Gives each target of `job` the options that its entries record, which those of --device-option
// may be among, and the units the sizes of work-groups that the kernels are specialized for.
void use_recorded_options(const std::vector<RecordedEntry>& entries, Job& job);

// Prints a line for each entry, after the units of `job`, which has the bundle, were built and
// read_build_logs was called: "same", "differs", with the first byte and what contains it, "failed"
// or "missing". Returns the exit status: compile_failed if an entry differs or failed, no_device if
// nothing could be built. Errors: those of the reader and of the job's files.
[[nodiscard]] Result<ExitCode> compare_with_recorded(const std::vector<RecordedEntry>& entries,
                                                     const Job& job, Reporter& reporter);

} // namespace oclcc

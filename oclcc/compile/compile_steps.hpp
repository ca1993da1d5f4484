// The steps of a compile that compile.cpp takes one after the other, each in a source of its own.
#pragma once

#include "compile/compile_job.hpp"
#include "input/bundle_file.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>

namespace oclcc {

// Reads the inputs of the compile mode: programs with their headers, and variants.

// Returns the variants of the command line, or "default" if there are none.
[[nodiscard]] std::vector<VariantOptions> read_variants(const Options& options);

// Adds the options of --device-option for `targets`. no_device if a pattern matches no device.
[[nodiscard]] clbin::base::Result<void> add_device_options(const Options& options,
                                                           const std::vector<BuildTarget>& targets,
                                                           std::vector<VariantOptions>& variants);

// As add_device_options, but accepts patterns that match no device: the options of a unit of a plan
// name the devices of other units, too.
void add_device_options_of_unit(const Options& options, const std::vector<BuildTarget>& targets,
                                std::vector<VariantOptions>& variants);

// Fills `programs` with the inputs that are source. Reads every input, so that one run reports the
// errors of all inputs. `outputs` must not be among the files read.
[[nodiscard]] ExitCode read_programs(const Options& options,
                                     std::span<const std::filesystem::path> outputs,
                                     Reporter& reporter, std::vector<Program>& programs);

// Reads the programs of bundles that are built anew.

// Fills `bundle`, `programs` and `variants` of `job`: every program with a source, in the variants
// and with the options of the bundle. If the inputs of `options` are several bundles, their merge
// is read. The sources are closed, so that no compiler opens a file of this machine for them.
// Prints a warning for a program without a source, and for a variant whose options may not be
// passed to a compiler: both keep their entries. Errors: those of the reader and of merging; the
// first of these reasons if no program is left; invalid_argument for an unknown program of
// --optional. `keys` open encrypted inputs; unless `options` request another encryption,
// `encryption` of `job` is theirs.
[[nodiscard]] clbin::base::Result<void> read_recorded_programs(const Options& options,
                                                               const BundleKeys& keys, Job& job,
                                                               Reporter& reporter);

// Plans the offline targets of a run.

// Checks the words of --target and --tool, whether or not anything is compiled. invalid_argument.
[[nodiscard]] clbin::base::Result<void> check_offline_options(const Options& options);

// Adds the targets of --target, each once, and their compiler, which uses the compile cache of
// `cache`. `settings` must have a home.
// invalid_argument: a word is no target. no_device: a compiler is not installed. file_not_found: a
// tool of --tool does not exist.
[[nodiscard]] clbin::base::Result<void>
add_offline_targets(Job& job, const Options& options, const worker::WorkerSettings& settings,
                    const clbin::cache::CacheSettings& cache);

// Plans the cubins of a run.

// Adds a target after each NVIDIA device: the cubins that ptxas makes of the device's PTX. Does
// nothing if there is no NVIDIA device. `settings`, with a home, and `timeout` apply to ptxas.
// no_device: there is no ptxas.
[[nodiscard]] clbin::base::Result<void>
add_cubin_targets(Job& job, const worker::WorkerSettings& settings, std::chrono::seconds timeout);

// Reports the messages of the compilers of one run.

// Parses the build log of each unit, once, into Job::diagnostics. Marks units as failed that were
// built in spite of an error, because Oclgrind ignores -Werror.
void read_build_logs(Job& job);

// Prints the diagnostics of every unit, without duplicates, and the failures without a diagnostic.
// Call read_build_logs first. Returns whether every unit was built, except variants that a device
// cannot build and units of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// Prints "TITLE:" and the text with -v, unless the text is empty.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

// Checks the kernels of --specialize.

// Checks a job after its units were built. Skips failed units; if a unit of an optional program
// failed, every specialization passes. invalid_argument if no unit has the kernel of a
// specialization (with the existing kernels), or if the kernel cannot be launched with the size.
[[nodiscard]] clbin::base::Result<void> require_specialized_kernels(const Job& job);

// Reports kernels that compile at their first launch, because the binary contains no code for their
// work-groups.

// With -v, prints a note for each program and device with such kernels, and the options that avoid
// it.
void note_first_launches(const Job& job, Reporter& reporter);

} // namespace oclcc

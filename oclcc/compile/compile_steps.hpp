// The steps of a compile that compile.cpp takes one after the other.
#pragma once

#include "compile/compile_job.hpp"
#include "input/bundle_file.hpp"
#include "terminal/exit_code.hpp"

namespace oclcc {

// Returns the variants of the command line, or "default" if there are none.
[[nodiscard]] std::vector<VariantOptions> read_variants(const Options& options);

// Adds the options of --device-option for `targets`. no_device if a pattern matches no device.
[[nodiscard]] Result<void> add_device_options(const Options& options,
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

// Fills `bundle`, `programs` and `variants` of `job`: every program with a source, in the variants
// and with the options of the bundle. If the inputs of `options` are several bundles, their merge
// is read. The sources are closed, so that no compiler opens a file of this machine for them.
// Prints a warning for a program without a source, and for a variant whose options may not be
// passed to a compiler: both keep their entries. Errors: those of the reader and of merging; the
// first of these reasons if no program is left; invalid_argument for an unknown program of
// --optional. `keys` open encrypted inputs; unless `options` request another encryption,
// `encryption` of `job` is theirs.
[[nodiscard]] Result<void> read_recorded_programs(const Options& options, const BundleKeys& keys,
                                                  Job& job, Reporter& reporter);

// Checks the words of --target and --tool, whether or not anything is compiled. invalid_argument.
[[nodiscard]] Result<void> check_offline_options(const Options& options);

// Adds the targets of --target, each once, and their compiler, which uses the compile cache of
// `cache`. `settings` must have a home.
// invalid_argument: a word is no target. no_device: a compiler is not installed. file_not_found: a
// tool of --tool does not exist.
[[nodiscard]] Result<void> add_offline_targets(Job& job, const Options& options,
                                               const worker::WorkerSettings& settings,
                                               const clbin::cache::CacheSettings& cache);

// Adds a target after each NVIDIA device: the cubins that ptxas makes of the device's PTX. Does
// nothing if there is no NVIDIA device. `settings`, with a home, and `timeout` apply to ptxas.
// no_device: there is no ptxas.
[[nodiscard]] Result<void> add_cubin_targets(Job& job, const worker::WorkerSettings& settings,
                                             std::chrono::seconds timeout);

// Parses the build log of each unit, once, into JobUnit::diagnostics. Marks units as failed that
// were built in spite of an error, because Oclgrind ignores -Werror.
void read_build_logs(Job& job);

// Prints the diagnostics of every unit, without duplicates, and the failures without a diagnostic.
// Call read_build_logs first. Returns whether every unit was built, except variants that a device
// cannot build and units of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// Prints "TITLE:" and the text with -v, unless the text is empty.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

// Checks a job after its units were built. Skips failed units; if a unit of an optional program
// failed, every specialization passes. invalid_argument if no unit has the kernel of a
// specialization (with the existing kernels), or if the kernel cannot be launched with the size.
[[nodiscard]] Result<void> require_specialized_kernels(const Job& job);

// With -v, prints a note for each program and device with kernels that compile at their first
// launch, because the binary contains no code for their work-groups, and the options that avoid it.
void note_first_launches(const Job& job, Reporter& reporter);

// Fills `modules` with the inputs that are SPIR-V modules: a program with one entry each, whose
// target, kernels and specialization constants the module determines. Its options are those of
// the command line that apply to building IL (OpenCL 3.0, section "Compiler Options": -cl-*
// without -cl-std). Reads every module, so that one run reports the errors of all inputs: a module
// that is not valid, has no kernel, or imports what nothing defines. `outputs` must not be among
// the files read.
[[nodiscard]] ExitCode read_il_modules(const Options& options,
                                       std::span<const std::filesystem::path> outputs,
                                       Reporter& reporter, std::vector<IlProgram>& modules);

// Returns the bundle and takes the binaries out of `job`. Omits variants and programs that no
// device built. For an optional program, the source remains; `source` must keep it.
[[nodiscard]] BundleOfUnits make_bundle(Job& job, SourcePolicy source);

} // namespace oclcc

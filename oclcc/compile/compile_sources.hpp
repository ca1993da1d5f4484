// Reads the inputs of the compile mode: programs with their headers, and variants.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/exit_code.hpp"

#include <filesystem>
#include <span>

namespace oclcc {

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

} // namespace oclcc

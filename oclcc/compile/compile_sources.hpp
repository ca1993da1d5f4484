// What the compile mode builds from: the programs with all they include, and the variants.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/exit_code.hpp"

#include <filesystem>
#include <span>

namespace oclcc {

// "default" where the command line names none.
[[nodiscard]] std::vector<VariantOptions> read_variants(const Options& options);

// With --device-option: what the units of `devices` are built with. no_device where a pattern
// matches none of them.
[[nodiscard]] clbin::base::Result<void>
add_device_options(const Options& options, const std::vector<worker::DeviceDescription>& devices,
                   std::vector<VariantOptions>& variants);

// Fills `programs`. Every input is read, so that one run shows what is wrong with any of them; it
// is reported here. `outputs` must not be among the files read.
[[nodiscard]] ExitCode read_programs(const Options& options,
                                     std::span<const std::filesystem::path> outputs,
                                     Reporter& reporter, std::vector<Program>& programs);

} // namespace oclcc

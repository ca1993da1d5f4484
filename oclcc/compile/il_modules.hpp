// Reads inputs that are SPIR-V modules, which are not compiled.
#pragma once

#include "compile/compile_job.hpp"
#include "terminal/exit_code.hpp"

#include <filesystem>
#include <span>

namespace oclcc {

// Whether `path` is a regular file that starts with the magic of SPIR-V, in either byte order.
[[nodiscard]] bool is_il_module(const std::filesystem::path& path);

// Fills `modules` with the inputs that are SPIR-V modules: a program with one entry each, whose
// target, kernels and specialization constants the module determines. Its options are those of
// the command line that apply to building IL (OpenCL 3.0, section "Compiler Options": -cl-*
// without -cl-std). Reads every module, so that one run reports the errors of all inputs: a module
// that is not valid, has no kernel, or imports what nothing defines. `outputs` must not be among
// the files read.
[[nodiscard]] ExitCode read_il_modules(const Options& options,
                                       std::span<const std::filesystem::path> outputs,
                                       Reporter& reporter, std::vector<IlProgram>& modules);

} // namespace oclcc

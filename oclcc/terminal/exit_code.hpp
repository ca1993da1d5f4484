#pragma once

#include "base/result.hpp"

#include <span>

namespace oclcc {

class Reporter;

// Exit statuses of the process. A test compares them with oclcc(1), "EXIT STATUS".
enum class ExitCode : int {
  success = 0,
  compile_failed = 1, // a kernel did not compile, an entry did not load, or two bundles differ
  command_line = 2,
  file = 3,         // a file cannot be read or written
  not_a_bundle = 4, // not a valid bundle
  no_device = 5,    // no usable device, driver or offline compiler
  internal = 6,     // out of memory, or an internal error of oclcc
};

// The status of a completed run with a negative result, as for diff(1).
inline constexpr ExitCode k_bundles_differ = ExitCode::compile_failed;
inline constexpr ExitCode k_entry_does_not_load = ExitCode::compile_failed;
inline constexpr ExitCode k_limit_exceeded = ExitCode::compile_failed;

// Returns the exit status for an error.
[[nodiscard]] ExitCode exit_code_of(clbin::base::ErrorCode code) noexcept;
// Prints all errors, because one run should report every problem. Returns the status of the first
// one, or success if there is none.
[[nodiscard]] ExitCode report_errors(std::span<const clbin::base::Error> errors,
                                     Reporter& reporter);
// Prints the error of a run, if it has one, and returns its status. A run that has failed without
// an error has said why.
[[nodiscard]] ExitCode report_result(const clbin::base::Result<ExitCode>& run, Reporter& reporter);
// Writes the result of a mode to standard output. Returns ExitCode::file if it cannot be written.
[[nodiscard]] ExitCode print_result(std::string_view text, Reporter& reporter);

} // namespace oclcc

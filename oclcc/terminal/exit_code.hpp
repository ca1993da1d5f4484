#pragma once

#include "base/result.hpp"

#include <span>

namespace oclcc {

class Reporter;

// The process's exit status; the table of oclcc(1), "EXIT STATUS", says the same (a test holds them
// together).
enum class ExitCode : int {
  success = 0,
  compile_failed = 1, // a kernel did not compile, an entry did not load, or two bundles differ
  command_line = 2,
  file = 3,         // reading or writing a file
  not_a_bundle = 4, // not a valid bundle
  no_device = 5,    // no usable device, driver or offline compiler
  internal = 6,     // no memory, or an error of oclcc itself
};

// The answer is no, but the work was done, as diff(1) has it.
inline constexpr ExitCode k_bundles_differ = ExitCode::compile_failed;
inline constexpr ExitCode k_entry_does_not_load = ExitCode::compile_failed;

// The status that an error ends oclcc with.
[[nodiscard]] ExitCode exit_code_of(clbin::base::ErrorCode code) noexcept;
// Prints them all, since one run should tell all that is wrong. The first one's status; success
// where there is none.
[[nodiscard]] ExitCode report_errors(std::span<const clbin::base::Error> errors,
                                     Reporter& reporter);

} // namespace oclcc

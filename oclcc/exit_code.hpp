#pragma once

#include "base/result.hpp"

namespace oclcc {

// The process's exit status; the table of oclcc(1), "EXIT STATUS", says the same (a test holds them
// together).
enum class ExitCode : int {
  success = 0,
  compile_failed = 1, // a kernel did not compile
  command_line = 2,
  file = 3,         // reading or writing a file
  not_a_bundle = 4, // not a valid bundle
  no_device = 5,    // no usable device, driver or offline compiler
};

// The status that an error ends oclcc with.
[[nodiscard]] ExitCode exit_code_of(clbin::base::ErrorCode code) noexcept;

} // namespace oclcc

// --watch: a compile that is repeated when a file that it reads changes.
#pragma once

#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"

namespace oclcc {

// What a round calls.
struct RoundHooks {
  std::function<void()> wait;                        // blocks until the files are to be read
  std::function<std::string(ExitCode code)> outcome; // returns the last message; empty for none
};
// Finds the devices, waits, compiles once, and prints the outcome after the messages of the
// compile.
using RunRound = ExitCode(const Options& options, const RoundHooks& hooks);

// Calls `run` in a child of this process: at once, and after each change of the sources and their
// headers, also those that did not exist, of response files, keys and the configuration file. Ends
// by a signal, as a compile does, and returns only if the first round finds an error of the command
// line, or if files cannot be watched: file_read. `words` are read anew for each round. Call it
// while the process has no other thread.
[[nodiscard]] Result<ExitCode> watch(const std::vector<std::string>& words, RunRound* run,
                                     Reporter& reporter);

} // namespace oclcc

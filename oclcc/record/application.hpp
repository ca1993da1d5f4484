// Runs the application of --record.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace oclcc {

struct ApplicationEnd {
  int exit_status = 0; // as shells report it: 128 + the signal, if one ended the application
  int signal = 0;      // 0 if none did
};

// Starts `command`, which is looked up in PATH, with the variables of this process and
// `variables`, and blocks until it ends. It keeps the standard streams and the process group of
// this process. Signals that this process receives meanwhile are passed on; SIGINT and SIGQUIT of
// the terminal reach the application without that. Errors: file_not_found, and file_read if it
// cannot be executed. Call it while this process has one thread.
[[nodiscard]] clbin::base::Result<ApplicationEnd>
run_application(const std::vector<std::string>& command,
                const std::map<std::string, std::string>& variables);

} // namespace oclcc

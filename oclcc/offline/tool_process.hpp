// Finds and runs compilers that are separate programs.
#pragma once

#include "base/result.hpp"
#include "worker/worker_process.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

// Returns the directories of an environment variable such as PATH, in order, without empty ones.
[[nodiscard]] std::vector<std::filesystem::path> folders_of_variable(const char* name);

// Returns the first executable file `name` in the directories of PATH, then in `further_folders`.
[[nodiscard]] std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders);

struct ToolRun {
  int exit_status = 0;
  std::string output; // standard output and standard error, interleaved
};

// Returns `text` without white space at its end.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Returns the first error in the output of a tool, otherwise its last line, of at most 300 bytes.
[[nodiscard]] std::string_view reason_in(std::string_view output);

// Returns "clang ended with 1: error: …", with reason_in() of what a tool printed that failed.
[[nodiscard]] std::string failure_text(std::string_view tool, const ToolRun& run);

// Runs the tool in `folder`, without input, and blocks until it exits. `settings` must have a home:
// it ends the tool, and what the tool started, when oclcc is interrupted. internal: the tool cannot
// be started, crashed ("ptxas crashed (signal 11)"), or was killed after `timeout` or because it
// exceeded the memory limit of `settings`.
[[nodiscard]] clbin::base::Result<ToolRun> run_tool(const std::filesystem::path& tool,
                                                    const std::vector<std::string>& arguments,
                                                    const std::filesystem::path& folder,
                                                    const worker::WorkerSettings& settings,
                                                    std::chrono::seconds timeout);

} // namespace oclcc::offline

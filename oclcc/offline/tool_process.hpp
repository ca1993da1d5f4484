// Compilers that are programs of their own, found on this machine.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

// The first executable file of that name in the folders of PATH, then in `further_folders`.
[[nodiscard]] std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders);

struct ToolRun {
  int exit_status = 0;
  std::string output; // what it printed, standard output and errors in their order
};

// Runs the tool in `folder`, without input, and waits. internal: it cannot be started, crashed
// ("ptxas crashed (signal 11)"), or did not finish within `timeout` and was killed.
[[nodiscard]] clbin::base::Result<ToolRun> run_tool(const std::filesystem::path& tool,
                                                    const std::vector<std::string>& arguments,
                                                    const std::filesystem::path& folder,
                                                    std::chrono::seconds timeout);

} // namespace oclcc::offline

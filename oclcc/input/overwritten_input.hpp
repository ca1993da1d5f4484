// Rejects outputs that would overwrite their inputs.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace oclcc {

// invalid_argument if an output is one of the files of a program.
[[nodiscard]] clbin::base::Result<void>
require_other_files(std::span<const std::filesystem::path> outputs,
                    const std::vector<std::filesystem::path>& files);

} // namespace oclcc

// Outputs that would overwrite what they are made from.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace oclcc {

// invalid_argument when an output is one of the files that a program is made of: it would be lost.
[[nodiscard]] clbin::base::Result<void>
require_other_files(std::span<const std::filesystem::path> outputs,
                    const std::vector<std::filesystem::path>& files);

} // namespace oclcc

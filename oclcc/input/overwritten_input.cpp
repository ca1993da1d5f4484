#include "input/overwritten_input.hpp"

#include <algorithm>
#include <system_error>

namespace oclcc {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

Result<void> require_other_files(std::span<const std::filesystem::path> outputs,
                                 const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& output : outputs) {
    const auto is_output = [&](const std::filesystem::path& file) {
      std::error_code error;
      return file != "-" && output != "-" && std::filesystem::equivalent(file, output, error);
    };
    if (std::any_of(files.begin(), files.end(), is_output)) {
      return fail(ErrorCode::invalid_argument, "'{}' is both an input and the output",
                  output.string());
    }
  }
  return {};
}

} // namespace oclcc

// Which kernel a driver is creating, for the parent of a worker that does not survive it.
#pragma once

#include "base/file_descriptor.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace oclcc::worker {

// A file in the worker's folder. Copies of the process share it. What cannot be written is not
// known afterwards, no more.
class KernelNote {
public:
  // Opens the file in the working directory.
  KernelNote();

  void set(const std::string& kernel);
  void clear();

private:
  clbin::base::FileDescriptor m_file;
};

// Returns what the worker of `folder` noted last; std::nullopt if it noted nothing, or cleared it.
[[nodiscard]] std::optional<std::string> read_kernel_note(const std::filesystem::path& folder);

} // namespace oclcc::worker

// Records the kernel that a driver is creating, for the parent of a worker that crashes.
#pragma once

#include "base/file_io.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace oclcc::worker {

// A file in the worker's directory, which forks of the process share. Ignores write errors.
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

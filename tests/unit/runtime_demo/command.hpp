// Runs commands as a user does.
#pragma once

#include <filesystem>
#include <string>

namespace runtime_demo::test {

struct CommandEnd {
  int exit_code = -1;
  std::string output; // standard output
  std::string errors; // standard error
};

inline constexpr int k_no_device = 5; // exit status of oclcc and runtime_demo

// A shell runs `command`.
[[nodiscard]] CommandEnd run_command(const std::string& command);

// A new folder, removed by the destructor.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
  std::filesystem::path m_path;
};

} // namespace runtime_demo::test

// Commands run from the outside.
#pragma once

#include <filesystem>
#include <string>

namespace runtime_demo::test {

struct CommandEnd {
  int exit_code = -1;
  std::string output; // standard output
  std::string errors; // standard error
};

// `command` is for the shell.
[[nodiscard]] CommandEnd run_command(const std::string& command);

// A folder of its own, gone at the end.
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

#include "command.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/wait.h>

namespace runtime_demo::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "runtime-demo-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot create a folder");
  }
  m_path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
}

CommandEnd run_command(const std::string& command) {
  const TemporaryFolder folder;
  const std::filesystem::path errors = folder.path() / "errors";
  FILE* const pipe = popen((command + " 2>" + errors.string()).c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("cannot start a shell");
  }
  CommandEnd end;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    end.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream file(errors);
  end.errors.assign(std::istreambuf_iterator<char>(file), {});
  return end;
}

} // namespace runtime_demo::test

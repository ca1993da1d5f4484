#include "offline/tool_process.hpp"

#include "base/file_descriptor.hpp"
#include "base/file_io.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::reason_of;
using clbin::base::Result;

namespace {

constexpr std::uint64_t k_max_output_bytes = 1ULL << 20U;
constexpr std::chrono::milliseconds k_between_looks{2};

bool is_executable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::filesystem::path> path_folders() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  std::vector<std::filesystem::path> folders;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty()) {
      folders.emplace_back(folder);
    }
  }
  return folders;
}

class SpawnFiles {
public:
  SpawnFiles() { ::posix_spawn_file_actions_init(&actions); }
  ~SpawnFiles() { ::posix_spawn_file_actions_destroy(&actions); }
  SpawnFiles(const SpawnFiles&) = delete;
  SpawnFiles& operator=(const SpawnFiles&) = delete;

  posix_spawn_file_actions_t actions{};
};

Result<pid_t> start(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder, const std::filesystem::path& output) {
  std::vector<std::string> words{tool.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  SpawnFiles files;
  ::posix_spawn_file_actions_addopen(&files.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files.actions, 1, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&files.actions, 1, 2);
  ::posix_spawn_file_actions_addchdir_np(&files.actions, folder.c_str());
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, tool.c_str(), &files.actions, nullptr, argv.data(), environ);
  if (error != 0) {
    return fail(ErrorCode::internal, "cannot start '{}': {}", tool.string(), reason_of(error));
  }
  return process;
}

// Returns the wait status; std::nullopt if the process was killed after the timeout.
Result<std::optional<int>> wait_for_end(pid_t process, std::chrono::seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) {
      return status;
    }
    if (ended < 0 && errno != EINTR) {
      return fail(ErrorCode::internal, "cannot wait for a process: {}", reason_of(errno));
    }
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(process, SIGKILL);
      ::waitpid(process, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(k_between_looks);
  }
}

std::string printed(const std::filesystem::path& output) {
  const auto bytes = clbin::base::read_whole_file(output, k_max_output_bytes);
  return bytes ? std::string(clbin::base::as_text(*bytes)) : std::string();
}

} // namespace

std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders) {
  std::vector<std::filesystem::path> folders = path_folders();
  folders.insert(folders.end(), further_folders.begin(), further_folders.end());
  for (const std::filesystem::path& folder : folders) {
    if (is_executable(folder / name)) {
      std::error_code error; // the tool runs in another directory
      return std::filesystem::absolute(folder / name, error);
    }
  }
  return std::nullopt;
}

Result<ToolRun> run_tool(const std::filesystem::path& tool,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, std::chrono::seconds timeout) {
  const std::string name = tool.filename().string();
  const std::filesystem::path output = folder / "output";
  CLBIN_TRY_ASSIGN(const pid_t process, start(tool, arguments, folder, output));
  CLBIN_TRY_ASSIGN(const std::optional<int> status, wait_for_end(process, timeout));
  if (!status) {
    return fail(ErrorCode::internal, "{} did not finish within {} s", name, timeout.count());
  }
  if (WIFSIGNALED(*status)) {
    return fail(ErrorCode::internal, "{} crashed (signal {})", name, WTERMSIG(*status));
  }
  return ToolRun{WEXITSTATUS(*status), printed(output)};
}

} // namespace oclcc::offline

#include "offline/tool_process.hpp"

#include "base/file_io.hpp"
#include "offline/text_lines.hpp"
#include "worker/memory_watch.hpp"
#include "worker/spawn.hpp"
#include "worker/stray_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
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
constexpr std::chrono::milliseconds k_between_looks_at_memory{20};

bool is_executable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The tool's temporary files belong into its folder, and the home finds programs that the tool
// started by the name of the home.
std::vector<std::string> tool_environment(const std::filesystem::path& folder,
                                          const worker::WorkerHome& home) {
  std::vector<std::string> variables = worker::own_environment();
  worker::set_variable(variables, "TMPDIR", folder.string());
  worker::set_variable(variables, worker::k_home_variable, home.path().string());
  return variables;
}

// Starts the tool as the leader of a process group.
Result<pid_t> start(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder, const std::filesystem::path& output,
                    const worker::WorkerHome& home) {
  std::vector<std::string> words{tool.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = tool_environment(folder, home);
  worker::SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&settings.files, 1, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&settings.files, 1, 2);
  ::posix_spawn_file_actions_addchdir_np(&settings.files, folder.c_str());
  // oclcc blocks and ignores signals that should end the tool.
  settings.restore_signals(worker::DefaultSignals::all);
  settings.lead_process_group();
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, tool.c_str(), &settings.files, &settings.attributes,
                    worker::pointers_to(words).data(), worker::pointers_to(environment).data());
  if (error != 0) {
    return fail(ErrorCode::internal, "cannot start '{}': {}", tool.string(), reason_of(error));
  }
  return process;
}

// A running tool, which the home ends if oclcc is interrupted or dies.
class RunningTool {
public:
  RunningTool(pid_t process, worker::WorkerHome& home) : m_process(process), m_home(home) {
    m_home.add(process);
  }
  // Ends the tool and what it started.
  ~RunningTool() { (void)end(); }
  RunningTool(const RunningTool&) = delete;
  RunningTool& operator=(const RunningTool&) = delete;

  [[nodiscard]] bool is_running() const {
    siginfo_t info{};
    const int known =
        ::waitid(P_PID, static_cast<id_t>(m_process), &info, WEXITED | WNOHANG | WNOWAIT);
    return known == 0 && info.si_pid == 0;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return worker::resident_bytes(m_process).value_or(0);
  }
  // Returns the wait status; std::nullopt if the system does not report it, and at further calls.
  std::optional<int> end() {
    if (m_process < 0) {
      return std::nullopt;
    }
    m_home.remove(m_process);
    ::kill(-m_process, SIGKILL); // if it has exited, what it left running
    int status = 0;
    pid_t ended = -1;
    do {
      ended = ::waitpid(m_process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    // The home makes oclcc the parent of orphans (stray_processes.hpp).
    while (::waitpid(-m_process, nullptr, 0) > 0 || errno == EINTR) {
    }
    const bool is_known = ended == std::exchange(m_process, -1);
    return is_known ? std::optional(status) : std::nullopt;
  }

private:
  pid_t m_process;
  worker::WorkerHome& m_home;
};

// Blocks until the tool exits by itself. internal: it was running too long, or used too much
// memory.
Result<void> wait_for_exit(const RunningTool& tool, std::string_view name,
                           const worker::WorkerSettings& settings, std::chrono::seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  auto next_look_at_memory = std::chrono::steady_clock::now();
  while (tool.is_running()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) {
      return fail(ErrorCode::internal, "{} did not finish within {} s", name, timeout.count());
    }
    if (settings.memory_limit_bytes && now >= next_look_at_memory) {
      next_look_at_memory = now + k_between_looks_at_memory;
      if (tool.memory_bytes() > *settings.memory_limit_bytes) {
        return fail(ErrorCode::internal, "{} used more than {} MiB of memory (--memory-limit)",
                    name, *settings.memory_limit_bytes >> 20U);
      }
    }
    std::this_thread::sleep_for(k_between_looks);
  }
  return {};
}

// Returns the end of what the tool printed.
std::string printed(const std::filesystem::path& output) {
  const auto file = clbin::base::open_file_source(output);
  if (!file) {
    return file.error().message;
  }
  const std::uint64_t size = (*file)->size_bytes();
  const std::uint64_t length = std::min(size, k_max_output_bytes);
  const auto bytes = (*file)->read(size - length, length, "the output of a tool");
  return bytes ? std::string(clbin::base::as_text(bytes->view())) : bytes.error().message;
}

} // namespace

std::vector<std::filesystem::path> folders_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string_view rest = value == nullptr ? "" : value;
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

std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders) {
  std::vector<std::filesystem::path> folders = folders_of_variable("PATH");
  folders.insert(folders.end(), further_folders.begin(), further_folders.end());
  for (const std::filesystem::path& folder : folders) {
    if (is_executable(folder / name)) {
      std::error_code error; // the tool runs in another directory
      return std::filesystem::absolute(folder / name, error);
    }
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n\t");
  return end == std::string_view::npos ? "" : text.substr(0, end + 1);
}

std::string_view reason_in(std::string_view output) {
  constexpr std::size_t k_max_bytes = 300;
  std::string_view last;
  while (!output.empty()) {
    const std::string_view line = trimmed(take_line(output));
    if (line.find("error") != std::string_view::npos ||
        line.find("fatal") != std::string_view::npos) {
      return line.substr(0, k_max_bytes);
    }
    last = line.empty() ? last : line;
  }
  return last.substr(0, k_max_bytes);
}

Result<ToolRun> run_tool(const std::filesystem::path& tool,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder,
                         const worker::WorkerSettings& settings, std::chrono::seconds timeout) {
  const std::string name = tool.filename().string();
  const std::filesystem::path output = folder / "output";
  CLBIN_TRY_ASSIGN(const pid_t process, start(tool, arguments, folder, output, *settings.home));
  RunningTool running(process, *settings.home);
  const auto exited = wait_for_exit(running, name, settings, timeout);
  const std::optional<int> status = running.end();
  settings.home->stay_if_interrupted();
  CLBIN_TRY(exited);
  if (!status) {
    return fail(ErrorCode::internal, "the exit status of {} is not known", name);
  }
  if (WIFSIGNALED(*status)) {
    return fail(ErrorCode::internal, "{} crashed (signal {})", name, WTERMSIG(*status));
  }
  return ToolRun{WEXITSTATUS(*status), printed(output)};
}

std::string failure_text(std::string_view tool, const ToolRun& run) {
  const std::string_view reason = reason_in(run.output);
  return fmt::format("{} ended with {}{}{}", tool, run.exit_status,
                     reason.empty() ? ", without a message" : ": ", reason);
}

} // namespace oclcc::offline

#include "remote/storage_helper.hpp"

#include "base/text.hpp"
#include "cache/unit_recipe.hpp"
#include "storage_http/storage_protocol.hpp"
#include "worker/spawn.hpp"
#include "worker/stray_processes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace oclcc::remote {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::FileDescriptor;
using clbin::base::reason_of;
using clbin::base::Result;
using clbin::cache::ProcessEnvironment;

namespace {

constexpr std::string_view k_socket_label = "oclcc-storage-socket-1";
constexpr std::size_t k_socket_digits = 32;
constexpr std::size_t k_max_socket_bytes = 103; // the helper appends to the name of its lock
constexpr std::size_t k_max_answer_bytes = 1024;
constexpr std::string_view k_ready = "ready\n";
constexpr int k_milliseconds_between_looks = 5;
// Variables that libcurl and TLS libraries read. The helper keeps those of the run that started it.
constexpr std::array<const char*, 10> k_variables{
    "HOME",        "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy",
    "HTTPS_PROXY", "all_proxy",     "ALL_PROXY",    "no_proxy",   "NO_PROXY"};

bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::filesystem::path absolute_path(const std::filesystem::path& file) {
  std::error_code error; // the working directory was removed
  auto path = std::filesystem::absolute(file, error);
  return error ? file : path;
}

std::string lines_of(const RemoteSettings& settings) {
  std::string lines =
      fmt::format("url={}\nmode={}\ntimeout-ms={}\n", settings.url,
                  settings.mode == RemoteMode::read_only ? "read-only" : "read-write",
                  settings.timeout.count());
  if (!settings.token.empty()) {
    lines += fmt::format("token={}\n", settings.token);
  }
  if (settings.netrc) {
    lines += fmt::format("netrc={}\n", settings.netrc->string());
  }
  return lines;
}

std::string socket_name(const std::string& settings, const std::filesystem::path& program,
                        const ProcessEnvironment& environment) {
  clbin::base::Hasher hasher;
  hasher.add_field(k_socket_label);
  hasher.add_field(storage_http::k_greeting);
  hasher.add_field(settings);
  hasher.add_field(program.string());
  hasher.add_field(file_stamp(program));
  for (const char* const name : k_variables) {
    hasher.add_field(environment.variable(name).value_or(""));
  }
  return clbin::base::to_hex(hasher.finish()).substr(0, k_socket_digits);
}

Result<void> require_private(const std::filesystem::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    return fail(ErrorCode::file_read, "cannot use the directory '{}': {}", folder.string(),
                reason_of(errno));
  }
  constexpr mode_t k_others = 0077;
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & k_others) != 0) {
    return fail(ErrorCode::file_read,
                "'{}' is not a directory that belongs to this user and is closed to others",
                folder.string());
  }
  return {};
}

// Creates the directory unless it exists. file_not_found: it has no parent.
Result<std::filesystem::path> private_folder(std::filesystem::path folder) {
  constexpr mode_t k_private = 0700;
  if (::mkdir(folder.c_str(), k_private) != 0 && errno != EEXIST) {
    return fail(ErrorCode::file_not_found, "cannot create the directory '{}': {}", folder.string(),
                reason_of(errno));
  }
  CLBIN_TRY(require_private(folder));
  return folder;
}

struct Pipe {
  FileDescriptor from;
  FileDescriptor to;
};

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return fail(ErrorCode::file_read, "cannot create a pipe: {}", reason_of(errno));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// A pipe that contains the settings and then ends. They fit into it, so that nothing writes to a
// helper that does not read.
Result<FileDescriptor> filled_pipe(const std::string& settings) {
  CLBIN_TRY_ASSIGN(Pipe pipe, open_pipe());
  const ssize_t count = ::write(pipe.to.number(), settings.data(), settings.size());
  if (count != static_cast<ssize_t>(settings.size())) {
    return fail(ErrorCode::file_read, "the settings do not fit into a pipe");
  }
  return std::move(pipe.from);
}

// The environment of the helper, which reads the token from its input: without what marks the
// processes that end with this run.
std::vector<std::string> helper_environment() {
  std::vector<std::string> variables = worker::own_environment();
  std::erase_if(variables, [](const std::string& variable) {
    return variable.starts_with(std::string(worker::k_home_variable) + "=");
  });
  return variables;
}

// The helper outlives this run: it keeps no file of it open, and needs no directory.
Result<pid_t> spawn(const std::filesystem::path& program, const std::string& socket, int input,
                    int output) {
  std::vector<std::string> words{program.string(), socket};
  std::vector<std::string> environment = helper_environment();
  worker::SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.files, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&settings.files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.files, STDERR_FILENO + 1);
  ::posix_spawn_file_actions_addchdir_np(&settings.files, "/");
  settings.restore_signals(worker::DefaultSignals::ignored_by_main);
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, program.c_str(), &settings.files, &settings.attributes,
                    worker::pointers_to(words).data(), worker::pointers_to(environment).data());
  if (error != 0) {
    return fail(ErrorCode::file_read, "cannot start '{}': {}", program.string(), reason_of(error));
  }
  return process;
}

// Returns what the helper writes until it closes its output, or `deadline`.
std::string answer_of(int output, Clock::time_point deadline) {
  std::string answer;
  while (answer.size() <= k_max_answer_bytes) {
    std::array<char, k_max_answer_bytes> part{};
    const ssize_t count = ::read(output, part.data(), part.size());
    if (count > 0) {
      answer.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      return answer;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (answer == k_ready || left <= std::chrono::milliseconds::zero()) {
      return answer;
    }
    pollfd request{output, POLLIN, 0};
    (void)::poll(&request, 1, static_cast<int>(left.count()));
  }
  return answer;
}

// Waits for the process that was started, whose child serves. Ends it at `deadline`. Returns
// whether it ended by itself.
bool reap(pid_t process, Clock::time_point deadline) {
  int status = 0;
  while (true) {
    const pid_t known = ::waitpid(process, &status, WNOHANG);
    if (known == process || (known < 0 && errno != EINTR)) {
      return known == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (Clock::now() >= deadline) {
      break;
    }
    (void)::poll(nullptr, 0, k_milliseconds_between_looks);
  }
  ::kill(process, SIGKILL);
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return false;
}

// While it exists, orphans of this process become children of init, as those must that outlive it.
class NoAdoption {
public:
  NoAdoption() {
    int adopts = 0;
    m_adopted = ::prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0;
    worker::adopt_strays(worker::Adoption::off);
  }
  ~NoAdoption() {
    if (m_adopted) {
      worker::adopt_strays(worker::Adoption::on);
    }
  }
  NoAdoption(const NoAdoption&) = delete;
  NoAdoption& operator=(const NoAdoption&) = delete;

private:
  bool m_adopted = false;
};

} // namespace

std::optional<std::filesystem::path> find_storage_helper(const std::filesystem::path& executable,
                                                         std::string_view path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(executable, error);
  std::vector<std::filesystem::path> folders;
  if (!error) {
    folders = {real.parent_path(), real.parent_path() / "../libexec/oclcc"};
  }
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    if (folder.starts_with('/')) { // a program of the working directory may be anybody's
      folders.emplace_back(folder);
    }
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
  }
  for (const std::filesystem::path& folder : folders) {
    if (auto file = folder / k_storage_program; is_program(file)) {
      return file;
    }
  }
  return std::nullopt;
}

Result<std::filesystem::path> storage_folder(const ProcessEnvironment& environment) {
  constexpr std::string_view k_name = "oclcc-storage";
  const std::filesystem::path run = environment.variable("XDG_RUNTIME_DIR").value_or("");
  const std::filesystem::path folder = run / k_name;
  const bool fits = folder.string().size() + 1 + k_socket_digits <= k_max_socket_bytes;
  if (run.is_absolute() && fits) {
    auto found = private_folder(folder);
    if (found || found.error().code != ErrorCode::file_not_found) {
      return found;
    }
  }
  return private_folder(fmt::format("/tmp/{}-{}", k_name, ::geteuid()));
}

StorageHelper::StorageHelper(const RemoteSettings& settings, const std::filesystem::path& program,
                             const std::filesystem::path& folder,
                             const ProcessEnvironment& environment)
    : m_program(absolute_path(program)), m_settings(lines_of(settings)),
      m_socket((folder / socket_name(m_settings, m_program, environment)).string()) {}

Result<StorageClient> StorageHelper::connect(Clock::time_point deadline, const WakeUp& wake_up) {
  auto client = StorageClient::connect(m_socket, deadline, wake_up);
  if (client || client.error().code != ErrorCode::file_not_found) {
    return client;
  }
  const std::lock_guard lock(m_start);
  client =
      StorageClient::connect(m_socket, deadline, wake_up); // another thread may have started it
  if (client || client.error().code != ErrorCode::file_not_found) {
    return client;
  }
  if (!m_failure) {
    if (auto started = start(deadline); !started) {
      m_failure = std::move(started.error());
    }
  }
  if (m_failure) {
    return tl::unexpected(*m_failure);
  }
  return StorageClient::connect(m_socket, deadline, wake_up);
}

Result<void> StorageHelper::start(Clock::time_point deadline) const {
  CLBIN_TRY_ASSIGN(const FileDescriptor input, filled_pipe(m_settings));
  CLBIN_TRY_ASSIGN(Pipe output, open_pipe());
  // The ends of the helper block, as every program expects.
  (void)::fcntl(input.number(), F_SETFL, 0);
  (void)::fcntl(output.to.number(), F_SETFL, 0);
  const NoAdoption no_adoption;
  CLBIN_TRY_ASSIGN(const pid_t process,
                   spawn(m_program, m_socket, input.number(), output.to.number()));
  (void)output.to.close();
  const std::string answer = answer_of(output.from.number(), deadline);
  const bool has_succeeded = reap(process, deadline);
  if (answer == k_ready && has_succeeded) {
    return {};
  }
  const std::string line = clbin::base::printable(answer.substr(0, answer.find('\n')));
  return fail(ErrorCode::file_read, "'{}' did not start: {}", m_program.string(),
              answer == k_ready ? "it did not exit" : (line.empty() ? "it wrote nothing" : line));
}

} // namespace oclcc::remote

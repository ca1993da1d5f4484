#include "worker/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace oclcc::worker {

namespace {

constexpr std::string_view k_secret = "CLBIN_REMOTE_TOKEN=";

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The file of cgroup version 2, inside the group; "max" if there is no limit.
std::optional<std::uint64_t> control_group_limit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::uint64_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

std::optional<std::uint64_t> bytes_of_one(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  return file >> all >> resident ? std::optional(resident * page_bytes()) : std::nullopt;
}

// Limits the work if a driver starts many processes.
constexpr std::size_t k_most_descendants = 256;

// Children of the main thread, which forks in a worker. Empty if the kernel has no such file.
std::vector<pid_t> children_of(pid_t process) {
  const std::string number = std::to_string(process);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

} // namespace

bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(k_secret)) {
      variables.emplace_back(*variable);
    }
  }
  return variables;
}

void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value) {
  const std::string start = std::string(name) + "=";
  std::erase_if(variables,
                [&](const std::string& variable) { return variable.starts_with(start); });
  variables.push_back(start + std::string(value));
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<FileDescriptor> move_out_of_the_way(int number) {
  constexpr int k_first_free_file = 10; // above all fixed numbers
  const FileDescriptor original(number);
  FileDescriptor moved(number < 0 ? -1 : ::fcntl(number, F_DUPFD_CLOEXEC, k_first_free_file));
  if (!moved.is_open()) {
    return fail(ErrorCode::internal, "cannot open a file for another process: {}",
                reason_of(errno));
  }
  return moved;
}

Result<Channel> open_channel(int type) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::internal, "cannot open a channel to a process: {}", reason_of(errno));
  }
  auto own = move_out_of_the_way(ends[0]);
  auto other = move_out_of_the_way(ends[1]);
  if (!own || !other) {
    return tl::unexpected((own ? other : own).error());
  }
  return Channel{*std::move(own), *std::move(other)};
}

Spawn::Spawn(DefaultSignals signals) {
  note(::posix_spawn_file_actions_init(&m_files));
  note(::posix_spawnattr_init(&m_attributes));
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  if (signals == DefaultSignals::all) {
    ::sigfillset(&defaults);
  } else {
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGXFSZ);
  }
  note(::posix_spawnattr_setsigmask(&m_attributes, &none));
  note(::posix_spawnattr_setsigdefault(&m_attributes, &defaults));
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&m_files);
  ::posix_spawnattr_destroy(&m_attributes);
}

void Spawn::open(int number, const std::filesystem::path& path, int flags) {
  note(::posix_spawn_file_actions_addopen(&m_files, number, path.c_str(), flags, 0600));
}

void Spawn::duplicate(int number, int copy) {
  note(::posix_spawn_file_actions_adddup2(&m_files, number, copy));
}

void Spawn::close_from(int number) {
  note(::posix_spawn_file_actions_addclosefrom_np(&m_files, number));
}

void Spawn::change_folder(const std::filesystem::path& folder) {
  note(::posix_spawn_file_actions_addchdir_np(&m_files, folder.c_str()));
}

void Spawn::lead_process_group() {
  note(::posix_spawnattr_setpgroup(&m_attributes, 0));
  m_flags |= POSIX_SPAWN_SETPGROUP;
}

tl::expected<pid_t, int> Spawn::start(const std::filesystem::path& program,
                                      std::vector<std::string> words,
                                      std::vector<std::string> variables) {
  note(::posix_spawnattr_setflags(&m_attributes, static_cast<short>(m_flags)));
  int error = m_error;
  pid_t process = -1;
  if (error == 0) {
    error = ::posix_spawn(&process, program.c_str(), &m_files, &m_attributes,
                          pointers_to(words).data(), pointers_to(variables).data());
  }
  return error == 0 ? tl::expected<pid_t, int>(process) : tl::unexpected(error);
}

std::optional<int> wait_for(pid_t child) noexcept {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == child ? std::optional(status) : std::nullopt;
}

bool has_ended(pid_t child) noexcept {
  siginfo_t facts{};
  return ::waitid(P_PID, static_cast<id_t>(child), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         facts.si_pid != 0;
}

bool ends_before(std::chrono::steady_clock::time_point deadline, pid_t child) {
  constexpr std::chrono::milliseconds k_pause{2};
  while (!has_ended(child)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(k_pause);
  }
  return true;
}

std::optional<std::uint64_t> resident_bytes(pid_t process) {
  std::optional<std::uint64_t> largest = bytes_of_one(process);
  std::vector<pid_t> waiting = children_of(process);
  for (std::size_t seen = 0; !waiting.empty() && seen < k_most_descendants; ++seen) {
    const pid_t child = waiting.back();
    waiting.pop_back();
    largest = std::max(largest, bytes_of_one(child)); // std::nullopt is less than any number
    const std::vector<pid_t> further = children_of(child);
    waiting.insert(waiting.end(), further.begin(), further.end());
  }
  return largest;
}

std::optional<std::uint64_t> default_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) {
    return std::nullopt;
  }
  const std::uint64_t machine = static_cast<std::uint64_t>(pages) * page_bytes();
  return std::min(machine, control_group_limit().value_or(machine)) / 4 * 3;
}

} // namespace oclcc::worker

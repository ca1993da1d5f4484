#include "worker/spawn.hpp"
#include "worker/driver_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace oclcc::worker {

const char* const k_current_folder = "/proc/self/cwd";
const char* const k_pocl_folder = "/proc/self/cwd/pocl";
const char* const k_cache_folder = "/proc/self/cwd/cache";
const char* const k_temporary_folder = "/proc/self/cwd/tmp";
const char* const k_vendors_folder = "/proc/self/cwd/vendors";

namespace {

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

std::optional<std::uint64_t> nanoseconds_without_processor(pid_t process) {
  std::optional<std::uint64_t> longest;
  std::error_code error; // the process may end meanwhile
  std::filesystem::directory_iterator thread("/proc/" + std::to_string(process) + "/task", error);
  for (; thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat"); // proc(5)
    std::uint64_t running = 0;
    std::uint64_t waiting = 0;
    if (file >> running >> waiting) {
      longest = std::max(longest, std::optional(waiting));
    }
  }
  return longest;
}

// Returns the largest number of the process and of its descendants, of those that have one.
std::optional<std::uint64_t> largest_of(pid_t process,
                                        std::optional<std::uint64_t> (*number_of)(pid_t)) {
  std::optional<std::uint64_t> largest = number_of(process);
  std::vector<pid_t> waiting = children_of(process);
  for (std::size_t seen = 0; !waiting.empty() && seen < k_most_descendants; ++seen) {
    const pid_t child = waiting.back();
    waiting.pop_back();
    largest = std::max(largest, number_of(child)); // std::nullopt is less than any number
    const std::vector<pid_t> further = children_of(child);
    waiting.insert(waiting.end(), further.begin(), further.end());
  }
  return largest;
}

} // namespace

bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::optional<std::filesystem::path> program_in(const std::filesystem::path& folder,
                                                std::string_view name) {
  auto file = folder / name;
  return is_program(file) ? std::optional(std::move(file)) : std::nullopt;
}

void set_temporary_folder(std::vector<std::string>& variables, const std::string& folder) {
  set_variable(variables, "TMPDIR", folder);
}

void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value) {
  const std::string start = std::string(name) + "=";
  std::erase_if(variables,
                [&](const std::string& variable) { return variable.starts_with(start); });
  variables.push_back(start + std::string(value));
}

Result<FileDescriptor> move_out_of_the_way(FileDescriptor file) {
  constexpr int k_first_free_file = 10; // above all fixed numbers
  FileDescriptor moved(file.is_open() ? ::fcntl(file.number(), F_DUPFD_CLOEXEC, k_first_free_file)
                                      : -1);
  if (!moved.is_open()) {
    return fail(ErrorCode::internal, "cannot open a file for another process: {}",
                reason_of(errno));
  }
  return moved;
}

Result<FileDescriptor> create_log(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "output";
  CLBIN_TRY_ASSIGN(FileDescriptor log,
                   move_out_of_the_way(FileDescriptor(::open(
                       path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600))));
  ::unlink(path.c_str());
  return log;
}

struct Spawn::State {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  int error = 0;

  void note(int number) { error = error == 0 ? number : error; }
};

Spawn::Spawn(DefaultSignals signals) : m_state(std::make_unique<State>()) {
  m_state->note(::posix_spawn_file_actions_init(&m_state->files));
  m_state->note(::posix_spawnattr_init(&m_state->attributes));
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  if (signals == DefaultSignals::all) {
    ::sigfillset(&defaults);
  } else {
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGXFSZ);
  }
  m_state->note(::posix_spawnattr_setsigmask(&m_state->attributes, &none));
  m_state->note(::posix_spawnattr_setsigdefault(&m_state->attributes, &defaults));
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&m_state->files);
  ::posix_spawnattr_destroy(&m_state->attributes);
}

void Spawn::open_null(int number) {
  m_state->note(
      ::posix_spawn_file_actions_addopen(&m_state->files, number, "/dev/null", O_RDWR, 0));
}

void Spawn::create(int number, const std::filesystem::path& path) {
  m_state->note(::posix_spawn_file_actions_addopen(&m_state->files, number, path.c_str(),
                                                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600));
}

void Spawn::duplicate(int number, int copy) {
  m_state->note(::posix_spawn_file_actions_adddup2(&m_state->files, number, copy));
}

void Spawn::close_from(int number) {
  m_state->note(::posix_spawn_file_actions_addclosefrom_np(&m_state->files, number));
}

void Spawn::change_folder(const std::filesystem::path& folder) {
  m_state->note(::posix_spawn_file_actions_addchdir_np(&m_state->files, folder.c_str()));
}

void Spawn::lead_process_group() {
  m_state->note(::posix_spawnattr_setpgroup(&m_state->attributes, 0));
  m_state->flags |= POSIX_SPAWN_SETPGROUP;
}

tl::expected<pid_t, int> Spawn::start(const std::filesystem::path& program,
                                      std::vector<std::string> words,
                                      std::vector<std::string> variables) {
  m_state->note(
      ::posix_spawnattr_setflags(&m_state->attributes, static_cast<short>(m_state->flags)));
  int error = m_state->error;
  pid_t process = -1;
  if (error == 0) {
    error = ::posix_spawn(&process, program.c_str(), &m_state->files, &m_state->attributes,
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

ProcessEnd end_of(int status) {
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.crash = fmt::format("signal {}", WTERMSIG(status));
    end.was_killed = WTERMSIG(status) == SIGKILL;
  } else {
    end.exit_status = WEXITSTATUS(status);
  }
  return end;
}

void end_process(pid_t child) noexcept {
  ::kill(child, SIGKILL);
}

void end_group(pid_t leader) noexcept {
  ::kill(-leader, SIGKILL);
}

void bury_group(pid_t leader) noexcept {
  while (::waitpid(-leader, nullptr, 0) > 0 || errno == EINTR) {
  }
}

bool has_ended(pid_t child) noexcept {
  siginfo_t facts{};
  return ::waitid(P_PID, static_cast<id_t>(child), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         facts.si_pid != 0;
}

std::optional<std::uint64_t> resident_bytes(pid_t process) {
  return largest_of(process, bytes_of_one);
}

std::chrono::nanoseconds time_without_processor(pid_t process) {
  return std::chrono::nanoseconds(largest_of(process, nanoseconds_without_processor).value_or(0));
}

std::optional<std::uint64_t> default_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) {
    return std::nullopt;
  }
  const std::uint64_t machine = static_cast<std::uint64_t>(pages) * page_bytes();
  return std::min(machine, control_group_limit().value_or(machine)) / 4 * 3;
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? std::optional<std::uint64_t>(limit.rlim_cur) : std::nullopt;
}

} // namespace oclcc::worker

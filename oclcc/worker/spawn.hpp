// Starts processes, with the words, environment and files that each gets, and waits for them; and
// how much memory they use.
#pragma once

#include "terminal/reporter.hpp"

#include <chrono>
#include <spawn.h>

namespace oclcc::worker {

using base::paths_in;

// Whether `file` is a file that can be executed.
[[nodiscard]] bool is_program(const std::filesystem::path& file);

// Returns the variables of this process, each as NAME=VALUE, without the token of the remote cache:
// compilers, drivers and commands do not need it, and their crash reports contain their
// environment. No other thread may change the environment during the call.
[[nodiscard]] std::vector<std::string> own_environment();
// Replaces every variable of this name.
void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value);

// The signals that have their default action in a new process.
enum class DefaultSignals : std::uint8_t {
  ignored_by_main, // SIGXFSZ; what the caller of oclcc ignores stays ignored
  all,
};

// Returns pointers to the texts and a null pointer after them, as posix_spawn and exec accept them.
// The pointers are valid as long as `texts` is not changed.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

// Returns the open file `number`, with another number, which no file of a new process gets:
// otherwise, one dup2 would overwrite the source of another, if oclcc was started without standard
// streams. internal: `number` is negative, and errno has the reason, or there is no other.
[[nodiscard]] Result<base::FileDescriptor> move_out_of_the_way(int number);

// Connected sockets, for this process and another one, with such numbers.
struct Channel {
  base::FileDescriptor own;
  base::FileDescriptor other;
};
// `type` is that of socketpair. internal.
[[nodiscard]] Result<Channel> open_channel(int type);

// What a new process gets. It blocks no signal. Its files are opened in the order of the calls.
class Spawn {
public:
  explicit Spawn(DefaultSignals signals);
  ~Spawn();
  Spawn(Spawn&&) = delete; // and no copies

  // If `flags` create the file, only its owner can use it.
  void open(int number, const std::filesystem::path& path, int flags);
  void duplicate(int number, int copy);
  void close_from(int number);
  void change_folder(const std::filesystem::path& folder);
  // The process leads a process group, so that what it starts can be ended with it, and oclcc alone
  // receives the signals of the terminal.
  void lead_process_group();

  // Starts the program. `variables` are its whole environment. Returns the error of the system,
  // also if a previous call failed.
  [[nodiscard]] tl::expected<pid_t, int> start(const std::filesystem::path& program,
                                               std::vector<std::string> words,
                                               std::vector<std::string> variables);

private:
  void note(int error) { m_error = m_error == 0 ? error : m_error; }

  posix_spawn_file_actions_t m_files{};
  posix_spawnattr_t m_attributes{};
  int m_flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  int m_error = 0;
};

// Blocks until the child ends. Returns its wait status; std::nullopt if the system does not report
// it.
std::optional<int> wait_for(pid_t child) noexcept;
// Whether the child has ended, or is none. Its status can still be waited for.
[[nodiscard]] bool has_ended(pid_t child) noexcept;
// Blocks until the child ends, whose status can still be waited for, or `deadline`. Returns whether
// it has ended.
[[nodiscard]] bool ends_before(std::chrono::steady_clock::time_point deadline, pid_t child);

// Returns the resident bytes of `process` or of its largest descendant. Forks share most of their
// memory, so that a sum would count it several times. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Returns three quarters of the memory of the machine or of the control group of this process,
// which suffices for any compiler that can finish here. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();

} // namespace oclcc::worker

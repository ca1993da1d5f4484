// Starts processes, with the words, environment and files that each gets, and waits for them; and
// how much memory they use.
#pragma once

#include "base/system/socket.hpp"
#include "terminal/reporter.hpp"

#include <chrono>
#include <memory>
#include <sys/types.h>

namespace oclcc::worker {

using base::paths_in;

// Whether `file` is a file that can be executed.
[[nodiscard]] bool is_program(const std::filesystem::path& file);
// Returns the program of this name in the folder, on Windows also with ".exe" after the name.
// std::nullopt if there is none.
[[nodiscard]] std::optional<std::filesystem::path> program_in(const std::filesystem::path& folder,
                                                              std::string_view name);

// Returns the variables of this process, each as NAME=VALUE, without the token of the remote cache:
// compilers, drivers and commands do not need it, and their crash reports contain their
// environment. No other thread may change the environment during the call.
[[nodiscard]] std::vector<std::string> own_environment();
// Replaces every variable of this name.
void set_variable(std::vector<std::string>& variables, std::string_view name,
                  std::string_view value);
// Sets the variables that name the folder of temporary files.
void set_temporary_folder(std::vector<std::string>& variables, const std::string& folder);

// The signals that have their default action in a new process.
enum class DefaultSignals : std::uint8_t {
  ignored_by_main, // SIGXFSZ; what the caller of oclcc ignores stays ignored
  all,
};

// Returns pointers to the texts and a null pointer after them, as posix_spawn and exec accept them.
// The pointers are valid as long as `texts` is not changed.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

// Returns the file with another number, which no file of a new process gets: otherwise, one dup2
// would overwrite the source of another, if oclcc was started without standard streams. internal:
// there is no other number, or the file is not open, and errno has the reason.
[[nodiscard]] Result<base::FileDescriptor> move_out_of_the_way(base::FileDescriptor file);

// Connected sockets with such numbers. internal.
using Channel = base::SocketPair;
[[nodiscard]] Result<Channel> open_channel();

// Creates a file without a name in `folder`, to which processes append what they print.
[[nodiscard]] Result<base::FileDescriptor> create_log(const std::filesystem::path& folder);

// What a new process gets. It blocks no signal. Its files are opened in the order of the calls.
class Spawn {
public:
  explicit Spawn(DefaultSignals signals);
  ~Spawn();
  Spawn(Spawn&&) = delete; // and no copies

  // Opens the file that contains nothing and accepts everything.
  void open_null(int number);
  // Creates the file, or empties it, for appending. Only its owner can use it.
  void create(int number, const std::filesystem::path& path);
  void duplicate(int number, int copy);
  void close_from(int number);
  void change_folder(const std::filesystem::path& folder);
  // The process leads a process group, so that what it starts can be ended with it, and oclcc alone
  // receives the signals of the terminal. On Windows, every process has such a group, a job, which
  // the system ends with oclcc.
  void lead_process_group();

  // Starts the program. `variables` are its whole environment. Returns the error of the system,
  // also if a previous call failed.
  [[nodiscard]] tl::expected<pid_t, int> start(const std::filesystem::path& program,
                                               std::vector<std::string> words,
                                               std::vector<std::string> variables);

private:
  struct State;
  std::unique_ptr<State> m_state;
};

// A pid_t is the number of a child of this process. On Windows, it stands for its handle and its
// job, and is valid until wait_for() returns.

// Blocks until the child ends. Returns its wait status; std::nullopt if the system does not report
// it.
std::optional<int> wait_for(pid_t child) noexcept;
// What a wait status means.
struct ProcessEnd {
  int exit_status = 0;
  std::string crash;       // "signal 11"; empty if the process ended by itself
  bool was_killed = false; // by a signal that no process can handle, which the system also sends
};
[[nodiscard]] ProcessEnd end_of(int status);
// End a child, or the process group that it leads. Their statuses can still be waited for.
void end_process(pid_t child) noexcept;
void end_group(pid_t leader) noexcept;
// Waits for orphans of a group that was ended, whose parent this process has become.
void bury_group(pid_t leader) noexcept;
// Whether the child has ended, or is none. Its status can still be waited for.
[[nodiscard]] bool has_ended(pid_t child) noexcept;
// Blocks until the child ends, whose status can still be waited for, or `deadline`. Returns whether
// it has ended.
[[nodiscard]] bool ends_before(std::chrono::steady_clock::time_point deadline, pid_t child);

// Returns the resident bytes of `process` or of its largest descendant. Forks share most of their
// memory, so that a sum would count it several times. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Returns how long `process` or one of its descendants, of each the thread with the longest time,
// was ready to run and had no processor. 0 if the system does not report it.
[[nodiscard]] std::chrono::nanoseconds time_without_processor(pid_t process);

// Returns three quarters of the memory of the machine or of the control group of this process,
// which suffices for any compiler that can finish here. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();
// Returns the limit of this process's virtual memory; std::nullopt if there is none.
[[nodiscard]] std::optional<std::uint64_t> address_space_limit();

} // namespace oclcc::worker

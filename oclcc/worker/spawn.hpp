// What each process that oclcc starts is given: words, environment and settings of posix_spawn; and
// how much memory it uses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace oclcc::worker {

// Returns the paths of a list such as PATH, which colons separate, without empty ones.
[[nodiscard]] std::vector<std::filesystem::path> paths_in(std::string_view list);
// Whether `file` is a file that can be executed.
[[nodiscard]] bool is_program(const std::filesystem::path& file);

// Returns pointers to the texts and a null pointer after them, as posix_spawn and exec accept them.
// The pointers are valid as long as `texts` is not changed.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

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

// Initialized, and destroyed with the object.
struct SpawnSettings {
  SpawnSettings();
  ~SpawnSettings();
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // The process blocks no signal. Returns 0 or the error of the system.
  int restore_signals(DefaultSignals signals);
  // The process leads a process group, so that what it starts can be ended with it, and oclcc alone
  // receives the signals of the terminal. Returns 0 or the error of the system.
  int lead_process_group();

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

private:
  int add_flags(int flags);
};

// Returns the resident bytes of `process` or of its largest descendant. Forks share most of their
// memory, so that a sum would count it several times. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Returns three quarters of the memory of the machine or of the control group of this process,
// which suffices for any compiler that can finish here. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();

} // namespace oclcc::worker

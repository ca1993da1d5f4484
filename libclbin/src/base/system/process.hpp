// What a process knows of itself and of its user, its threads, its memory, and the libraries that
// it opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

namespace clbin::base {

// ---- Processes and threads
// -----------------------------------------------------------------------

[[nodiscard]] std::int64_t process_id() noexcept;
// Returns the file of the running program.
[[nodiscard]] std::filesystem::path program_file();
// Lets other programs compute before this process and those that it starts.
void lower_priority() noexcept;
// Prevents core dumps, and other processes of the user from reading the memory, if the system can.
void protect_memory() noexcept;
// Whether exit() of this thread destroys its thread-local objects before it calls a handler.
[[nodiscard]] bool is_main_thread() noexcept;
// Whether the process is ending and the system has already ended its other threads: whoever waits
// for one of them, or for a mutex that one held, waits for ever.
[[nodiscard]] bool are_other_threads_gone() noexcept;
// Starts a thread that receives no signals: signal handlers belong to the application. `work` must
// not throw. Throws std::system_error if the system cannot create a thread.
[[nodiscard]] std::thread start_background_thread(std::function<void()> work);

// ---- The user
// ------------------------------------------------------------------------------------

// Returns a variable of the environment, in UTF-8.
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);
// Returns all variables, each as NAME=VALUE. No other thread may change the environment during the
// call.
[[nodiscard]] std::vector<std::string> environment_variables();
// Replaces a variable of this process.
void set_environment_variable(const std::string& name, const std::string& value);
// What separates the paths of a list such as PATH.
[[nodiscard]] std::string_view path_separator() noexcept;
// Whether the process has rights that its user does not have (setuid, setgid, capabilities, UAC).
[[nodiscard]] bool has_rights_of_others() noexcept;
// Returns the home folder of the effective user from the system's accounts; empty if it has none.
[[nodiscard]] std::filesystem::path home_of_account();
// A variable whose folder contains caches, and the path of the cache of clbin in it.
struct CachePlace {
  const char* variable;
  const char* below;
};
// The first whose variable is set counts. The last one is below the home folder.
[[nodiscard]] std::span<const CachePlace> cache_places() noexcept;

// ---- Memory
// --------------------------------------------------------------------------------------

[[nodiscard]] std::size_t page_bytes() noexcept;
// A copy of the process that fork() makes has zeros in the place of these pages, if the system can.
void omit_in_forks(std::span<std::byte> pages) noexcept;
// As text.find(word), also fast if the first character of the word is frequent.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view word) noexcept;

// ---- Libraries
// -----------------------------------------------------------------------------------

// Returns the names by which a system may have a library, most usual first.
[[nodiscard]] std::vector<std::string> library_names(std::string_view stem,
                                                     std::string_view version);
// Opens a library of the system by its name. It is never closed: opening it again only increments
// a count. The error is the reason.
[[nodiscard]] tl::expected<void*, std::string> open_library(const std::string& name);
// Returns null if there is no such function.
[[nodiscard]] void* function_of(void* library, const char* name) noexcept;

} // namespace clbin::base

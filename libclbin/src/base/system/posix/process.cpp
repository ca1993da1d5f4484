#include "base/system/process.hpp"

#include "base/system/posix/calls.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr std::size_t k_max_account_bytes = 1U << 20U;
constexpr std::array<CachePlace, 2> k_cache_places{
    {{"XDG_CACHE_HOME", "clbin"}, {"HOME", ".cache/clbin"}}};

} // namespace

std::int64_t process_id() noexcept {
  return ::getpid();
}

std::filesystem::path program_file() {
  return "/proc/self/exe";
}

void lower_priority() noexcept {
  constexpr int k_least = 19;
  (void)::setpriority(PRIO_PROCESS, 0, k_least);
}

void protect_memory() noexcept {
  constexpr rlimit k_no_core_dump{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &k_no_core_dump);
  (void)::prctl(PR_SET_DUMPABLE, 0); // also for core dumps that the system passes to a program
}

bool is_main_thread() noexcept {
  return ::gettid() == ::getpid();
}

bool are_other_threads_gone() noexcept {
  return false;
}

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present {};
    if (::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) {
      ::sigaddset(&set, signal);
    }
  }
  return set;
}

std::thread start_background_thread(std::function<void()> work) {
  const BlockedSignals blocked(all_signals());
  return std::thread(std::move(work));
}

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> environment_variables() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

void set_environment_variable(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 1);
}

std::string_view path_separator() noexcept {
  return ":";
}

bool has_rights_of_others() noexcept {
  return ::getauxval(AT_SECURE) != 0 || ::getuid() != ::geteuid() || ::getgid() != ::getegid();
}

std::filesystem::path home_of_account() {
  std::vector<char> storage(1024);
  passwd account{};
  passwd* found = nullptr;
  while (::getpwuid_r(::geteuid(), &account, storage.data(), storage.size(), &found) == ERANGE &&
         storage.size() < k_max_account_bytes) {
    storage.resize(2 * storage.size());
  }
  return found == nullptr || found->pw_dir == nullptr ? "" : found->pw_dir;
}

std::span<const CachePlace> cache_places() noexcept {
  return k_cache_places;
}

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void omit_in_forks(std::span<std::byte> pages) noexcept {
  (void)::madvise(pages.data(), pages.size(), MADV_WIPEONFORK);
}

std::size_t find_text(std::string_view text, std::string_view word) noexcept {
  const void* found = ::memmem(text.data(), text.size(), word.data(), word.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Development packages install the second name. Some machines have only that one.
std::vector<std::string> library_names(std::string_view stem, std::string_view version) {
  const std::string name = "lib" + std::string(stem) + ".so";
  return {name + "." + std::string(version), name};
}

tl::expected<void*, std::string> open_library(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library != nullptr) {
    return library;
  }
  const char* const text = dlerror();
  return tl::unexpected(std::string(text == nullptr ? "" : text));
}

void* function_of(void* library, const char* name) noexcept {
  return dlsym(library, name);
}

} // namespace clbin::base

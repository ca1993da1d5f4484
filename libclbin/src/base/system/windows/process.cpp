#include "base/system/process.hpp"

#include "base/system/windows/names.hpp"

#include <array>
#include <cstdlib>

namespace clbin::base {

namespace {

constexpr std::array<CachePlace, 1> k_cache_places{{{"LOCALAPPDATA", "clbin/cache"}}};

} // namespace

std::int64_t process_id() noexcept {
  return ::GetCurrentProcessId();
}

std::filesystem::path program_file() {
  std::wstring name(MAX_PATH, L'\0');
  DWORD size = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  while (size == name.size()) { // it was cut off
    name.resize(2 * name.size());
    size = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  }
  name.resize(size);
  return name;
}

void lower_priority() noexcept {
  ::SetPriorityClass(::GetCurrentProcess(), IDLE_PRIORITY_CLASS); // which children inherit
}

void protect_memory() noexcept {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX); // no report with the memory
}

// On Windows, exit() first calls the handlers.
bool is_main_thread() noexcept {
  return false;
}

// The system ends them before it tells a DLL that the process ends.
bool are_other_threads_gone() noexcept {
  const auto is_ending =
      windows::function_of_system<BOOLEAN(WINAPI*)()>("RtlDllShutdownInProgress");
  return is_ending != nullptr && is_ending() != 0;
}

// Windows calls handlers in threads of its own.
std::thread start_background_thread(std::function<void()> work) {
  return std::thread(std::move(work));
}

std::optional<std::string> environment_variable(const char* name) {
  const std::wstring wide = windows::to_wide(name);
  std::wstring value(256, L'\0');
  while (true) {
    ::SetLastError(ERROR_SUCCESS);
    const DWORD size =
        ::GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (size == 0 && ::GetLastError() == ERROR_ENVVAR_NOT_FOUND) {
      return std::nullopt;
    }
    const bool is_whole = size < value.size();
    value.resize(size);
    if (is_whole) {
      return windows::to_utf8(value);
    }
  }
}

std::vector<std::string> environment_variables() {
  std::vector<std::string> variables;
  wchar_t* const all = ::GetEnvironmentStringsW();
  for (const wchar_t* next = all; next != nullptr && *next != L'\0';) {
    const std::wstring_view variable = next;
    next += variable.size() + 1;
    if (!variable.starts_with(L'=')) { // the working directory of a drive
      variables.push_back(windows::to_utf8(variable));
    }
  }
  ::FreeEnvironmentStringsW(all);
  return variables;
}

void set_environment_variable(const std::string& name, const std::string& value) {
  (void)::SetEnvironmentVariableW(windows::to_wide(name).c_str(), windows::to_wide(value).c_str());
  (void)::_wputenv_s(windows::to_wide(name).c_str(), windows::to_wide(value).c_str()); // of the CRT
}

std::string_view path_separator() noexcept {
  return ";";
}

// An administrator's programs have the rights of a usual user, who owns the same files, until one
// is started "as administrator". Wine gives all of them the rights of an administrator.
bool has_rights_of_others() noexcept {
  HANDLE token = nullptr;
  if (windows::function_of_system<void*>("wine_get_version") != nullptr ||
      ::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token) == 0) {
    return false;
  }
  TOKEN_ELEVATION_TYPE type = TokenElevationTypeDefault;
  DWORD size = 0;
  const bool is_known =
      ::GetTokenInformation(token, TokenElevationType, &type, sizeof type, &size) != 0;
  ::CloseHandle(token);
  return is_known && type == TokenElevationTypeFull;
}

std::filesystem::path home_of_account() {
  return {};
}

std::span<const CachePlace> cache_places() noexcept {
  return k_cache_places;
}

std::size_t page_bytes() noexcept {
  SYSTEM_INFO system{};
  ::GetSystemInfo(&system);
  return system.dwPageSize;
}

void omit_in_forks(std::span<std::byte> /*pages*/) noexcept {} // there are none

std::size_t find_text(std::string_view text, std::string_view word) noexcept {
  return text.find(word);
}

std::vector<std::string> library_names(std::string_view stem, std::string_view /*version*/) {
  return {std::string(stem) + ".dll"};
}

tl::expected<void*, std::string> open_library(const std::string& name) {
  const std::wstring wide = windows::to_wide(name);
  // Not beside the program, nor in the working directory, where a file can be anyone's.
  HMODULE library = ::LoadLibraryExW(wide.c_str(), nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == nullptr) {
    const DWORD error = ::GetLastError();
    return tl::unexpected(error == ERROR_MOD_NOT_FOUND
                              ? fmt::format("there is no {} in the folder of the system; drivers "
                                            "of devices install it",
                                            name)
                              : fmt::format("{}: error {}", name, error));
  }
  (void)::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                             reinterpret_cast<const wchar_t*>(library), &library);
  return reinterpret_cast<void*>(library);
}

void* function_of(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(library), name));
}

} // namespace clbin::base

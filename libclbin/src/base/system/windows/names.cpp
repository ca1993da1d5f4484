#include "base/system/windows/names.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <io.h>
#include <sddl.h>

namespace clbin::base {

namespace {

constexpr std::wstring_view k_prefix = LR"(\\?\)";
constexpr std::wstring_view k_device_prefix = LR"(\\.\)";
constexpr std::wstring_view k_unc_prefix = LR"(\\?\UNC\)";
constexpr int k_max_rename_attempts = 100;
constexpr DWORD k_rename_pause_ms = 10;
constexpr std::string_view k_aside_suffix = ".new"; // as of the cache's own temporary files
constexpr std::wstring_view k_forbidden = L"<>:\"|?*";

// The headers of MinGW-w64 have no names for these.
constexpr auto k_rename_info_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr auto k_disposition_info_ex = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
constexpr DWORD k_replace_with_posix_semantics = 0x1 | 0x2;
constexpr DWORD k_delete_with_posix_semantics = 0x1 | 0x2 | 0x10; // also if it is read-only

struct KnownError {
  DWORD of_windows;
  int of_c;
};
constexpr std::array<KnownError, 27> k_errors{{
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_NOT_READY, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_INVALID_NAME, EINVAL},
    {ERROR_BAD_PATHNAME, EINVAL},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_PRIVILEGE_NOT_HELD, EACCES},
    {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EACCES},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_DELETE_PENDING, EBUSY},
    {ERROR_BUSY, EBUSY},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
}};

bool is_device_name(std::wstring part) {
  part = part.substr(0, part.find_first_of(L".:"));
  part.erase(part.find_last_not_of(L' ') + 1);
  std::ranges::transform(part, part.begin(), [](wchar_t c) {
    return c >= L'a' && c <= L'z' ? static_cast<wchar_t>(c - L'a' + L'A') : c;
  });
  if (part == L"CON" || part == L"PRN" || part == L"AUX" || part == L"NUL" || part == L"CONIN$" ||
      part == L"CONOUT$") {
    return true;
  }
  constexpr std::wstring_view k_digits = L"0123456789\u00b9\u00b2\u00b3";
  return part.size() == 4 && (part.starts_with(L"COM") || part.starts_with(L"LPT")) &&
         k_digits.find(part[3]) != std::wstring_view::npos;
}

std::string why_no_part(const std::wstring& part) {
  const std::string shown = windows::to_utf8(part);
  if (is_device_name(part)) {
    return fmt::format("Windows reserves the name '{}' for a device", shown);
  }
  const auto forbidden = std::ranges::find_if(
      part, [](wchar_t c) { return c < L' ' || k_forbidden.find(c) != std::wstring_view::npos; });
  if (forbidden != part.end()) {
    return *forbidden < L' '
               ? "a name on Windows has no control characters"
               : fmt::format("a name on Windows has no '{}'", windows::to_utf8({&*forbidden, 1}));
  }
  const bool is_dots = part == L"." || part == L"..";
  return !is_dots && (part.ends_with(L'.') || part.ends_with(L' '))
             ? "a name on Windows does not end with a dot or a space"
             : "";
}

// What a rename on a handle takes: FILE_RENAME_INFO with the name behind it.
Bytes rename_request(const std::wstring& to) {
  const std::size_t name_bytes = to.size() * sizeof(wchar_t);
  Bytes request(sizeof(FILE_RENAME_INFO) + name_bytes);
  auto* const info = reinterpret_cast<FILE_RENAME_INFO*>(request.data());
  std::memcpy(request.data(), &k_replace_with_posix_semantics, sizeof(DWORD)); // the flags
  info->FileNameLength = static_cast<DWORD>(name_bytes);
  std::copy(to.begin(), to.end(), info->FileName);
  return request;
}

// Returns the number of the user of this process, as text; empty if it is unknown.
std::wstring user_text() {
  HANDLE token = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token) == 0) {
    return {};
  }
  alignas(TOKEN_USER) std::array<std::byte, 256> user{};
  DWORD size = 0;
  wchar_t* text = nullptr;
  std::wstring found;
  if (::GetTokenInformation(token, TokenUser, user.data(), user.size(), &size) != 0 &&
      ::ConvertSidToStringSidW(reinterpret_cast<TOKEN_USER*>(user.data())->User.Sid, &text) != 0) {
    found = text;
    ::LocalFree(text);
  }
  ::CloseHandle(token);
  return found;
}

} // namespace

namespace windows {

std::wstring to_wide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(
      static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)),
      L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string to_utf8(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  std::string narrow(static_cast<std::size_t>(::WideCharToMultiByte(CP_UTF8, 0, text.data(), size,
                                                                    nullptr, 0, nullptr, nullptr)),
                     '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrow.data(),
                        static_cast<int>(narrow.size()), nullptr, nullptr);
  return narrow;
}

std::wstring full_name(const std::filesystem::path& path) {
  std::wstring name = path.native();
  if (name.starts_with(k_prefix) || name.starts_with(k_device_prefix)) {
    return name;
  }
  const DWORD needed = ::GetFullPathNameW(name.c_str(), 0, nullptr, nullptr);
  std::wstring full(needed, L'\0');
  full.resize(::GetFullPathNameW(name.c_str(), needed, full.data(), nullptr));
  if (full.empty() || full.starts_with(k_device_prefix)) {
    return full;
  }
  return full.starts_with(LR"(\\)") ? std::wstring(k_unc_prefix) + full.substr(2)
                                    : std::wstring(k_prefix) + full;
}

int errno_of(DWORD error) noexcept {
  const auto known = std::ranges::find(k_errors, error, &KnownError::of_windows);
  return known == k_errors.end() ? EIO : known->of_c;
}

// CreateFileW says of a file that is being removed that access is denied; only the status of the
// call below it differs.
tl::unexpected<int> last_error() noexcept {
  constexpr LONG k_delete_pending = static_cast<LONG>(0xC0000056);
  const DWORD error = ::GetLastError();
  const auto last_status = function_of_system<LONG(WINAPI*)()>("RtlGetLastNtStatus");
  const bool is_being_removed =
      error == ERROR_ACCESS_DENIED && last_status != nullptr && last_status() == k_delete_pending;
  return tl::unexpected(errno_of(is_being_removed ? ERROR_DELETE_PENDING : error));
}

bool is_link_or_device(DWORD reparse_tag) noexcept {
  constexpr std::array<DWORD, 4> k_devices{0x80000023, 0x80000024, 0x80000025,
                                           0x80000026}; // sockets, pipes and devices of WSL
  return IsReparseTagNameSurrogate(reparse_tag) ||
         std::ranges::find(k_devices, reparse_tag) != k_devices.end();
}

SystemResult<FileDescriptor> open_named(const std::wstring& name,
                                        const OpenRequest& request) noexcept {
  HANDLE const handle =
      ::CreateFileW(name.c_str(), request.access, request.sharing, nullptr, request.creation,
                    request.flags | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, nullptr);
  return handle == INVALID_HANDLE_VALUE ? last_error() : to_descriptor(handle);
}

SystemResult<FileDescriptor> to_descriptor(HANDLE handle) noexcept {
  const int number =
      ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
  if (number < 0) {
    ::CloseHandle(handle);
    return tl::unexpected(EMFILE);
  }
  return FileDescriptor(number);
}

HANDLE handle_of(int number) noexcept {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(number));
}

namespace {

// Where a file that is open cannot be replaced, it can be renamed. For a moment, `to` is missing.
int replace_open(const std::wstring& from, const std::wstring& to) noexcept {
  const DWORD attributes = ::GetFileAttributesW(to.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return EISDIR;
  }
  const std::wstring aside = to + to_wide(unused_name(".", k_aside_suffix));
  if (::MoveFileExW(to.c_str(), aside.c_str(), 0) == 0) {
    return errno_of(::GetLastError());
  }
  const int error_number =
      ::MoveFileExW(from.c_str(), to.c_str(), 0) != 0 ? 0 : errno_of(::GetLastError());
  if (error_number == 0 || ::MoveFileExW(aside.c_str(), to.c_str(), 0) == 0) {
    (void)remove(aside);
  }
  return error_number;
}

// Whether others, who replace the same file, were faster.
bool was_overtaken(int error_number) noexcept {
  return error_number == EACCES || error_number == EEXIST || error_number == ENOENT ||
         error_number == EBUSY;
}

} // namespace

int rename(const std::wstring& from, const std::wstring& to) noexcept {
  {
    const auto file = open_named(from, {DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT});
    Bytes request = rename_request(to);
    if (file &&
        ::SetFileInformationByHandle(handle_of(file->number()), k_rename_info_ex, request.data(),
                                     static_cast<DWORD>(request.size())) != 0) {
      return 0;
    }
    if (!file && file.error() != EACCES) {
      return file.error();
    }
  }
  int error_number = EACCES;
  for (int attempt = 0; attempt < k_max_rename_attempts && was_overtaken(error_number); ++attempt) {
    if (::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) {
      return 0;
    }
    error_number = errno_of(::GetLastError());
    error_number = error_number == EACCES ? replace_open(from, to) : error_number;
    ::Sleep(error_number == 0 ? 0 : k_rename_pause_ms); // for who reads every new file
  }
  return error_number;
}

int remove(const std::wstring& name) noexcept {
  {
    const auto file = open_named(
        name, {DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS});
    DWORD flags = k_delete_with_posix_semantics;
    if (!file) {
      return file.error();
    }
    if (::SetFileInformationByHandle(handle_of(file->number()), k_disposition_info_ex, &flags,
                                     sizeof flags) != 0) {
      return 0;
    }
  }
  return ::DeleteFileW(name.c_str()) != 0 || ::RemoveDirectoryW(name.c_str()) != 0
             ? 0
             : errno_of(::GetLastError());
}

namespace {

// Calls `create` with the rights of a file or folder: protected, nothing is inherited. Full access,
// also to what is created inside, for this user, the system and administrators. Returns 0 or an
// errno.
template <typename Create>
int with_own_rights(const wchar_t* inside, const Create& create) noexcept {
  const std::wstring who = L";FA;;;";
  const std::wstring start = std::wstring(L"(A;") + inside + who;
  const std::wstring rights = L"D:P" + start + user_text() + L")" + start + L"SY)" + start + L"BA)";
  SECURITY_ATTRIBUTES security{sizeof(SECURITY_ATTRIBUTES), nullptr, FALSE};
  if (::ConvertStringSecurityDescriptorToSecurityDescriptorW(
          rights.c_str(), SDDL_REVISION_1, &security.lpSecurityDescriptor, nullptr) == 0) {
    return errno_of(::GetLastError());
  }
  const int error_number = create(security) ? 0 : errno_of(::GetLastError());
  ::LocalFree(security.lpSecurityDescriptor);
  return error_number;
}

} // namespace

SystemResult<FileDescriptor> create_private_file(const std::wstring& name) noexcept {
  HANDLE file = INVALID_HANDLE_VALUE;
  const int error_number = with_own_rights(L"", [&](SECURITY_ATTRIBUTES& security) {
    file = ::CreateFileW(name.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                         &security, CREATE_NEW, k_new_file, nullptr);
    return file != INVALID_HANDLE_VALUE;
  });
  return error_number == 0 ? to_descriptor(file) : tl::unexpected(error_number);
}

int create_folder(const std::wstring& name) noexcept {
  return with_own_rights(L"OICI", [&](SECURITY_ATTRIBUTES& security) {
    return ::CreateDirectoryW(name.c_str(), &security) != 0;
  });
}

std::string unused_name(std::string_view prefix, std::string_view suffix) {
  static std::atomic<std::uint64_t> counter{0};
  return fmt::format("{}{:x}-{:x}-{:x}{}", prefix, ::GetCurrentProcessId(), ::GetTickCount64(),
                     counter.fetch_add(1), suffix);
}

} // namespace windows

std::filesystem::path to_path(std::string_view name) {
  return windows::to_wide(name);
}

std::string name_of(const std::filesystem::path& path) {
  return windows::to_utf8(path.native());
}

std::string generic_name_of(const std::filesystem::path& path) {
  return windows::to_utf8(path.generic_wstring());
}

std::string why_no_file_name(const std::filesystem::path& path) {
  if (path.native().starts_with(k_prefix)) {
    return {}; // the caller wants a name that Windows does not interpret
  }
  if (path.has_root_name() && !path.has_root_directory()) {
    return "a name on Windows has no ':' but after the letter of a drive and before a '\\'";
  }
  for (const std::filesystem::path& part : path.relative_path()) {
    if (std::string reason = why_no_part(part.native()); !reason.empty()) {
      return reason;
    }
  }
  return windows::full_name(path).starts_with(k_device_prefix) ? "it names a device"
                                                               : std::string();
}

} // namespace clbin::base

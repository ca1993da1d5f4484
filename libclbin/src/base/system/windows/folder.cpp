#include "base/system/folder.hpp"

#include "base/file_io.hpp"
#include "base/system/windows/names.hpp"

#include <aclapi.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <sddl.h>

namespace clbin::base {

using windows::errno_of;
using windows::handle_of;
using windows::last_error;
using windows::open_named;
using TimePoint = std::chrono::system_clock::time_point;

namespace {

// Who may write attributes can make a link of an empty folder.
constexpr DWORD k_write_rights = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_ATTRIBUTES |
                                 FILE_WRITE_EA | FILE_DELETE_CHILD | DELETE | WRITE_DAC |
                                 WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
constexpr DWORD k_all_rights = FILE_READ_DATA | GENERIC_READ | k_write_rights;
constexpr std::int64_t k_ticks_to_1970 = 116444736000000000; // of 100 ns, from 1601
// A lock excludes readers from the bytes that it covers, so these are none of the file.
constexpr DWORD k_locked_offset_high = 0x40000000;

std::string text_of(PSID account) {
  wchar_t* text = nullptr;
  if (::ConvertSidToStringSidW(account, &text) == 0) {
    return "unknown";
  }
  std::string found = windows::to_utf8(text);
  ::LocalFree(text);
  return found;
}

bool is_user_of_process(PSID account) noexcept {
  HANDLE token = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token) == 0) {
    return false;
  }
  alignas(TOKEN_USER) std::array<std::byte, 256> user{};
  DWORD size = 0;
  const bool is_same =
      ::GetTokenInformation(token, TokenUser, user.data(), user.size(), &size) != 0 &&
      ::EqualSid(account, reinterpret_cast<TOKEN_USER*>(user.data())->User.Sid) != 0;
  ::CloseHandle(token);
  return is_same;
}

// Administrators and the system can change everything anyway. "Creator owner" and "owner rights"
// mean the owner.
bool is_trusted(PSID account) noexcept {
  constexpr std::array k_known{WinBuiltinAdministratorsSid, WinLocalSystemSid, WinCreatorOwnerSid,
                               WinCreatorOwnerRightsSid};
  return is_user_of_process(account) || std::ranges::any_of(k_known, [account](auto known) {
           return ::IsWellKnownSid(account, known) != 0;
         });
}

// Returns who besides the trusted has one of the rights, according to one entry of an access list;
// empty if nobody has.
std::string user_of(const ACE_HEADER& entry, DWORD rights) {
  if ((entry.AceFlags & INHERIT_ONLY_ACE) != 0) {
    return {}; // concerns what will be created inside, which is examined when it is read
  }
  switch (entry.AceType) {
  case ACCESS_DENIED_ACE_TYPE:
  case ACCESS_DENIED_CALLBACK_ACE_TYPE:
  case ACCESS_DENIED_OBJECT_ACE_TYPE:
  case SYSTEM_MANDATORY_LABEL_ACE_TYPE:
    return {};
  case ACCESS_ALLOWED_ACE_TYPE:
  case ACCESS_ALLOWED_CALLBACK_ACE_TYPE: {
    const auto& allowed = reinterpret_cast<const ACCESS_ALLOWED_ACE&>(entry);
    PSID const account = const_cast<DWORD*>(&allowed.SidStart);
    return (allowed.Mask & rights) == 0 || is_trusted(account) ? std::string() : text_of(account);
  }
  default:
    return fmt::format("an entry of kind {}", entry.AceType);
  }
}

// Returns who besides the trusted has one of the rights; empty if nobody has.
std::string user_of(ACL* list, DWORD rights) {
  std::string user;
  for (DWORD i = 0; i < list->AceCount && user.empty(); ++i) {
    void* entry = nullptr;
    user = ::GetAce(list, i, &entry) != 0 ? user_of(*static_cast<const ACE_HEADER*>(entry), rights)
                                          : "an unknown entry";
  }
  return user;
}

std::string why_not_ours(PSID owner, ACL* list) {
  if (owner == nullptr || !is_trusted(owner)) {
    return fmt::format("it belongs to another user ({})",
                       owner == nullptr ? "unknown" : text_of(owner));
  }
  if (list == nullptr) {
    return "other users may write to it (it has no access list)";
  }
  const std::string writer = user_of(list, k_write_rights);
  return writer.empty() ? "" : fmt::format("other users may write to it ({})", writer);
}

std::string why_not_ours(HANDLE file) {
  PSID owner = nullptr;
  ACL* list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD error = ::GetSecurityInfo(file, SE_FILE_OBJECT,
                                        OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                        &owner, nullptr, &list, nullptr, &descriptor);
  if (error != ERROR_SUCCESS) {
    return fmt::format("who may write to it is unknown (error {})", error);
  }
  std::string reason = why_not_ours(owner, list);
  ::LocalFree(descriptor);
  return reason;
}

FILETIME to_windows_time(TimePoint time) noexcept {
  const auto ticks = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count() / 100 +
      k_ticks_to_1970);
  return {static_cast<DWORD>(ticks), static_cast<DWORD>(ticks >> 32U)};
}

// Without FILE_SHARE_DELETE, so that neither the folder nor one above it can be renamed or removed
// while it is open, and its full name leads to it.
SystemResult<FileDescriptor> open_folder(const std::wstring& name, DWORD flags) noexcept {
  auto folder = open_named(name, {GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE});
  if (!folder) {
    return folder;
  }
  const auto status = status_of(folder->number());
  if (!status || status->kind != FileKind::folder) {
    return tl::unexpected(status ? ENOTDIR : status.error());
  }
  return folder;
}

// Of a file that was opened with FILE_FLAG_OPEN_REPARSE_POINT.
bool is_stored_elsewhere(int number) noexcept {
  FILE_ATTRIBUTE_TAG_INFO tag{};
  return ::GetFileInformationByHandleEx(handle_of(number), FileAttributeTagInfo, &tag,
                                        sizeof tag) != 0 &&
         (tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         !windows::is_link_or_device(tag.ReparseTag);
}

// Returns 0, also if there is one, or an errno.
int make_folder(const std::wstring& name) noexcept {
  const int error_number = windows::create_folder(name);
  return error_number == EEXIST ? 0 : error_number;
}

// Returns the name of an open folder, in which no part is a link.
SystemResult<std::wstring> name_of_open(int folder) {
  HANDLE const handle = handle_of(folder);
  std::wstring name(::GetFinalPathNameByHandleW(handle, nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
  const DWORD size = ::GetFinalPathNameByHandleW(
      handle, name.data(), static_cast<DWORD>(name.size()), FILE_NAME_NORMALIZED);
  if (size == 0 || size >= name.size()) {
    return last_error();
  }
  name.resize(size);
  return name;
}

} // namespace

SystemResult<OwnedStatus> owned_status_of(int number) {
  return base::status_of(number).map([number](const FileStatus& status) {
    HANDLE const file = handle_of(number);
    FILE_BASIC_INFO attributes{};
    const bool is_read_only =
        ::GetFileInformationByHandleEx(file, FileBasicInfo, &attributes, sizeof attributes) != 0 &&
        status.kind != FileKind::folder &&
        (attributes.FileAttributes & FILE_ATTRIBUTE_READONLY) != 0;
    return OwnedStatus{status, why_not_ours(file), is_read_only ? "it is read-only" : ""};
  });
}

SystemResult<OpenFolder> OpenFolder::open(const std::filesystem::path& path) {
  auto folder = open_folder(windows::full_name(path), 0);
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  return name_of_open(folder->number()).map([&](const std::wstring& name) {
    return OpenFolder(*std::move(folder), name);
  });
}

int OpenFolder::create(const std::filesystem::path& path) {
  const int error_number = make_folder(windows::full_name(path));
  const auto parent = path.parent_path();
  if (error_number != ENOENT || parent.empty() || parent == path) {
    return error_number;
  }
  const int of_parent = create(parent);
  return of_parent == 0 ? make_folder(windows::full_name(path)) : of_parent;
}

SystemResult<OpenFolder> OpenFolder::open_inside(const std::string& name) const {
  auto path = m_path / to_path(name);
  return open_folder(path.native(), FILE_FLAG_OPEN_REPARSE_POINT).map([&](FileDescriptor folder) {
    return OpenFolder(std::move(folder), std::move(path));
  });
}

int OpenFolder::create_inside(const std::string& name) const noexcept {
  return make_folder((m_path / to_path(name)).native());
}

SystemResult<FileDescriptor> OpenFolder::open_file(const std::string& name,
                                                   FileUse use) const noexcept {
  windows::OpenRequest request{GENERIC_READ, OPEN_EXISTING,
                               FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS};
  if (use == FileUse::create) {
    request = {GENERIC_WRITE, CREATE_NEW, windows::k_new_file};
  } else if (use == FileUse::lock) {
    request = {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT};
  }
  auto file = open_named((m_path / to_path(name)).native(), request);
  if (file && use == FileUse::read && is_stored_elsewhere(file->number())) {
    request.flags = FILE_FLAG_BACKUP_SEMANTICS; // the file, not what stands in its place
    file = open_named((m_path / to_path(name)).native(), request);
  }
  // A file that was removed keeps its name while it is open, if the file system can do no better.
  if (!file && file.error() == EBUSY && use == FileUse::read) {
    return tl::unexpected(ENOENT);
  }
  return file;
}

SystemResult<OwnedStatus> OpenFolder::status_of(const std::string& name) const {
  const std::wstring path = (m_path / to_path(name)).native();
  constexpr DWORD k_flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
  const auto file = open_named(path, {FILE_READ_ATTRIBUTES | READ_CONTROL, OPEN_EXISTING, k_flags});
  return file.and_then([](const auto& opened) { return owned_status_of(opened.number()); });
}

int OpenFolder::rename(const std::string& from, const std::string& to) const noexcept {
  return windows::rename((m_path / to_path(from)).native(), (m_path / to_path(to)).native());
}

void OpenFolder::remove(const std::string& name) const noexcept {
  (void)windows::remove((m_path / to_path(name)).native());
}

void OpenFolder::set_modified(const std::string& name, TimePoint time) const noexcept {
  const auto file =
      open_named((m_path / to_path(name)).native(),
                 {FILE_WRITE_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT});
  if (file) {
    base::set_modified(file->number(), time);
  }
}

std::vector<std::string> OpenFolder::list_names() const {
  std::vector<std::string> names;
  WIN32_FIND_DATAW item{};
  HANDLE const listing = ::FindFirstFileW((m_path / L"*").c_str(), &item);
  if (listing == INVALID_HANDLE_VALUE) {
    return names;
  }
  do {
    const std::wstring_view name = item.cFileName;
    if (name != L"." && name != L"..") {
      names.push_back(windows::to_utf8(name));
    }
  } while (::FindNextFileW(listing, &item) != 0);
  ::FindClose(listing);
  return names;
}

void set_modified(int number, TimePoint time) noexcept {
  const FILETIME modified = to_windows_time(time);
  (void)::SetFileTime(handle_of(number), nullptr, nullptr, &modified);
}

int write_from_start(int number, ByteView bytes) noexcept {
  const int error_number = seek(number, 0);
  return error_number != 0 ? error_number : write_all_without_signals(number, bytes);
}

int truncate(int number, std::uint64_t size_bytes) noexcept {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(size_bytes);
  return ::SetFileInformationByHandle(handle_of(number), FileEndOfFileInfo, &end, sizeof end) != 0
             ? 0
             : errno_of(::GetLastError());
}

SystemResult<bool> try_lock(int number) noexcept {
  OVERLAPPED place{};
  place.OffsetHigh = k_locked_offset_high;
  if (::LockFileEx(handle_of(number), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                   &place) != 0) {
    return true;
  }
  const DWORD error = ::GetLastError();
  return error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING
             ? SystemResult<bool>(false)
             : tl::unexpected(errno_of(error));
}

// A folder has no lock: a file in it that one process can open at a time.
FileDescriptor lock_folder(const std::filesystem::path& path) noexcept {
  constexpr DWORD k_pause_ms = 5;
  constexpr int k_max_denials = 100;
  const std::wstring name = windows::full_name(path / ".clbin-lock");
  for (int denials = 0; denials < k_max_denials;) {
    auto file = open_named(name, {GENERIC_WRITE | DELETE, OPEN_ALWAYS,
                                  FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT, 0});
    if (file) {
      return *std::move(file);
    }
    if (file.error() != EBUSY && file.error() != EACCES) {
      break;
    }
    // Denied: another process is removing it, or the folder cannot be written.
    denials += file.error() == EACCES ? 1 : 0;
    ::Sleep(k_pause_ms);
  }
  return {};
}

void unlock(int number) noexcept {
  OVERLAPPED place{};
  place.OffsetHigh = k_locked_offset_high;
  (void)::UnlockFileEx(handle_of(number), 0, 1, 0, &place);
}

std::optional<std::string> warning_of_readers(const std::filesystem::path& path) {
  const auto file = open_named(windows::full_name(path), {READ_CONTROL, OPEN_EXISTING, 0});
  ACL* list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (!file ||
      ::GetSecurityInfo(handle_of(file->number()), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                        nullptr, nullptr, &list, nullptr, &descriptor) != ERROR_SUCCESS) {
    return std::nullopt;
  }
  const std::string user = list == nullptr ? "it has none" : user_of(list, k_all_rights);
  ::LocalFree(descriptor);
  return user.empty() ? std::nullopt
                      : std::optional(fmt::format(
                            "{} is secret, but its access list lets others open it ({})",
                            in_quotes(path), user));
}

} // namespace clbin::base

#include "base/system/files.hpp"

#include "base/system/windows/names.hpp"

#include <algorithm>
#include <cerrno>
#include <io.h>

namespace clbin::base {

using windows::errno_of;
using windows::handle_of;
using windows::last_error;

namespace {

constexpr std::int64_t k_seconds_to_1970 = 11644473600; // from 1601
constexpr std::int64_t k_ticks_per_second = 10'000'000;
FileTime to_file_time(std::int64_t ticks) noexcept {
  return {ticks / k_ticks_per_second - k_seconds_to_1970, ticks % k_ticks_per_second * 100};
}

std::uint64_t joined(DWORD high, DWORD low) noexcept {
  return (std::uint64_t{high} << 32U) | low;
}

// Where a call on a handle reads or writes.
OVERLAPPED place_at(std::uint64_t offset) noexcept {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32U);
  return place;
}

SystemResult<std::size_t> read_once(int number, std::span<std::byte> bytes,
                                    OVERLAPPED* place) noexcept {
  DWORD got = 0;
  const auto size = static_cast<DWORD>(std::min(bytes.size(), k_max_io_bytes));
  if (::ReadFile(handle_of(number), bytes.data(), size, &got, place) != 0) {
    return got;
  }
  const DWORD error = ::GetLastError();
  return error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE ? SystemResult<std::size_t>(0)
                                                                 : tl::unexpected(errno_of(error));
}

} // namespace

int FileDescriptor::close() noexcept {
  const int number = std::exchange(m_number, k_none);
  return number < 0 || m_close_at_end == CloseAtEnd::no || ::_close(number) == 0 ? 0 : errno;
}

SystemResult<FileStatus> status_of(int number) noexcept {
  HANDLE const handle = handle_of(number);
  if (handle == INVALID_HANDLE_VALUE) {
    return tl::unexpected(EBADF);
  }
  BY_HANDLE_FILE_INFORMATION file{};
  if (::GetFileType(handle) != FILE_TYPE_DISK) {
    return FileStatus();
  }
  FILE_BASIC_INFO times{};
  FILE_STANDARD_INFO standard{};
  FILE_ATTRIBUTE_TAG_INFO tag{};
  if (::GetFileInformationByHandle(handle, &file) == 0 ||
      ::GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times) == 0 ||
      ::GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard) == 0 ||
      ::GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag) == 0) {
    return last_error();
  }
  const DWORD attributes = file.dwFileAttributes;
  const bool is_special = (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
                          windows::is_link_or_device(tag.ReparseTag);
  return FileStatus{is_special                                     ? FileKind::other
                    : (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileKind::folder
                                                                   : FileKind::regular,
                    joined(file.nFileSizeHigh, file.nFileSizeLow),
                    file.dwVolumeSerialNumber,
                    joined(file.nFileIndexHigh, file.nFileIndexLow),
                    to_file_time(times.LastWriteTime.QuadPart),
                    to_file_time(times.ChangeTime.QuadPart),
                    standard.DeletePending != 0 || file.nNumberOfLinks == 0};
}

SystemResult<FileStatus> status_of(const std::filesystem::path& path) noexcept {
  const auto file = windows::open_named(
      windows::full_name(path), {FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS});
  return file ? status_of(file->number()) : tl::unexpected(file.error());
}

SystemResult<FileDescriptor> open_to_read(const std::filesystem::path& path,
                                          MissingWriter /*missing_writer*/) noexcept {
  // FILE_FLAG_BACKUP_SEMANTICS opens folders, too, which callers name in their errors.
  return windows::open_named(windows::full_name(path),
                             {GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS});
}

SystemResult<std::size_t> read_some(int number, std::span<std::byte> bytes) noexcept {
  const auto got = read_once(number, bytes, nullptr);
  const auto status = got ? SystemResult<FileStatus>() : status_of(number);
  return status && status->kind == FileKind::folder ? tl::unexpected(EISDIR) : got;
}

SystemResult<std::size_t> read_at(int number, std::uint64_t offset,
                                  std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    OVERLAPPED place = place_at(offset + done);
    const auto got = read_once(number, bytes.subspan(done), &place);
    if (!got) {
      return got;
    }
    if (*got == 0) {
      break;
    }
    done += *got;
  }
  return done;
}

SystemResult<FileDescriptor> create_file(const std::filesystem::path& path,
                                         FileUsers users) noexcept {
  const std::wstring name = windows::full_name(path);
  return users == FileUsers::owner
             ? windows::create_private_file(name)
             : windows::open_named(name, {GENERIC_WRITE, CREATE_NEW, windows::k_new_file});
}

int flush(int number) noexcept {
  return ::FlushFileBuffers(handle_of(number)) != 0 ? 0 : errno_of(::GetLastError());
}

int seek(int number, std::uint64_t offset) noexcept {
  LARGE_INTEGER start{};
  start.QuadPart = static_cast<LONGLONG>(offset);
  return ::SetFilePointerEx(handle_of(number), start, nullptr, FILE_BEGIN) != 0
             ? 0
             : errno_of(::GetLastError());
}

int write_all(int number, ByteView bytes) noexcept {
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto size = static_cast<DWORD>(std::min(bytes.size(), k_max_io_bytes));
    if (::WriteFile(handle_of(number), bytes.data(), size, &written, nullptr) == 0) {
      return errno_of(::GetLastError());
    }
    if (written == 0) {
      return EIO; // avoids an endless loop on a device that accepts no bytes and reports no error
    }
    bytes = bytes.subspan(written);
  }
  return 0;
}

int write_all_without_signals(int number, ByteView bytes) noexcept {
  return write_all(number, bytes);
}

void allow_open_files(std::size_t /*count*/) noexcept {} // the C runtime always has room for 2048

bool is_terminal(int number) noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(number), &mode) != 0;
}

std::optional<std::size_t> terminal_columns(int number) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  const bool is_known = ::GetConsoleScreenBufferInfo(handle_of(number), &screen) != 0;
  const int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
  return is_known && columns > 0 ? std::optional(static_cast<std::size_t>(columns)) : std::nullopt;
}

SystemResult<FileDescriptor> create_unnamed_file(const std::filesystem::path& folder) {
  for (int attempt = 0; attempt < windows::k_max_name_attempts; ++attempt) {
    const auto path = folder / to_path(windows::unused_name("clbin-", ".tmp"));
    auto file = windows::open_named(
        windows::full_name(path),
        {GENERIC_READ | GENERIC_WRITE, CREATE_NEW,
         FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT,
         FILE_SHARE_DELETE});
    if (file || file.error() != EEXIST) {
      return file;
    }
  }
  return tl::unexpected(EEXIST);
}

SystemResult<std::filesystem::path> create_private_folder(const std::filesystem::path& parent,
                                                          std::string_view name_prefix) {
  for (int attempt = 0; attempt < windows::k_max_name_attempts; ++attempt) {
    auto path = parent / to_path(windows::unused_name(name_prefix, ""));
    const int error_number = windows::create_folder(windows::full_name(path));
    if (error_number != EEXIST) {
      return error_number == 0 ? SystemResult<std::filesystem::path>(std::move(path))
                               : tl::unexpected(error_number);
    }
  }
  return tl::unexpected(EEXIST);
}

} // namespace clbin::base

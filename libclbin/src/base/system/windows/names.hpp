// What the files of this folder share: names, handles and errors of Windows.
#pragma once

#include "base/system/files.hpp"

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace clbin::base::windows {

// Neither fails: what is no UTF-8 or UTF-16 becomes U+FFFD.
[[nodiscard]] std::wstring to_wide(std::string_view text);
[[nodiscard]] std::string to_utf8(std::wstring_view text);

// Returns the absolute name with the prefix "\\?\", which may be longer than 260 characters, and
// which Windows does not interpret. Returns the path itself if it has such a prefix.
[[nodiscard]] std::wstring full_name(const std::filesystem::path& path);

// Returns the errno of an error of Windows.
[[nodiscard]] int errno_of(DWORD error) noexcept;
[[nodiscard]] tl::unexpected<int> last_error() noexcept;
// Returns a function of ntdll.dll; null if there is none.
template <typename Function>
[[nodiscard]] Function function_of_system(const char* name) noexcept {
  // The type is not that of GetProcAddress.
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), name)));
}

// Whether what has a reparse point with this tag is another name, a socket, a pipe or a device.
// Others are files whose bytes the system stores elsewhere: deduplicated, compressed or moved away.
[[nodiscard]] bool is_link_or_device(DWORD reparse_tag) noexcept;

// Flags of CREATE_NEW, which otherwise creates what a link of this name points to.
inline constexpr DWORD k_new_file = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT;

// The arguments of CreateFileW. The file can be renamed and removed while it is open.
struct OpenRequest {
  DWORD access = GENERIC_READ;
  DWORD creation = OPEN_EXISTING;
  DWORD flags = FILE_ATTRIBUTE_NORMAL;
  DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
};
// `name` is a full name.
[[nodiscard]] SystemResult<FileDescriptor> open_named(const std::wstring& name,
                                                      const OpenRequest& request) noexcept;
// Returns a descriptor that owns the handle. EMFILE: there is none left, and the handle is closed.
[[nodiscard]] SystemResult<FileDescriptor> to_descriptor(HANDLE handle) noexcept;
// Returns the handle of a descriptor; standard streams also have one.
[[nodiscard]] HANDLE handle_of(int number) noexcept;

// Replaces `to`, also if others have opened that file: in one step, if the file system can. Returns
// 0 or an errno.
[[nodiscard]] int rename(const std::wstring& from, const std::wstring& to) noexcept;
// Removes a file or an empty folder. Its name is free at once, if the file system can, also if
// others have opened that file. Returns 0 or an errno.
[[nodiscard]] int remove(const std::wstring& name) noexcept;

// Creates a file for writing, which is this user's alone. EEXIST.
[[nodiscard]] SystemResult<FileDescriptor> create_private_file(const std::wstring& name) noexcept;
// Returns 0 or an errno. The folder and its contents are this user's alone.
[[nodiscard]] int create_folder(const std::wstring& name) noexcept;

inline constexpr int k_max_name_attempts = 1000; // of temporary files
// A name for temporary files that no other process, thread or earlier call uses at the same time.
[[nodiscard]] std::string unused_name(std::string_view prefix, std::string_view suffix);

} // namespace clbin::base::windows

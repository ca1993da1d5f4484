// Files as the system knows them. What differs between systems is in posix/ and windows/, behind
// the same functions, whose errors are numbers of errno on both. Paths are UTF-8.
#pragma once

#include "base/byte_codec.hpp"

#include <filesystem>
#include <optional>

namespace clbin::base {

template <typename T>
using SystemResult = tl::expected<T, int>; // the error is an errno

inline constexpr std::size_t k_max_io_bytes = 1U << 30U; // per system call; Linux allows 2 GiB

enum class CloseAtEnd : bool { no, yes };

class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number, CloseAtEnd close_at_end = CloseAtEnd::yes)
      : m_number(number), m_close_at_end(close_at_end) {}
  ~FileDescriptor() { (void)close(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : m_number(std::exchange(other.m_number, k_none)), m_close_at_end(other.m_close_at_end) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(m_number, other.m_number);
    std::swap(m_close_at_end, other.m_close_at_end);
    return *this;
  }

  [[nodiscard]] int number() const noexcept { return m_number; }
  [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }

  // Returns 0 or an errno. Some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept;

private:
  static constexpr int k_none = -1;
  int m_number = k_none;
  CloseAtEnd m_close_at_end = CloseAtEnd::yes;
};

inline constexpr int k_standard_input = 0;
inline constexpr int k_standard_output = 1;
inline constexpr int k_standard_error = 2;

enum class FileKind : std::uint8_t { regular, folder, other };

struct FileTime {
  std::int64_t seconds = 0; // since 1970
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileTime&, const FileTime&) = default;
};

struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t size_bytes = 0;
  std::uint64_t device = 0; // together with `inode`, identifies the file
  std::uint64_t inode = 0;
  FileTime modified;
  FileTime changed; // also by a writer that restores the time of modification
  bool is_removed = false;
  friend bool operator==(const FileStatus&, const FileStatus&) = default;
};
[[nodiscard]] SystemResult<FileStatus> status_of(int number) noexcept;
// Follows links.
[[nodiscard]] SystemResult<FileStatus> status_of(const std::filesystem::path& path) noexcept;

// Convert between a path and its name in UTF-8, which is what files, messages and callers contain.
// Not the constructor and string() of the path: on Windows, these depend on the locale.
[[nodiscard]] std::filesystem::path to_path(std::string_view name);
[[nodiscard]] std::string name_of(const std::filesystem::path& path);
// With slashes, as in #include lines.
[[nodiscard]] std::string generic_name_of(const std::filesystem::path& path);

// Returns why a path cannot name a file on this system; empty if it can.
[[nodiscard]] std::string why_no_file_name(const std::filesystem::path& path);

// Whether opening a named pipe waits for a program that writes, or reads nothing if there is none.
enum class MissingWriter : std::uint8_t { is_awaited, is_the_end };
// The file never becomes the controlling terminal, and programs started later do not inherit it.
[[nodiscard]] SystemResult<FileDescriptor> open_to_read(const std::filesystem::path& path,
                                                        MissingWriter missing_writer) noexcept;

// Returns the number of bytes that were read: 0 only at the end. If a standard stream of the caller
// is non-blocking, waits until it is ready.
[[nodiscard]] SystemResult<std::size_t> read_some(int number, std::span<std::byte> bytes) noexcept;
// Returns fewer bytes than requested only at the end of the file.
[[nodiscard]] SystemResult<std::size_t> read_at(int number, std::uint64_t offset,
                                                std::span<std::byte> bytes) noexcept;
// Creates a file for writing that only this user may use, or that a new file's usual users may.
// EEXIST, also if the name is that of a dangling link.
enum class FileUsers : std::uint8_t { owner, usual };
[[nodiscard]] SystemResult<FileDescriptor> create_file(const std::filesystem::path& path,
                                                       FileUsers users) noexcept;
// These return 0 or an errno.
[[nodiscard]] int flush(int number) noexcept; // until the bytes are on the disk
[[nodiscard]] int seek(int number, std::uint64_t offset) noexcept;
[[nodiscard]] int write_all(int number, ByteView bytes) noexcept;
// Like write_all, for a library in somebody else's process: EPIPE and EFBIG are errors only.
// Neither SIGPIPE nor SIGXFSZ is delivered, and the process's handling of them is not changed.
[[nodiscard]] int write_all_without_signals(int number, ByteView bytes) noexcept;

// Raises the limit of the files that this process may have open, up to what the system allows.
void allow_open_files(std::size_t count) noexcept;

// Whether the file is a terminal.
[[nodiscard]] bool is_terminal(int number) noexcept;
// Returns the width of a terminal in cells; std::nullopt if it is unknown.
[[nodiscard]] std::optional<std::size_t> terminal_columns(int number) noexcept;

// Creates a private file without a name in `folder`, which is removed when it is closed. If the
// file system has no such files, it has a name at first.
[[nodiscard]] SystemResult<FileDescriptor> create_unnamed_file(const std::filesystem::path& folder);
// Creates a folder that only this user may use, and returns its path.
[[nodiscard]] SystemResult<std::filesystem::path>
create_private_folder(const std::filesystem::path& parent, std::string_view name_prefix);

} // namespace clbin::base

// An open file of the system and what its calls answer, shared by the files here that are POSIX.
#pragma once

#include "base/byte_codec.hpp"

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <utility>

namespace clbin::base {

inline constexpr std::size_t k_max_io_bytes = 1U << 30U; // one system call; Linux stops at 2 GiB

enum class CloseAtEnd : bool { no, yes };

class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number, CloseAtEnd close_at_end = CloseAtEnd::yes)
      : m_number(number), m_close_at_end(close_at_end) {}
  ~FileDescriptor() { (void)close(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : m_number(std::exchange(other.m_number, k_none)), m_close_at_end(other.m_close_at_end) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      (void)close();
      m_number = std::exchange(other.m_number, k_none);
      m_close_at_end = other.m_close_at_end;
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int number() const noexcept { return m_number; }
  [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }

  // 0 or an errno: some file systems tell only here that the disk is full.
  [[nodiscard]] int close() noexcept;

private:
  static constexpr int k_none = -1;
  int m_number = k_none;
  CloseAtEnd m_close_at_end = CloseAtEnd::yes;
};

// The system's words for an errno.
[[nodiscard]] std::string reason_of(int error_number);
// How messages name a path.
[[nodiscard]] std::string in_quotes(const std::filesystem::path& path);
// "cannot open NAME: REASON": file_not_found or file_read.
[[nodiscard]] tl::unexpected<Error> open_error(const std::string& name, int error_number);
// file_read.
[[nodiscard]] tl::unexpected<Error> read_error(const std::string& name, int error_number);
// file_write.
[[nodiscard]] tl::unexpected<Error> write_error(const std::string& name, int error_number);

// Opens without waiting for the other end of a pipe when `flags` hold O_NONBLOCK. Negative, with
// errno, on failure; never a terminal that takes control, never kept by a program started later.
[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept;
// After a call failed: whether to make it again, having waited where a standard stream that the
// caller handed over does not block. `events` as for poll.
[[nodiscard]] bool should_retry(int number, short events) noexcept;
// 0 or an errno.
[[nodiscard]] int write_all(int number, ByteView bytes) noexcept;

} // namespace clbin::base

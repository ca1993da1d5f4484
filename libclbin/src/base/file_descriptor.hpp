// An open file descriptor, and the error handling of system calls that the POSIX files share.
#pragma once

#include "base/byte_codec.hpp"

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <utility>

namespace clbin::base {

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

  // Returns 0 or an errno. Some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept;

private:
  static constexpr int k_none = -1;
  int m_number = k_none;
  CloseAtEnd m_close_at_end = CloseAtEnd::yes;
};

// Returns the system's message for an errno.
[[nodiscard]] std::string reason_of(int error_number);
// Returns a path in the form that messages use.
[[nodiscard]] std::string in_quotes(const std::filesystem::path& path);
// Returns "cannot open NAME: REASON" as file_not_found or file_read.
[[nodiscard]] tl::unexpected<Error> open_error(const std::string& name, int error_number);
// Returns file_read.
[[nodiscard]] tl::unexpected<Error> read_error(const std::string& name, int error_number);
// Returns file_write.
[[nodiscard]] tl::unexpected<Error> write_error(const std::string& name, int error_number);

// With O_NONBLOCK in `flags`, does not block until the other end of a pipe is opened. Returns a
// negative number and sets errno on failure. The file never becomes the controlling terminal, and
// programs started later do not inherit it.
[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept;
// Returns true if the call that just failed should be repeated. If it failed because a standard
// stream of the caller is non-blocking, first blocks until the stream is ready. `events` as for
// poll.
[[nodiscard]] bool should_retry(int number, short events) noexcept;
// Returns 0 or an errno.
[[nodiscard]] int write_all(int number, ByteView bytes) noexcept;
// Like write_all, for a library in somebody else's process: a pipe without a reader (EPIPE) and a
// file at the limit of its size (EFBIG) are errors only. Neither SIGPIPE nor SIGXFSZ, which end a
// process that does not expect them, is delivered, and the process's handling of them is not
// changed.
[[nodiscard]] int write_all_without_signals(int number, ByteView bytes) noexcept;

} // namespace clbin::base

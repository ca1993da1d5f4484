#include "base/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace clbin::base {

namespace {

// Blocks after EAGAIN: the standard streams of a caller can be non-blocking.
void wait_until_ready(int number, short events) noexcept {
  pollfd request{number, events, 0};
  (void)::poll(&request, 1, -1);
}

// Blocks the signals of write() in this thread, to which the kernel sends them, during its
// lifetime.
class WriteSignals {
public:
  WriteSignals() noexcept {
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGPIPE);
    ::sigaddset(&both, SIGXFSZ);
    m_is_blocked = ::pthread_sigmask(SIG_BLOCK, &both, &m_mask) == 0;
    (void)::sigpending(&m_pending);
  }
  ~WriteSignals() {
    if (m_is_blocked) {
      ::pthread_sigmask(SIG_SETMASK, &m_mask, nullptr);
    }
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

  // Removes the signal of a write that failed, unless one was pending before: that belongs to the
  // process.
  void consume(int signal) const noexcept {
    if (!m_is_blocked || ::sigismember(&m_pending, signal) == 1) {
      return;
    }
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    constexpr timespec k_do_not_wait{};
    while (::sigtimedwait(&one, nullptr, &k_do_not_wait) < 0 && errno == EINTR) {
    }
  }

private:
  sigset_t m_mask{};
  sigset_t m_pending{};
  bool m_is_blocked = false;
};

} // namespace

int FileDescriptor::close() noexcept {
  const int number = std::exchange(m_number, k_none);
  if (number < 0 || m_close_at_end == CloseAtEnd::no) {
    return 0;
  }
  // Linux releases the descriptor even if a signal interrupts close().
  return ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

std::string in_quotes(const std::filesystem::path& path) {
  return fmt::format("'{}'", path.string());
}

tl::unexpected<Error> open_error(const std::string& name, int error_number) {
  const bool is_missing = error_number == ENOENT || error_number == ENOTDIR;
  return fail(is_missing ? ErrorCode::file_not_found : ErrorCode::file_read, "cannot open {}: {}",
              name, reason_of(error_number));
}

tl::unexpected<Error> read_error(const std::string& name, int error_number) {
  return fail(ErrorCode::file_read, "cannot read {}: {}", name, reason_of(error_number));
}

tl::unexpected<Error> write_error(const std::string& name, int error_number) {
  return fail(ErrorCode::file_write, "cannot write {}: {}", name, reason_of(error_number));
}

int open_retrying(const char* path, int flags, mode_t mode) noexcept {
  int number = -1;
  do {
    number = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

bool should_retry(int number, short events) noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    wait_until_ready(number, events);
    return true;
  }
  return errno == EINTR;
}

int write_all(int number, ByteView bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(number, bytes.data(), std::min(bytes.size(), k_max_io_bytes));
    if (written == 0) {
      return EIO; // avoids an endless loop on a device that accepts no bytes and reports no error
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (!should_retry(number, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

int write_all_without_signals(int number, ByteView bytes) noexcept {
  const WriteSignals signals;
  const int error_number = write_all(number, bytes);
  if (error_number == EPIPE) {
    signals.consume(SIGPIPE);
  } else if (error_number == EFBIG) {
    signals.consume(SIGXFSZ);
  }
  return error_number;
}

} // namespace clbin::base

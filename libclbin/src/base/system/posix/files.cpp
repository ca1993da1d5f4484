#include "base/system/files.hpp"

#include "base/system/posix/calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr mode_t k_private_mode = 0600;

static_assert(k_standard_input == STDIN_FILENO && k_standard_output == STDOUT_FILENO &&
              k_standard_error == STDERR_FILENO);

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
  WriteSignals(WriteSignals&&) = delete; // and no copies

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

FileStatus to_file_status(const struct stat& status) noexcept {
  return {S_ISREG(status.st_mode)   ? FileKind::regular
          : S_ISDIR(status.st_mode) ? FileKind::folder
                                    : FileKind::other,
          static_cast<std::uint64_t>(status.st_size),
          status.st_dev,
          status.st_ino,
          {status.st_mtim.tv_sec, status.st_mtim.tv_nsec},
          {status.st_ctim.tv_sec, status.st_ctim.tv_nsec},
          status.st_nlink == 0};
}

SystemResult<FileStatus> status_of(int number) noexcept {
  struct stat status {};
  return ::fstat(number, &status) == 0 ? SystemResult<FileStatus>(to_file_status(status))
                                       : tl::unexpected(errno);
}

SystemResult<FileStatus> status_of(const std::filesystem::path& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? SystemResult<FileStatus>(to_file_status(status))
                                            : tl::unexpected(errno);
}

std::filesystem::path to_path(std::string_view name) {
  return name;
}

std::string name_of(const std::filesystem::path& path) {
  return path.string();
}

std::string generic_name_of(const std::filesystem::path& path) {
  return path.string();
}

std::string why_no_file_name(const std::filesystem::path& /*path*/) {
  return {};
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
    pollfd request{number, events, 0};
    (void)::poll(&request, 1, -1);
    return true;
  }
  return errno == EINTR;
}

SystemResult<FileDescriptor> open_to_read(const std::filesystem::path& path,
                                          MissingWriter missing_writer) noexcept {
  const int flags = missing_writer == MissingWriter::is_the_end ? O_NONBLOCK : 0;
  FileDescriptor file(open_retrying(path.c_str(), O_RDONLY | flags));
  return file.is_open() ? SystemResult<FileDescriptor>(std::move(file)) : tl::unexpected(errno);
}

SystemResult<std::size_t> read_some(int number, std::span<std::byte> bytes) noexcept {
  while (true) {
    const ssize_t got = ::read(number, bytes.data(), std::min(bytes.size(), k_max_io_bytes));
    if (got >= 0) {
      return static_cast<std::size_t>(got);
    }
    if (!should_retry(number, POLLIN)) {
      return tl::unexpected(errno);
    }
  }
}

SystemResult<std::size_t> read_at(int number, std::uint64_t offset,
                                  std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(number, bytes.data() + done, std::min(bytes.size() - done, k_max_io_bytes),
                static_cast<off_t>(offset + done));
    if (got == 0) {
      break;
    }
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      return tl::unexpected(errno);
    }
  }
  return done;
}

SystemResult<FileDescriptor> create_file(const std::filesystem::path& path,
                                         FileUsers users) noexcept {
  constexpr mode_t k_usual_mode = 0666; // from which the system subtracts the umask
  FileDescriptor file(open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL,
                                    users == FileUsers::owner ? k_private_mode : k_usual_mode));
  return file.is_open() ? SystemResult<FileDescriptor>(std::move(file)) : tl::unexpected(errno);
}

int flush(int number) noexcept {
  return ::fsync(number) == 0 || errno == EINVAL ? 0 : errno; // EINVAL: a device or a pipe
}

int seek(int number, std::uint64_t offset) noexcept {
  const auto start = static_cast<off_t>(offset);
  return ::lseek(number, start, SEEK_SET) == start ? 0 : errno;
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

void allow_open_files(std::size_t count) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

bool is_terminal(int number) noexcept {
  return ::isatty(number) == 1;
}

std::optional<std::size_t> terminal_columns(int number) noexcept {
  winsize size{};
  const bool is_known = ::ioctl(number, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

SystemResult<FileDescriptor> create_unnamed_file(const std::filesystem::path& folder) {
  FileDescriptor file(open_retrying(folder.c_str(), O_TMPFILE | O_RDWR, k_private_mode));
  if (file.is_open()) {
    return file;
  }
  std::string name = (folder / "clbin-XXXXXX").string();
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) {
    return tl::unexpected(errno);
  }
  ::unlink(name.c_str());
  return file;
}

SystemResult<std::filesystem::path> create_private_folder(const std::filesystem::path& parent,
                                                          std::string_view name_prefix) {
  std::string path = (parent / fmt::format("{}XXXXXX", name_prefix)).string();
  return ::mkdtemp(path.data()) != nullptr
             ? SystemResult<std::filesystem::path>(std::filesystem::path(std::move(path)))
             : tl::unexpected(errno);
}

} // namespace clbin::base

#include "base/file_io.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr std::uint64_t k_first_read_bytes = 64U << 10U;
constexpr int k_end_of_file = -1;
constexpr const char* k_spill_name = "a temporary file";
constexpr mode_t k_private_mode = 0600;

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

// Returns 0, an errno, or k_end_of_file.
int read_at(int number, std::uint64_t offset, std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(number, bytes.data(), std::min(bytes.size(), k_max_io_bytes),
                                static_cast<off_t>(offset));
    if (got == 0) {
      return k_end_of_file;
    }
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// `owner`, if it is not null, keeps `bytes`.
std::shared_ptr<const ByteSource> source_of(ByteView bytes, const std::string& name,
                                            std::shared_ptr<const Bytes> owner) {
  return std::make_shared<ByteSource>(
      bytes.size(), name, name,
      [bytes, owner = std::move(owner)](std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view /*field*/) {
        return ByteRegion::borrow(
            bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes)));
      });
}

tl::unexpected<Error> too_large(const std::string& name, std::uint64_t max_bytes) {
  return fail(ErrorCode::limit_exceeded, "{} is larger than the limit of {} bytes", name,
              max_bytes);
}

// Returns the size that the system reports for a regular file, otherwise 0. Files of /proc report 0
// although they have contents.
std::uint64_t told_size(int number) noexcept {
  struct stat status {};
  const bool is_regular = ::fstat(number, &status) == 0 && S_ISREG(status.st_mode);
  return is_regular && status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Result<Bytes> read_to_end(int number, const std::string& name, std::uint64_t max_bytes) {
  const std::uint64_t told = told_size(number);
  if (told > max_bytes) {
    return too_large(name, max_bytes);
  }
  // Requests one byte above the limit, to distinguish a file of exactly that size from a larger
  // one.
  const std::uint64_t most =
      max_bytes == std::numeric_limits<std::uint64_t>::max() ? max_bytes : max_bytes + 1;
  CLBIN_TRY_ASSIGN(Bytes bytes,
                   allocate_bytes(std::min(told == 0 ? k_first_read_bytes : told + 1, most), name));
  std::size_t done = 0;
  while (true) {
    if (done > max_bytes) {
      return too_large(name, max_bytes);
    }
    if (done == bytes.size()) {
      CLBIN_TRY_ASSIGN(Bytes larger,
                       allocate_bytes(std::min<std::uint64_t>(2 * bytes.size(), most), name));
      std::copy(bytes.begin(), bytes.end(), larger.begin());
      bytes = std::move(larger);
    }
    const ssize_t got =
        ::read(number, bytes.data() + done, std::min(bytes.size() - done, k_max_io_bytes));
    if (got < 0 && !should_retry(number, POLLIN)) {
      return read_error(name, errno);
    }
    if (got == 0) {
      bytes.resize(done);
      return bytes;
    }
    done += got < 0 ? 0 : static_cast<std::size_t>(got);
  }
}

struct RegularFile {
  FileDescriptor file;
  struct stat status {};
  [[nodiscard]] std::uint64_t size_bytes() const noexcept {
    return static_cast<std::uint64_t>(status.st_size);
  }
};

Result<RegularFile> open_regular_file(const std::filesystem::path& path) {
  // O_NONBLOCK: rejects a pipe without waiting for its other end. It has no effect on regular
  // files.
  FileDescriptor file(open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK));
  if (!file.is_open()) {
    return open_error(in_quotes(path), errno);
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    return read_error(in_quotes(path), errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return read_error(in_quotes(path), EISDIR);
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::file_read, "cannot read {}: not a regular file", in_quotes(path));
  }
  return RegularFile{std::move(file), status};
}

bool is_same_time(const timespec& one, const timespec& other) noexcept {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

// Whether `path` leads to the file of `opened`, which nobody has changed since. The time of status
// changes also reveals a writer that restores the time of modification.
bool is_unchanged(const std::filesystem::path& path, const struct stat& opened) noexcept {
  struct stat now {};
  return ::stat(path.c_str(), &now) == 0 && now.st_dev == opened.st_dev &&
         now.st_ino == opened.st_ino && now.st_size == opened.st_size &&
         is_same_time(now.st_mtim, opened.st_mtim) && is_same_time(now.st_ctim, opened.st_ctim);
}

// Returns `folder`, or the system's temporary directory if `folder` is empty.
Result<std::filesystem::path> folder_of_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  auto place = folder.empty() ? std::filesystem::temp_directory_path(error) : folder;
  if (error) {
    return fail(ErrorCode::file_write, "no directory for temporary files: {}", error.message());
  }
  return place;
}

// Opens a file without a name, or, if the file system does not support that, removes its name at
// once.
FileDescriptor open_unnamed(const std::filesystem::path& folder) {
  FileDescriptor file(open_retrying(folder.c_str(), O_TMPFILE | O_RDWR, k_private_mode));
  if (file.is_open()) {
    return file;
  }
  std::string name = (folder / "clbin-XXXXXX").string();
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (file.is_open()) {
    ::unlink(name.c_str());
  }
  return file;
}

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

std::vector<std::filesystem::path> paths_in(std::string_view list) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view path : words_between(":", list)) {
    if (std::ranges::find(paths, path) == paths.end()) {
      paths.emplace_back(path);
    }
  }
  return paths;
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
    pollfd request{number, events, 0};
    (void)::poll(&request, 1, -1);
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

Result<ByteRegion> ByteSource::read(std::uint64_t offset, std::uint64_t size_bytes,
                                    std::string_view field) const {
  if (offset > m_size_bytes || size_bytes > m_size_bytes - offset) {
    return fail(ErrorCode::truncated, "{}: {} at offset {} needs {} bytes of {}", m_shown, field,
                offset, size_bytes, m_size_bytes);
  }
  return m_read(offset, size_bytes, field);
}

std::shared_ptr<const ByteSource> memory_source(ByteView bytes) {
  return source_of(bytes, "memory", nullptr);
}

std::shared_ptr<const ByteSource> owning_source(Bytes bytes, const std::string& name) {
  auto owned = std::make_shared<const Bytes>(std::move(bytes));
  const ByteView view = *owned;
  return source_of(view, name, std::move(owned));
}

std::shared_ptr<const ByteSource> callback_source(ReadFunction read, std::uint64_t size_bytes,
                                                  std::string name) {
  const std::string label = name;
  return std::make_shared<ByteSource>(
      size_bytes, label, label,
      [read = std::move(read),
       name = std::move(name)](std::uint64_t offset, std::uint64_t region_bytes,
                               std::string_view field) -> Result<ByteRegion> {
        CLBIN_TRY_ASSIGN(Bytes bytes, allocate_bytes(region_bytes, name));
        const int code = bytes.empty() ? 0 : read(offset, bytes);
        if (code != 0) {
          return fail(ErrorCode::file_read, "{}: reading {} at offset {} failed with code {}", name,
                      field, offset, code);
        }
        return ByteRegion::own(std::move(bytes));
      });
}

Result<std::shared_ptr<const ByteSource>> open_file_source(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(RegularFile opened, open_regular_file(path));
  const auto file = std::make_shared<const FileDescriptor>(std::move(opened.file));
  const std::string shown = in_quotes(path);
  std::error_code error; // without a working directory, there is no absolute path
  auto absolute = std::filesystem::absolute(path, error);
  return std::make_shared<ByteSource>(
      opened.size_bytes(), path.string(), shown,
      [file, shown](std::uint64_t offset, std::uint64_t size_bytes,
                    std::string_view field) -> Result<ByteRegion> {
        CLBIN_TRY_ASSIGN(Bytes bytes, allocate_bytes(size_bytes, shown));
        const int error_number = read_at(file->number(), offset, bytes);
        if (error_number == k_end_of_file) {
          return fail(ErrorCode::truncated,
                      "{}: {} at offset {}: the file was truncated during the read", shown, field,
                      offset);
        }
        if (error_number != 0) {
          return read_error(shown, error_number);
        }
        return ByteRegion::own(std::move(bytes));
      },
      [absolute = std::move(absolute), status = opened.status] {
        return is_unchanged(absolute, status);
      });
}

Result<Bytes> read_whole_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                              MissingWriter missing_writer) {
  if (path == "-") {
    return read_to_end(STDIN_FILENO, "standard input", max_bytes);
  }
  const int flags = missing_writer == MissingWriter::is_the_end ? O_NONBLOCK : 0;
  const FileDescriptor file(open_retrying(path.c_str(), O_RDONLY | flags));
  if (!file.is_open()) {
    return open_error(in_quotes(path), errno);
  }
  return read_to_end(file.number(), in_quotes(path), max_bytes);
}

Result<Bytes> read_regular_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  CLBIN_TRY_ASSIGN(const RegularFile opened, open_regular_file(path));
  return read_to_end(opened.file.number(), in_quotes(path), max_bytes);
}

Result<TemporaryFolder> TemporaryFolder::create(const std::filesystem::path& parent,
                                                std::string_view name_prefix) {
  CLBIN_TRY_ASSIGN(const auto folder, folder_of_temporaries(parent));
  std::string path = (folder / fmt::format("{}XXXXXX", name_prefix)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::file_write, "cannot create a temporary directory in {}: {}",
                in_quotes(folder), reason_of(errno));
  }
  return TemporaryFolder(std::filesystem::path(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
  if (!m_path.empty()) {
    std::error_code ignored; // cannot be reported; the system cleans its own temporary directory
    std::filesystem::remove_all(m_path, ignored);
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  // The previous directory is removed when `other` is destroyed.
  std::swap(m_path, other.m_path);
  return *this;
}

Result<std::shared_ptr<SpillFile>> SpillFile::create(const std::filesystem::path& folder) {
  CLBIN_TRY_ASSIGN(const auto place, folder_of_temporaries(folder));
  FileDescriptor file = open_unnamed(place);
  if (!file.is_open()) {
    return fail(ErrorCode::file_write, "cannot create a temporary file in {}: {}", in_quotes(place),
                reason_of(errno));
  }
  return std::shared_ptr<SpillFile>(new SpillFile(std::move(file)));
}

KeptBytes::KeptBytes(ByteRegion region)
    : m_memory(std::make_shared<const ByteRegion>(std::move(region))),
      m_size_bytes(m_memory->view().size()) {}

Result<KeptBytes> KeptBytes::spill(const std::shared_ptr<SpillFile>& file, ByteView bytes) {
  // The end of the valid bytes: a failed append can leave the file position beyond it.
  const auto start = static_cast<off_t>(file->m_size_bytes);
  const int number = file->m_file.number();
  if (::lseek(number, start, SEEK_SET) != start) {
    return write_error(k_spill_name, errno);
  }
  if (const int error_number = write_all(number, bytes); error_number != 0) {
    return write_error(k_spill_name, error_number);
  }
  KeptBytes kept;
  kept.m_file = file;
  kept.m_offset = std::exchange(file->m_size_bytes, file->m_size_bytes + bytes.size());
  kept.m_size_bytes = bytes.size();
  return kept;
}

Result<ByteRegion> KeptBytes::read() const {
  if (!m_file) {
    return ByteRegion::borrow(m_memory ? m_memory->view() : ByteView());
  }
  Bytes bytes(static_cast<std::size_t>(m_size_bytes));
  const int error_number = read_at(m_file->m_file.number(), m_offset, bytes);
  if (error_number != 0) {
    return read_error(k_spill_name, error_number == k_end_of_file ? EIO : error_number);
  }
  return ByteRegion::own(std::move(bytes));
}

std::optional<std::string> warning_of_readers(const std::filesystem::path& path) {
  constexpr mode_t k_others = 0077;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_mode & k_others) == 0) {
    return std::nullopt;
  }
  return fmt::format("'{}' is secret, but its mode {:03o} lets others open it: chmod 600",
                     path.string(), status.st_mode & 0777U);
}

} // namespace clbin::base

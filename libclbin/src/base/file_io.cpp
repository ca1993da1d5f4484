#include "base/file_io.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <limits>
#include <new>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr int k_no_descriptor = -1;
constexpr mode_t k_new_file_mode = 0666; // less the umask, which the system takes off
constexpr mode_t k_private_file_mode = 0600;
constexpr mode_t k_kept_mode_bits = 0777;
constexpr std::uint64_t k_first_read_bytes = 64U << 10U;
constexpr int k_max_symlinks = 40;                // as the Linux kernel
constexpr int k_max_name_attempts = 1000;         // names of temporary files tried
constexpr std::size_t k_max_io_bytes = 1U << 30U; // one system call; Linux stops at 2 GiB

enum class CloseAtEnd : bool { no, yes };

class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number, CloseAtEnd close_at_end = CloseAtEnd::yes)
      : m_number(number), m_close_at_end(close_at_end) {}
  ~FileDescriptor() { (void)close(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : m_number(std::exchange(other.m_number, k_no_descriptor)),
        m_close_at_end(other.m_close_at_end) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      (void)close();
      m_number = std::exchange(other.m_number, k_no_descriptor);
      m_close_at_end = other.m_close_at_end;
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int number() const noexcept { return m_number; }
  [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }

  // 0 or an errno: some file systems tell only here that the disk is full.
  [[nodiscard]] int close() noexcept {
    const int number = std::exchange(m_number, k_no_descriptor);
    if (number < 0 || m_close_at_end == CloseAtEnd::no) {
      return 0;
    }
    // Linux has released the number even when a signal came in between.
    return ::close(number) == 0 || errno == EINTR ? 0 : errno;
  }

private:
  int m_number = k_no_descriptor;
  CloseAtEnd m_close_at_end = CloseAtEnd::yes;
};

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

// How messages name a path.
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

Result<Bytes> allocate(std::uint64_t size_bytes, const std::string& name) {
  try {
    if (size_bytes <= Bytes().max_size()) {
      return Bytes(static_cast<std::size_t>(size_bytes));
    }
  } catch (const std::bad_alloc&) {
  }
  return fail(ErrorCode::out_of_memory, "no memory for {} bytes of {}", size_bytes, name);
}

// Opens without waiting for the other end of a pipe when `flags` hold O_NONBLOCK.
int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept {
  int number = k_no_descriptor;
  do {
    number = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

// After EAGAIN: a caller may have handed over a standard stream that does not block.
void wait_until_ready(int number, short events) noexcept {
  pollfd request{number, events, 0};
  (void)::poll(&request, 1, -1);
}

bool should_retry(int number, short events) noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    wait_until_ready(number, events);
    return true;
  }
  return errno == EINTR;
}

// 0 or an errno.
int write_all(int number, ByteView bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(number, bytes.data(), std::min(bytes.size(), k_max_io_bytes));
    if (written == 0) {
      return EIO; // a device that takes nothing and says nothing would be asked for ever
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (!should_retry(number, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

class MemorySource final : public ByteSource {
public:
  MemorySource(ByteView bytes, Bytes owned, std::string name)
      : m_owned(std::move(owned)), m_bytes(m_owned.empty() ? bytes : ByteView(m_owned)),
        m_name(std::move(name)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return m_bytes.size(); }
  [[nodiscard]] const std::string& name() const noexcept override { return m_name; }
  [[nodiscard]] Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view field) const override {
    if (offset > m_bytes.size() || size_bytes > m_bytes.size() - offset) {
      return fail(ErrorCode::truncated, "{}: {} at offset {} needs {} bytes of {}", m_name, field,
                  offset, size_bytes, m_bytes.size());
    }
    return ByteRegion::borrow(
        m_bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes)));
  }

private:
  Bytes m_owned;
  ByteView m_bytes;
  std::string m_name;
};

class FileSource final : public ByteSource {
public:
  FileSource(FileDescriptor file, std::uint64_t size_bytes, std::string name)
      : m_file(std::move(file)), m_size_bytes(size_bytes), m_name(std::move(name)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return m_size_bytes; }
  [[nodiscard]] const std::string& name() const noexcept override { return m_name; }
  [[nodiscard]] Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view field) const override {
    if (offset > m_size_bytes || size_bytes > m_size_bytes - offset) {
      return fail(ErrorCode::truncated, "'{}': {} at offset {} needs {} bytes of {}", m_name, field,
                  offset, size_bytes, m_size_bytes);
    }
    CLBIN_TRY_ASSIGN(Bytes bytes, allocate(size_bytes, in_quotes(m_name)));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got =
          ::pread(m_file.number(), bytes.data() + done,
                  std::min(bytes.size() - done, k_max_io_bytes), static_cast<off_t>(offset + done));
      if (got < 0 && errno != EINTR) {
        return read_error(in_quotes(m_name), errno);
      }
      if (got == 0) {
        return fail(ErrorCode::truncated, "'{}': {} at offset {}: the file was cut while read",
                    m_name, field, offset);
      }
      done += got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    return ByteRegion::own(std::move(bytes));
  }

private:
  FileDescriptor m_file;
  std::uint64_t m_size_bytes;
  std::string m_name;
};

tl::unexpected<Error> too_large(const std::string& name, std::uint64_t max_bytes) {
  return fail(ErrorCode::limit_exceeded, "{} is larger than the limit of {} bytes", name,
              max_bytes);
}

// What the system tells of a regular file's size; files of /proc say 0 and hold more.
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
  // One byte above the limit is asked for, to tell a file of just that size from a larger one.
  const std::uint64_t most =
      max_bytes == std::numeric_limits<std::uint64_t>::max() ? max_bytes : max_bytes + 1;
  CLBIN_TRY_ASSIGN(Bytes bytes,
                   allocate(std::min(told == 0 ? k_first_read_bytes : told + 1, most), name));
  std::size_t done = 0;
  while (true) {
    if (done > max_bytes) {
      return too_large(name, max_bytes);
    }
    if (done == bytes.size()) {
      CLBIN_TRY_ASSIGN(Bytes larger,
                       allocate(std::min<std::uint64_t>(2 * bytes.size(), most), name));
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

// A path that names a stream this process already has: opening it again would start a regular file
// at its beginning, and fails on a socket.
std::optional<int> open_stream(const std::string& path) noexcept {
  if (path == "/dev/stdout") {
    return STDOUT_FILENO;
  }
  if (path == "/dev/stderr") {
    return STDERR_FILENO;
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) {
      continue;
    }
    int number = k_no_descriptor;
    const char* const end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && stop == end && number >= 0) {
      return number;
    }
  }
  return std::nullopt;
}

Result<void> write_in_place(FileDescriptor file, const std::string& name, ByteView bytes) {
  if (const int error_number = write_all(file.number(), bytes); error_number != 0) {
    return write_error(name, error_number);
  }
  if (const int error_number = file.close(); error_number != 0) {
    return write_error(name, error_number);
  }
  return {};
}

// Where an open with O_CREAT would go: the last component's links followed, also to nothing, but
// only as far as a regular file may be at the end: the links of /proc need not hold a path.
Result<std::filesystem::path> follow_symlinks(const std::filesystem::path& path) {
  std::filesystem::path current = path;
  for (int hop = 0; hop <= k_max_symlinks; ++hop) {
    struct stat status {};
    const bool is_link = ::lstat(current.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (!is_link || open_stream(current.string()).has_value()) {
      return current;
    }
    if (::stat(current.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      return current;
    }
    std::error_code error;
    const auto target = std::filesystem::read_symlink(current, error);
    if (error) {
      return write_error(in_quotes(path), error.value());
    }
    current = current.parent_path() / target; // an absolute target replaces the whole
  }
  return write_error(in_quotes(path), ELOOP);
}

// A file being written that has no name yet, or a temporary one; removed unless it was renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(std::filesystem::path folder) : m_folder(std::move(folder)) {}
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  // 0 or an errno, as the other methods. Without a name where the file system can (O_TMPFILE): a
  // process killed meanwhile leaves nothing.
  [[nodiscard]] int create(mode_t mode) {
    m_file = FileDescriptor(open_retrying(m_folder.c_str(), O_TMPFILE | O_WRONLY, mode));
    if (m_file.is_open() && ::access(link_to_file().c_str(), F_OK) == 0) {
      return 0;
    }
    return try_names([this, mode](const char* name) {
      m_file = FileDescriptor(open_retrying(name, O_WRONLY | O_CREAT | O_EXCL, mode));
      return m_file.is_open();
    });
  }

  [[nodiscard]] int number() const noexcept { return m_file.number(); }

  [[nodiscard]] int move_to(const std::filesystem::path& path) {
    if (const int error_number = give_name(); error_number != 0) {
      return error_number;
    }
    if (const int error_number = m_file.close(); error_number != 0) {
      return error_number;
    }
    if (::rename(m_name.c_str(), path.c_str()) != 0) {
      return errno;
    }
    m_name.clear();
    return 0;
  }

private:
  [[nodiscard]] std::string link_to_file() const {
    return fmt::format("/proc/self/fd/{}", m_file.number());
  }

  [[nodiscard]] int give_name() {
    if (!m_name.empty()) {
      return 0;
    }
    const std::string link = link_to_file();
    return try_names([&link](const char* name) {
      return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
  }

  // Tries names that no other process, thread or earlier call uses until `use` is content with one
  // or fails for another reason than that it exists.
  template <typename Use>
  [[nodiscard]] int try_names(const Use& use) {
    for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
      const auto name = m_folder / fmt::format(".clbin-{}-{}.tmp", ::getpid(), attempt);
      if (use(name.c_str())) {
        m_name = name;
        return 0;
      }
      if (errno != EEXIST) {
        return errno;
      }
    }
    return EEXIST;
  }

  void remove() noexcept {
    if (!m_name.empty()) {
      ::unlink(m_name.c_str());
    }
  }

  std::filesystem::path m_folder;
  std::filesystem::path m_name;
  FileDescriptor m_file;
};

// Owner and group as far as this process may (root writing into a user's folder), then the mode.
int keep_permissions(int number, const struct stat& replaced) noexcept {
  struct stat status {};
  if (::fstat(number, &status) != 0) {
    return errno;
  }
  const bool is_other_owner = status.st_uid != replaced.st_uid || status.st_gid != replaced.st_gid;
  if (is_other_owner && ::fchown(number, replaced.st_uid, replaced.st_gid) != 0 && errno != EPERM &&
      errno != EINVAL) {
    return errno;
  }
  return ::fchmod(number, replaced.st_mode & k_kept_mode_bits) == 0 ? 0 : errno;
}

// `replaced` is null where nothing is yet.
Result<void> write_by_rename(const std::filesystem::path& target, const std::string& name,
                             const struct stat* replaced, ByteView bytes) {
  const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
  TemporaryFile file(folder);
  const mode_t mode = replaced == nullptr ? k_new_file_mode : k_private_file_mode;
  if (const int error_number = file.create(mode); error_number != 0) {
    return write_error(name, error_number);
  }
  if (const int error_number = write_all(file.number(), bytes); error_number != 0) {
    return write_error(name, error_number);
  }
  if (replaced != nullptr) {
    if (const int error_number = keep_permissions(file.number(), *replaced); error_number != 0) {
      return write_error(name, error_number);
    }
  }
  if (const int error_number = file.move_to(target); error_number != 0) {
    return write_error(name, error_number);
  }
  return {};
}

} // namespace

std::shared_ptr<const ByteSource> memory_source(ByteView bytes) {
  return std::make_shared<MemorySource>(bytes, Bytes(), "memory");
}

std::shared_ptr<const ByteSource> owning_source(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(ByteView(), std::move(bytes), std::move(name));
}

Result<std::shared_ptr<const ByteSource>> open_file_source(const std::filesystem::path& path) {
  // Not blocking, so that a pipe is refused and not waited on; reading a regular file ignores it.
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
  return std::make_shared<FileSource>(std::move(file), static_cast<std::uint64_t>(status.st_size),
                                      path.string());
}

Result<Bytes> read_whole_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  if (path == "-") {
    return read_to_end(STDIN_FILENO, "standard input", max_bytes);
  }
  const FileDescriptor file(open_retrying(path.c_str(), O_RDONLY));
  if (!file.is_open()) {
    return open_error(in_quotes(path), errno);
  }
  return read_to_end(file.number(), in_quotes(path), max_bytes);
}

Result<void> write_output_file(const std::filesystem::path& path, ByteView bytes) {
  if (path == "-") {
    return write_in_place(FileDescriptor(STDOUT_FILENO, CloseAtEnd::no), "standard output", bytes);
  }
  const std::string name = in_quotes(path);
  CLBIN_TRY_ASSIGN(const auto target, follow_symlinks(path));
  if (const auto stream = open_stream(target.string()); stream.has_value()) {
    return write_in_place(FileDescriptor(*stream, CloseAtEnd::no), name, bytes);
  }
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (!exists && (errno != ENOENT || target.empty())) {
    return write_error(name, errno);
  }
  // A name with a slash at its end can only be a folder.
  if (exists ? S_ISDIR(status.st_mode) : !target.has_filename()) {
    return write_error(name, EISDIR);
  }
  if (!exists || S_ISREG(status.st_mode)) {
    return write_by_rename(target, name, exists ? &status : nullptr, bytes);
  }
  FileDescriptor file(open_retrying(target.c_str(), O_WRONLY));
  if (!file.is_open()) {
    return write_error(name, errno);
  }
  return write_in_place(std::move(file), name, bytes);
}

Result<TemporaryFolder> TemporaryFolder::create(const std::filesystem::path& parent,
                                                std::string_view name_prefix) {
  std::error_code error;
  const auto folder = parent.empty() ? std::filesystem::temp_directory_path(error) : parent;
  if (error) {
    return fail(ErrorCode::file_write, "no folder for temporary files: {}", error.message());
  }
  std::string path = (folder / fmt::format("{}XXXXXX", name_prefix)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::file_write, "cannot make a temporary folder in {}: {}",
                in_quotes(folder), reason_of(errno));
  }
  return TemporaryFolder(std::filesystem::path(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
  if (!m_path.empty()) {
    std::error_code ignored; // nobody can be told, and the system clears its own folder
    std::filesystem::remove_all(m_path, ignored);
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  // The folder held so far goes when `other` is destroyed.
  std::swap(m_path, other.m_path);
  return *this;
}

} // namespace clbin::base

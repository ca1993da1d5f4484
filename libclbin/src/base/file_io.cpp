#include "base/file_io.hpp"

#include "base/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
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

constexpr std::uint64_t k_first_read_bytes = 64U << 10U;

Result<Bytes> allocate(std::uint64_t size_bytes, const std::string& name) {
  try {
    if (size_bytes <= Bytes().max_size()) {
      return Bytes(static_cast<std::size_t>(size_bytes));
    }
  } catch (const std::bad_alloc&) {
  }
  return fail(ErrorCode::out_of_memory, "no memory for {} bytes of {}", size_bytes, name);
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
        return fail(ErrorCode::truncated,
                    "'{}': {} at offset {}: the file was truncated during the read", m_name, field,
                    offset);
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

class CallbackSource final : public ByteSource {
public:
  CallbackSource(ReadFunction read, std::uint64_t size_bytes, std::string name)
      : m_read(std::move(read)), m_size_bytes(size_bytes), m_name(std::move(name)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return m_size_bytes; }
  [[nodiscard]] const std::string& name() const noexcept override { return m_name; }
  [[nodiscard]] Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view field) const override {
    if (offset > m_size_bytes || size_bytes > m_size_bytes - offset) {
      return fail(ErrorCode::truncated, "{}: {} at offset {} needs {} bytes of {}", m_name, field,
                  offset, size_bytes, m_size_bytes);
    }
    CLBIN_TRY_ASSIGN(Bytes bytes, allocate(size_bytes, m_name));
    if (bytes.empty()) {
      return ByteRegion::own(std::move(bytes));
    }
    const int code = m_read(offset, bytes);
    if (code != 0) {
      return fail(ErrorCode::file_read, "{}: reading {} at offset {} failed with code {}", m_name,
                  field, offset, code);
    }
    return ByteRegion::own(std::move(bytes));
  }

private:
  ReadFunction m_read;
  std::uint64_t m_size_bytes;
  std::string m_name;
};

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

struct RegularFile {
  FileDescriptor file;
  std::uint64_t size_bytes = 0;
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
  return RegularFile{std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

} // namespace

std::shared_ptr<const ByteSource> memory_source(ByteView bytes) {
  return std::make_shared<MemorySource>(bytes, Bytes(), "memory");
}

std::shared_ptr<const ByteSource> owning_source(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(ByteView(), std::move(bytes), std::move(name));
}

std::shared_ptr<const ByteSource> callback_source(ReadFunction read, std::uint64_t size_bytes,
                                                  std::string name) {
  return std::make_shared<CallbackSource>(std::move(read), size_bytes, std::move(name));
}

Result<std::shared_ptr<const ByteSource>> open_file_source(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(RegularFile opened, open_regular_file(path));
  return std::make_shared<FileSource>(std::move(opened.file), opened.size_bytes, path.string());
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
  std::error_code error;
  const auto folder = parent.empty() ? std::filesystem::temp_directory_path(error) : parent;
  if (error) {
    return fail(ErrorCode::file_write, "no directory for temporary files: {}", error.message());
  }
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

} // namespace clbin::base

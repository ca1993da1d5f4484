// File access that includes the system's reason in every error. POSIX is used only in the .cpp
// file.
#pragma once

#include "base/byte_codec.hpp"
#include "base/output_file.hpp" // whoever reads files writes them

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace clbin::base {

// Bytes that are either borrowed or owned.
class ByteRegion {
public:
  [[nodiscard]] static ByteRegion borrow(ByteView bytes) { return ByteRegion(bytes, {}); }
  [[nodiscard]] static ByteRegion own(Bytes bytes) { return ByteRegion({}, std::move(bytes)); }
  [[nodiscard]] ByteView view() const noexcept {
    return m_borrowed.data() != nullptr ? m_borrowed : ByteView(m_owned);
  }

private:
  ByteRegion(ByteView borrowed, Bytes owned) : m_borrowed(borrowed), m_owned(std::move(owned)) {}
  ByteView m_borrowed;
  Bytes m_owned;
};

// Random access to the bytes of a bundle in memory, in a file or behind a callback. Thread-safe:
// every method is const and can be called concurrently.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;
  // Returns ErrorCode::truncated if the region is not completely inside the source, and file_read
  // if the system cannot read it. A region of a memory source is borrowed from the source. A region
  // of a file source is a private copy: changes of the file cannot change bytes that are already
  // checked.
  [[nodiscard]] virtual Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                                std::string_view field) const = 0;
  // Returns the name for messages: the path, "memory" or "callback".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

// Copies nothing. `bytes` must outlive the source and must not change.
[[nodiscard]] std::shared_ptr<const ByteSource> memory_source(ByteView bytes);
// Takes ownership of the vector without copying it.
[[nodiscard]] std::shared_ptr<const ByteSource> owning_source(Bytes bytes, std::string name);
// Reads `bytes.size()` bytes at an offset. Returns 0 on success, any other number on failure. Must
// be thread-safe.
using ReadFunction = std::function<int(std::uint64_t offset, std::span<std::byte> bytes)>;
// Calls `read` only for regions within `size_bytes`. Each region is a private copy.
[[nodiscard]] std::shared_ptr<const ByteSource>
callback_source(ReadFunction read, std::uint64_t size_bytes, std::string name);
// Opens a regular file, which is read with pread. Errors: file_not_found, file_read.
[[nodiscard]] Result<std::shared_ptr<const ByteSource>>
open_file_source(const std::filesystem::path& path);

// Whether opening a named pipe waits for a program that writes, or reads nothing if there is none.
enum class MissingWriter : std::uint8_t { is_awaited, is_the_end };

// Reads a whole file, pipe or device, or standard input for "-". Errors: file_not_found ("cannot
// open 'x.cl': No such file or directory"), file_read ("cannot read 'd': Is a directory"), and
// limit_exceeded above `max_bytes`.
[[nodiscard]] Result<Bytes>
read_whole_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                MissingWriter missing_writer = MissingWriter::is_awaited);

// Reads a whole regular file. Anything else is file_read, without waiting for the other end of a
// pipe, and "-" is an ordinary name: for files that decide what is trusted, and for libraries in
// somebody else's process. Other errors as read_whole_file.
[[nodiscard]] Result<Bytes> read_regular_file(const std::filesystem::path& path,
                                              std::uint64_t max_bytes);

// A private directory with mode 0700. The destructor removes it with its contents.
class TemporaryFolder {
public:
  // Creates the directory in `parent`, or in the system's temporary directory if `parent` is empty.
  // Error: file_write.
  [[nodiscard]] static Result<TemporaryFolder> create(const std::filesystem::path& parent,
                                                      std::string_view name_prefix);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return m_path; }

private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  std::filesystem::path m_path;
};

} // namespace clbin::base

// Files, with the system's reason in every error. POSIX stays in this file's .cpp.
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

// Random access to the bytes of a bundle, wherever they are. Thread-safe: every method is const and
// may be called at the same time.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;
  // ErrorCode::truncated when the region is not wholly inside; file_read when the system refuses.
  // A region of a memory source is borrowed from it, one of a file source is a private copy: a file
  // changed under the reader can not change bytes that were already checked.
  [[nodiscard]] virtual Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                                std::string_view field) const = 0;
  // For messages: the path, "memory" or "callback".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

// The caller keeps `bytes` alive and unchanged as long as the source lives. Copies nothing.
[[nodiscard]] std::shared_ptr<const ByteSource> memory_source(ByteView bytes);
// Keeps the vector. Copies nothing.
[[nodiscard]] std::shared_ptr<const ByteSource> owning_source(Bytes bytes, std::string name);
// Reads `bytes.size()` bytes at an offset and returns 0, or any other number on failure.
// Thread-safe.
using ReadFunction = std::function<int(std::uint64_t offset, std::span<std::byte> bytes)>;
// Calls `read` for regions within `size_bytes` only. A region is a private copy.
[[nodiscard]] std::shared_ptr<const ByteSource>
callback_source(ReadFunction read, std::uint64_t size_bytes, std::string name);
// Regular files only, read with pread. file_not_found, file_read.
[[nodiscard]] Result<std::shared_ptr<const ByteSource>>
open_file_source(const std::filesystem::path& path);

// A whole file, pipe or device, or standard input for "-". At most `max_bytes`
// (limit_exceeded). "cannot open 'x.cl': No such file or directory", "cannot read 'd': Is a
// directory". file_not_found, file_read.
[[nodiscard]] Result<Bytes> read_whole_file(const std::filesystem::path& path,
                                            std::uint64_t max_bytes);

// A folder of its own, mode 0700, removed with all it holds at destruction.
class TemporaryFolder {
public:
  // Under `parent`, or the system's folder for temporary files when empty. file_write.
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

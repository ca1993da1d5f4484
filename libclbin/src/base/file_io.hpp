// Files: input, output that replaces an existing file only by a complete new one, and
// temporary files. Every error includes the system's reason.
#pragma once

#include "base/system/files.hpp"

#include <functional>
#include <optional>

namespace clbin::base {

// Returns the system's message for an errno.
[[nodiscard]] std::string reason_of(int error_number);
// Returns a path in the form that messages use.
[[nodiscard]] std::string in_quotes(const std::filesystem::path& path);
// Returns the paths of a list such as PATH, which colons separate, each once, without empty ones.
[[nodiscard]] std::vector<std::filesystem::path> paths_in(std::string_view list);
// Return "cannot open NAME: REASON" as file_not_found or file_read, and likewise file_read and
// file_write.
[[nodiscard]] tl::unexpected<Error> open_error(const std::string& name, int error_number);
[[nodiscard]] tl::unexpected<Error> read_error(const std::string& name, int error_number);
[[nodiscard]] tl::unexpected<Error> write_error(const std::string& name, int error_number);

// ---- Input -------------------------------------------------------------------------------------

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

// Random access to the bytes of a bundle in memory, in a file or behind a callback. Thread-safe, if
// its function is.
class ByteSource {
public:
  // Reads a region that is inside the source.
  using Read = std::function<Result<ByteRegion>(std::uint64_t offset, std::uint64_t size_bytes,
                                                std::string_view field)>;
  using IsCurrent = std::function<bool()>;
  // `shown` is the name in errors of read().
  ByteSource(
      std::uint64_t size_bytes, std::string name, std::string shown, Read read,
      IsCurrent is_current = [] { return true; })
      : m_size_bytes(size_bytes), m_name(std::move(name)), m_shown(std::move(shown)),
        m_read(std::move(read)), m_is_current(std::move(is_current)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return m_size_bytes; }
  // Errors: truncated, if the region is not completely inside the source, and file_read. A region
  // of a memory source is borrowed from the source. A region of a file source is a private copy:
  // changes of the file cannot change bytes that are already checked.
  [[nodiscard]] Result<ByteRegion> read(std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view field) const;
  // Returns the name for messages: the path, "memory" or "callback".
  [[nodiscard]] const std::string& name() const noexcept { return m_name; }
  // Whether the path of a file source still leads to the file that was opened, with the size and
  // the times of that moment. True for other sources. Costs one call of stat.
  [[nodiscard]] bool is_current() const { return m_is_current(); }

private:
  std::uint64_t m_size_bytes;
  std::string m_name;
  std::string m_shown;
  Read m_read;
  IsCurrent m_is_current;
};

// Copies nothing. `bytes` must outlive the source and must not change.
[[nodiscard]] std::shared_ptr<const ByteSource> memory_source(ByteView bytes);
// Takes ownership of the vector without copying it.
[[nodiscard]] std::shared_ptr<const ByteSource> owning_source(Bytes bytes, const std::string& name);
// Reads `bytes.size()` bytes at an offset. Returns 0 on success, any other number on failure. Must
// be thread-safe.
using ReadFunction = std::function<int(std::uint64_t offset, std::span<std::byte> bytes)>;
// Calls `read` only for regions within `size_bytes`. Each region is a private copy.
[[nodiscard]] std::shared_ptr<const ByteSource>
callback_source(ReadFunction read, std::uint64_t size_bytes, std::string name);
// Opens a regular file, which is read at offsets. Errors: file_not_found, file_read.
[[nodiscard]] Result<std::shared_ptr<const ByteSource>>
open_file_source(const std::filesystem::path& path);

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

// ---- Output ------------------------------------------------------------------------------------

// An output file, pipe or device. A regular file, or a path that does not exist, is written as a
// temporary file in the same directory. In commit(), a separate process replaces the old file:
// after SIGKILL, even of the process group, the path is either the old or the new file, and no
// other file is left. Symlinks are followed, and the permissions of a replaced file are preserved.
// A device or pipe is written in place; "-" is standard output. Not thread-safe.
class OutputFile {
public:
  // Fails early if the directory does not exist or is not writable. Blocks until a pipe has a
  // reader. Error: file_write.
  [[nodiscard]] static Result<OutputFile> open(const std::filesystem::path& path);
  // Removes the temporary file unless commit() succeeded.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  // Error: file_write.
  [[nodiscard]] Result<void> append(ByteView bytes);
  // Can be called once, as the last call. Error: file_write.
  [[nodiscard]] Result<void> commit();

private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

// Writes a whole file. On error, an existing file is unchanged and no temporary file is left.
// Error: file_write.
[[nodiscard]] Result<void> write_output_file(const std::filesystem::path& path, ByteView bytes);

// ---- Temporary files ---------------------------------------------------------------------------

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

// A temporary file without a name, which is removed with its last user or when the process ends.
// Its bytes are KeptBytes.
class SpillFile {
public:
  // Creates the file in `folder`, or in the system's temporary directory if `folder` is empty.
  // Error: file_write.
  [[nodiscard]] static Result<std::shared_ptr<SpillFile>>
  create(const std::filesystem::path& folder = {});

private:
  friend class KeptBytes;
  explicit SpillFile(FileDescriptor file) : m_file(std::move(file)) {}
  FileDescriptor m_file;
  std::uint64_t m_size_bytes = 0;
};

// A copyable value; copies of spilled bytes share the file. Thread-safe to read.
class KeptBytes {
public:
  KeptBytes() = default;
  // Not explicit, because bytes are usually in memory. Borrowed bytes must outlive this object.
  KeptBytes(Bytes bytes) // NOLINT(google-explicit-constructor)
      : KeptBytes(ByteRegion::own(std::move(bytes))) {}
  KeptBytes(ByteRegion region); // NOLINT(google-explicit-constructor)
  // Appends the bytes to the file, which is not thread-safe. Error: file_write.
  [[nodiscard]] static Result<KeptBytes> spill(const std::shared_ptr<SpillFile>& file,
                                               ByteView bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return m_size_bytes; }
  [[nodiscard]] bool empty() const noexcept { return m_size_bytes == 0; }
  // Returns bytes borrowed from this object if they are in memory, otherwise a private copy.
  // Errors: file_read, out_of_memory.
  [[nodiscard]] Result<ByteRegion> read() const;

private:
  std::shared_ptr<const ByteRegion> m_memory;
  std::shared_ptr<const SpillFile> m_file;
  std::uint64_t m_offset = 0;
  std::uint64_t m_size_bytes = 0;
};

} // namespace clbin::base

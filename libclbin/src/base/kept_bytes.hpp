// Bytes kept for later use: in memory, or in an unnamed file if they are too many.
#pragma once

#include "base/file_io.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace clbin::base {

// A temporary file without a name, which is removed with its last user or when the process ends.
// Appending is not thread-safe; reading is.
class SpillFile {
public:
  // Creates the file in `folder`, or in the system's temporary directory if `folder` is empty.
  // Error: file_write.
  [[nodiscard]] static Result<std::shared_ptr<SpillFile>>
  create(const std::filesystem::path& folder = {});
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Returns the offset of the appended bytes. Error: file_write.
  [[nodiscard]] Result<std::uint64_t> append(ByteView bytes);
  // Returns bytes that were appended at this offset. Errors: file_read, out_of_memory.
  [[nodiscard]] Result<Bytes> read(std::uint64_t offset, std::uint64_t size_bytes) const;

private:
  struct State;
  explicit SpillFile(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

// A copyable value; copies of spilled bytes share the file. Thread-safe to read.
class KeptBytes {
public:
  KeptBytes() = default;
  // Not explicit, because bytes are usually in memory. Borrowed bytes must outlive this object.
  KeptBytes(Bytes bytes);       // NOLINT(google-explicit-constructor)
  KeptBytes(ByteRegion region); // NOLINT(google-explicit-constructor)
  // Error: file_write.
  [[nodiscard]] static Result<KeptBytes> spill(const std::shared_ptr<SpillFile>& file,
                                               ByteView bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return m_size_bytes; }
  [[nodiscard]] bool empty() const noexcept { return m_size_bytes == 0; }
  // Returns bytes borrowed from this object if they are in memory, otherwise a private copy. Errors
  // as for SpillFile::read.
  [[nodiscard]] Result<ByteRegion> read() const;

private:
  std::shared_ptr<const ByteRegion> m_memory;
  std::shared_ptr<const SpillFile> m_file;
  std::uint64_t m_offset = 0;
  std::uint64_t m_size_bytes = 0;
};

} // namespace clbin::base

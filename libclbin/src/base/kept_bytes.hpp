// Bytes that are wanted later: in memory, or in a file without a name where there are too many.
#pragma once

#include "base/file_io.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace clbin::base {

// A temporary file without a name, which goes with its last user and with the process. Appending is
// not thread-safe; reading is.
class SpillFile {
public:
  // In `folder`, or in the system's folder for temporary files when empty. file_write.
  [[nodiscard]] static Result<std::shared_ptr<SpillFile>>
  create(const std::filesystem::path& folder = {});
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Where they are. file_write.
  [[nodiscard]] Result<std::uint64_t> append(ByteView bytes);
  // What was appended there. file_read, out_of_memory.
  [[nodiscard]] Result<Bytes> read(std::uint64_t offset, std::uint64_t size_bytes) const;

private:
  struct State;
  explicit SpillFile(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

// A value; copies of spilled bytes share the file's. Thread-safe to read.
class KeptBytes {
public:
  KeptBytes() = default;
  // Not explicit: bytes in memory are the usual case. What is borrowed the caller keeps alive.
  KeptBytes(Bytes bytes);       // NOLINT(google-explicit-constructor)
  KeptBytes(ByteRegion region); // NOLINT(google-explicit-constructor)
  // file_write.
  [[nodiscard]] static Result<KeptBytes> spill(const std::shared_ptr<SpillFile>& file,
                                               ByteView bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return m_size_bytes; }
  [[nodiscard]] bool empty() const noexcept { return m_size_bytes == 0; }
  // Borrowed from this object where the bytes are in memory, else a private copy. As
  // SpillFile::read.
  [[nodiscard]] Result<ByteRegion> read() const;

private:
  std::shared_ptr<const ByteRegion> m_memory;
  std::shared_ptr<const SpillFile> m_file;
  std::uint64_t m_offset = 0;
  std::uint64_t m_size_bytes = 0;
};

} // namespace clbin::base

// Output files. An existing file is replaced only by a complete new one.
#pragma once

#include "base/byte_codec.hpp"

#include <filesystem>
#include <memory>

namespace clbin::base {

// An output file, pipe or device. A regular file, or a path that does not exist, is written as a
// temporary file in the same directory, which has no name if the file system supports that. In
// commit(), a separate process replaces the old file: after SIGKILL, even of the process group, the
// path is either the old or the new file, and no other file is left. Symlinks are followed, and the
// permissions of a replaced file are preserved. A device or pipe is written in place; "-" is
// standard output. Not thread-safe.
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

} // namespace clbin::base

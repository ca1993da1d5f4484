// Where results are written: nothing that was there is lost unless all of the new is there.
#pragma once

#include "base/byte_codec.hpp"

#include <filesystem>
#include <memory>

namespace clbin::base {

// A regular file (or a path where nothing is) is written as a temporary file beside it, which has
// no name where the file system can do that, and takes the place of the old one in commit(), by a
// process of its own: SIGKILL, also of the process group, leaves the old or the new and no other.
// Symlinks are followed, permissions of a replaced file kept. A device or pipe is written in place;
// "-" is standard output. Not thread-safe.
class OutputFile {
public:
  // Finds out what can be known before there is anything to write: a folder that is missing or may
  // not be written. A pipe is waited on until it has a reader. file_write.
  [[nodiscard]] static Result<OutputFile> open(const std::filesystem::path& path);
  // What was not committed leaves nothing behind.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  // file_write.
  [[nodiscard]] Result<void> append(ByteView bytes);
  // Once, as the last call. file_write.
  [[nodiscard]] Result<void> commit();

private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

// All at once. On error nothing that was there is lost and no temporary file stays. file_write.
[[nodiscard]] Result<void> write_output_file(const std::filesystem::path& path, ByteView bytes);

} // namespace clbin::base

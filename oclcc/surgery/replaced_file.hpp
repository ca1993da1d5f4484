// A file that a mode reads and replaces. If several processes do that at the same time, none of
// them discards what another one has written.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <sys/stat.h>

namespace oclcc {

// changed: the file is not the one that was opened, or was written since.
enum class Replacement : std::uint8_t { done, changed };

// Not thread-safe.
class ReplacedFile {
public:
  // Call it before the file is read. Does not fail: if `path` is not a regular file that can be
  // opened, replace() checks nothing.
  [[nodiscard]] static ReplacedFile open(const std::filesystem::path& path);
  // Of an output that replaces no input: replace() checks nothing.
  [[nodiscard]] static ReplacedFile none() { return ReplacedFile({}); }

  // Calls `commit`, which renames a new file to the path, unless the file has changed. Locks the
  // file meanwhile (flock), so that the replacements of several processes follow one another. Waits
  // at most 3 seconds for the lock, because every process that can open the file can lock it, and
  // does without it if the file system has no locks. Errors: those of `commit`.
  [[nodiscard]] clbin::base::Result<Replacement>
  replace(const std::function<clbin::base::Result<void>()>& commit);

private:
  explicit ReplacedFile(std::filesystem::path path) : m_path(std::move(path)) {}
  [[nodiscard]] bool is_unchanged() const noexcept;

  std::filesystem::path m_path;
  clbin::base::FileDescriptor m_file; // open if there is something to check
  struct stat m_before {};
};

} // namespace oclcc

// Digests of the contents of compilers and drivers, which are the same on every machine that has
// them, unlike their times.
#pragma once

#include "units/sealed_files.hpp"

#include <map>

namespace oclcc {

// Reads each file once, and remembers its digest in the directory of the compile cache as long as
// the file does not change: some have more than 100 MB. A digest is trusted only while device,
// inode, size, modification time and status change time are those of the file that was read. If the
// cache is off or not usable, remembers nothing. Not thread-safe.
class ContentDigests {
public:
  explicit ContentDigests(const clbin::cache::CacheSettings& settings)
      : m_now(settings.now), m_files(settings, SealedKind::content) {}

  // Returns 64 hexadecimal digits: of the bytes of a file, or of the names and bytes of the files
  // of a directory, without its directories. std::nullopt if one cannot be read, or changes
  // meanwhile.
  [[nodiscard]] std::optional<std::string> of(const std::filesystem::path& path);

private:
  [[nodiscard]] std::optional<std::string> of_file(const std::filesystem::path& path);
  [[nodiscard]] std::optional<std::string> of_folder(const std::filesystem::path& path);

  std::function<clbin::cache::TimePoint()> m_now;
  SealedFiles m_files;
  std::map<std::filesystem::path, std::string> m_known;
};

struct SharedObject {
  std::string name;                // DT_SONAME, "libLLVM-15.so.1"; may be empty
  std::string build_id;            // hexadecimal digits of the GNU note; empty if there is none
  std::vector<std::string> needed; // DT_NEEDED: the names of the libraries that the loader loads
  std::uint64_t size_bytes = 0;
};

// Reads a 64-bit little-endian ELF file for dynamic linking. Safe on any input. Errors: those of
// open_file_source; truncated, damaged: its tables are not inside it, or not of plausible size.
[[nodiscard]] Result<SharedObject> read_shared_object(const std::filesystem::path& path);

// Returns a text that distinguishes versions of a library, and that is the same on every machine
// with this file: name, size and build ID. Of a file without a build ID, the digest of its
// contents, which takes long if the file is large. std::nullopt if the file cannot be read.
[[nodiscard]] std::optional<std::string> library_identity(const std::filesystem::path& path,
                                                          ContentDigests& digests);

} // namespace oclcc

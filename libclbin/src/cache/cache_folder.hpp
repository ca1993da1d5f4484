// The files of the cache. A folder is held open and everything in it is reached through its
// descriptor, so that nobody can exchange the path under us. POSIX stays in the .cpp.
#pragma once

#include "base/byte_codec.hpp"
#include "base/file_descriptor.hpp"
#include "cache/cache_settings.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::cache {

using TimePoint = std::chrono::system_clock::time_point;

// Which file a name stood for when it was read.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

struct FoundFile {
  base::Bytes bytes;
  FileIdentity identity;
};

struct FileRow {
  std::string name;
  std::uint64_t size_bytes = 0;
  TimePoint modified;
};

// A file that this object alone holds (flock): the kernel lets go of it when the process dies.
class LockedFile {
public:
  LockedFile(std::shared_ptr<const base::FileDescriptor> folder, std::string name,
             std::unique_ptr<base::FileDescriptor> file);
  // Lets go; the file stays.
  ~LockedFile();
  LockedFile(LockedFile&& other) noexcept;
  LockedFile& operator=(LockedFile&& other) noexcept;

  // Nothing where it cannot be read or is larger.
  [[nodiscard]] std::optional<base::Bytes> read(std::size_t max_bytes) const;
  // Replaces the contents, in place: a reader must tolerate any bytes after a crash.
  [[nodiscard]] base::Result<void> write(base::ByteView bytes);
  // Removes the file, then lets go.
  void remove() noexcept;

private:
  void unlock() noexcept;
  std::shared_ptr<const base::FileDescriptor> m_folder;
  std::string m_name;
  std::unique_ptr<base::FileDescriptor> m_file;
};

enum class IfMissing : std::uint8_t { create, leave };

// Names are plain file names. Thread-safe. Errors: file_not_found where file or folder is not
// there, else file_read or file_write.
class CacheFolder {
public:
  // A folder that belongs to this user and that nobody else may write to, else file_read with the
  // reason. What is created is 0700, missing parents too.
  [[nodiscard]] static base::Result<CacheFolder> open(const std::filesystem::path& path,
                                                      IfMissing if_missing);
  [[nodiscard]] base::Result<CacheFolder> open_inside(std::string_view name,
                                                      IfMissing if_missing) const;

  // damaged where the file is not a regular one of this user, limit_exceeded where it is larger.
  [[nodiscard]] base::Result<FoundFile> read(const std::string& name,
                                             std::uint64_t max_bytes) const;
  // By a temporary file (its name ends in ".new") and rename: a reader sees the old file, the new
  // one or none, and a process killed half-way leaves the temporary file at most.
  [[nodiscard]] base::Result<void> replace(const std::string& name, base::ByteView bytes,
                                           TimePoint modified) const;
  // Marks as just used. What fails costs order of eviction only.
  void touch(const std::string& name, TimePoint now) const noexcept;
  // A folder too, if it is empty.
  void remove(const std::string& name) const noexcept;
  // Only if `name` still stands for that file: another process may have replaced it meanwhile.
  void remove_if_same(const std::string& name, const FileIdentity& identity) const noexcept;
  // Nothing where it is not there.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& name) const noexcept;
  // Regular files only.
  [[nodiscard]] std::vector<FileRow> list() const;
  // Files and folders, those that begin with a dot too.
  [[nodiscard]] std::vector<std::string> list_names() const;
  // Creates the file if needed, in the place of what is no regular file of this user; never waits:
  // nothing where another one holds it.
  [[nodiscard]] base::Result<std::optional<LockedFile>> try_lock(const std::string& name) const;

  [[nodiscard]] const std::string& path() const noexcept { return m_path; }

private:
  // Removes what no cache can have made. Whether `name` is free then.
  [[nodiscard]] bool remove_planted(const std::string& name) const;
  CacheFolder(std::shared_ptr<const base::FileDescriptor> descriptor, std::string path);
  std::shared_ptr<const base::FileDescriptor> m_descriptor;
  std::string m_path; // for messages
};

inline constexpr std::string_view k_temporary_suffix = ".new";

// The parts of a cache folder.
inline constexpr std::string_view k_programs_part = "programs";         // libclbin's user cache
inline constexpr std::string_view k_compilations_part = "compilations"; // oclcc's compile cache
inline constexpr std::string_view k_attempts_part = "attempts";         // quarantine

// A part of the folder of `settings`, which must be on. A folder that it creates, or finds empty,
// gets a CACHEDIR.TAG (bford.info/cachedir), so that backups leave it out; one where somebody keeps
// other things gets none.
[[nodiscard]] base::Result<CacheFolder> open_part(const CacheSettings& settings,
                                                  std::string_view name, IfMissing if_missing);

// The folder may be removed by others at any moment: runs `use` on the part again, a few times, as
// long as it ends in file_not_found.
template <typename Use>
[[nodiscard]] base::Result<void> with_part(const CacheSettings& settings, std::string_view name,
                                           const Use& use) {
  constexpr int k_attempts = 5;
  for (int attempt = 1;; ++attempt) {
    auto folder = open_part(settings, name, IfMissing::create);
    auto result =
        folder.has_value() ? use(*folder) : base::Result<void>(tl::unexpected(folder.error()));
    if (result.has_value() || attempt == k_attempts ||
        result.error().code != base::ErrorCode::file_not_found) {
      return result;
    }
  }
}

} // namespace clbin::cache

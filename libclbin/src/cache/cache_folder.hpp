// The files of the cache. A directory is kept open, and its files are accessed through it, so that
// other processes cannot redirect the path in the meantime.
#pragma once

#include "base/system/folder.hpp"
#include "cache/cache_settings.hpp"

namespace clbin::cache {

using base::OpenFolder;

using TimePoint = std::chrono::system_clock::time_point;

// Identifies the file that a name referred to when it was read.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct FoundFile {
  Bytes bytes;
  FileIdentity identity;
};

struct FileRow {
  std::string name;
  std::uint64_t size_bytes = 0;
  TimePoint modified;
};

// A file that this object has locked exclusively. The destructor unlocks the file and keeps it. The
// system releases the lock if the process dies.
class LockedFile {
public:
  // `size_bytes` is the size of the file after it was locked.
  LockedFile(std::shared_ptr<const OpenFolder> folder, std::string name,
             std::unique_ptr<FileDescriptor> file, std::uint64_t size_bytes)
      : m_folder(std::move(folder)), m_name(std::move(name)), m_file(file.release()),
        m_size_bytes(size_bytes) {}

  // Returns the contents; std::nullopt if the file cannot be read or is larger than `max_bytes`.
  [[nodiscard]] std::optional<Bytes> read(std::size_t max_bytes) const;
  // Replaces the contents in place. After a crash, the file may contain any bytes. file_write.
  [[nodiscard]] Result<void> write(ByteView bytes);
  // Removes the file, then unlocks it.
  void remove() noexcept;

private:
  struct Unlock {
    void operator()(FileDescriptor* file) const noexcept;
  };
  std::shared_ptr<const OpenFolder> m_folder;
  std::string m_name;
  std::unique_ptr<FileDescriptor, Unlock> m_file;
  // Whoever holds the lock changes the file only through this object. Saves a query for each read
  // and write.
  std::uint64_t m_size_bytes;
};

enum class IfMissing : std::uint8_t { create, leave };

// A directory of the cache. Names are plain file names. Thread-safe. Errors: file_not_found if the
// file or the directory does not exist, otherwise file_read or file_write.
class CacheFolder {
public:
  // Opens a directory that belongs to this user and that no other user may write to; file_read for
  // any other. Creates directories with mode 0700, including missing parents.
  [[nodiscard]] static Result<CacheFolder> open(const std::filesystem::path& path,
                                                IfMissing if_missing);
  [[nodiscard]] Result<CacheFolder> open_inside(std::string_view name, IfMissing if_missing) const;

  // damaged: the file is not a regular file of this user. limit_exceeded: it is larger than
  // `max_bytes`.
  [[nodiscard]] Result<FoundFile> read(const std::string& name, std::uint64_t max_bytes) const;
  // Writes a temporary file (its name ends in ".new") and renames it: a reader sees the old file,
  // the new one or none, and a process that is killed leaves at most the temporary file behind.
  [[nodiscard]] Result<void> replace(const std::string& name, ByteView bytes,
                                     TimePoint modified) const;
  // Marks the file as used at `now`. A failure affects only the order of eviction.
  void touch(const std::string& name, TimePoint now) const noexcept {
    m_folder->set_modified(name, now);
  }
  // Removes a file or an empty directory.
  void remove(const std::string& name) const noexcept { m_folder->remove(name); }
  // Removes `name` only if it is still that file, because another process may have replaced it.
  void remove_if_same(const std::string& name, const FileIdentity& identity) const;
  // Returns the size in bytes; std::nullopt if the file does not exist.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& name) const;
  // Regular files only.
  [[nodiscard]] std::vector<FileRow> list() const;
  // Lists files and directories, including those whose names begin with a dot.
  [[nodiscard]] std::vector<std::string> list_names() const { return m_folder->list_names(); }
  // Locks the file, and creates it if necessary. Replaces anything that is not a regular file of
  // this user. Does not block: std::nullopt if the file is already locked.
  [[nodiscard]] Result<std::optional<LockedFile>> try_lock(const std::string& name) const;

  [[nodiscard]] const std::string& path() const noexcept { return m_path; }

private:
  CacheFolder(OpenFolder folder, std::string path)
      : m_folder(std::make_shared<const OpenFolder>(std::move(folder))), m_path(std::move(path)) {}
  std::shared_ptr<const OpenFolder> m_folder;
  std::string m_path; // for messages
};

inline constexpr std::string_view k_temporary_suffix = ".new";

// The subdirectories of the cache directory.
inline constexpr std::string_view k_programs_part = "programs";         // libclbin's user cache
inline constexpr std::string_view k_compilations_part = "compilations"; // oclcc's compile cache
inline constexpr std::string_view k_attempts_part = "attempts";         // quarantine
inline constexpr std::string_view k_answers_part = "answers";           // verdicts

// Opens a subdirectory of the cache directory of `settings`, which must be on. A cache directory
// that it creates or finds empty receives a CACHEDIR.TAG (bford.info/cachedir), for backups.
[[nodiscard]] Result<CacheFolder> open_part(const CacheSettings& settings, std::string_view name,
                                            IfMissing if_missing);

// Runs `use` on a subdirectory of the cache directory. Repeats it a few times if it fails with
// file_not_found, because others may remove the directory at any time.
template <typename Use>
[[nodiscard]] Result<void> with_part(const CacheSettings& settings, std::string_view name,
                                     const Use& use) {
  constexpr int k_attempts = 5;
  for (int attempt = 1;; ++attempt) {
    auto folder = open_part(settings, name, IfMissing::create);
    auto result = folder.has_value() ? use(*folder) : Result<void>(tl::unexpected(folder.error()));
    if (result.has_value() || attempt == k_attempts ||
        result.error().code != ErrorCode::file_not_found) {
      return result;
    }
  }
}

} // namespace clbin::cache

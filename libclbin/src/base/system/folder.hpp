// An open folder, and its files by their names, for folders that other processes change meanwhile,
// and that other users must not change. Errors are numbers of errno.
#pragma once

#include "base/system/files.hpp"

#include <chrono>

namespace clbin::base {

struct OwnedStatus : FileStatus {
  // Why other users may have written to it; empty if only this user can have.
  std::string why_not_ours;
  // Why this user may not read and write it; empty if it may.
  std::string why_no_access;
};
[[nodiscard]] SystemResult<OwnedStatus> owned_status_of(int number);

enum class FileUse : std::uint8_t {
  read,   // an existing file; does not wait for the other end of a pipe
  create, // for writing; EEXIST if there is one
  lock,   // for reading and writing; created if it is missing
};

// Names are plain file names. No link is followed. New folders and files are this user's alone.
// Thread-safe.
class OpenFolder {
public:
  // Follows links. ENOENT: it is missing.
  [[nodiscard]] static SystemResult<OpenFolder> open(const std::filesystem::path& path);
  // Also creates missing parents. Returns 0, also if there is one, or an errno.
  [[nodiscard]] static int create(const std::filesystem::path& path);
  [[nodiscard]] SystemResult<OpenFolder> open_inside(const std::string& name) const;
  [[nodiscard]] int create_inside(const std::string& name) const noexcept;

  [[nodiscard]] SystemResult<OwnedStatus> status() const {
    return owned_status_of(m_folder.number());
  }
  // EBUSY: it is being removed, and another process still has it open.
  [[nodiscard]] SystemResult<FileDescriptor> open_file(const std::string& name,
                                                       FileUse use) const noexcept;
  [[nodiscard]] SystemResult<OwnedStatus> status_of(const std::string& name) const;
  // Replaces `to`. Who has opened that file continues to read it.
  [[nodiscard]] int rename(const std::string& from, const std::string& to) const noexcept;
  // Removes a file or an empty folder.
  void remove(const std::string& name) const noexcept;
  void set_modified(const std::string& name,
                    std::chrono::system_clock::time_point time) const noexcept;
  // Returns the names of files and folders, without "." and "..".
  [[nodiscard]] std::vector<std::string> list_names() const;

private:
  OpenFolder(FileDescriptor folder, std::filesystem::path path)
      : m_folder(std::move(folder)), m_path(std::move(path)) {}
  FileDescriptor m_folder;
  std::filesystem::path m_path; // on systems that open files by their full paths only
};

// Returns a warning if others than the owner of a secret file have rights to it.
[[nodiscard]] std::optional<std::string> warning_of_readers(const std::filesystem::path& path);

void set_modified(int number, std::chrono::system_clock::time_point time) noexcept;
// Writes from the beginning of the file without signals, or nothing if the process may not write as
// much. These two return 0 or an errno.
[[nodiscard]] int write_from_start(int number, ByteView bytes) noexcept;
[[nodiscard]] int truncate(int number, std::uint64_t size_bytes) noexcept;
// Locks a file exclusively, without waiting. Returns whether no other descriptor has locked it. The
// system removes the lock if the process ends.
[[nodiscard]] SystemResult<bool> try_lock(int number) noexcept;
// Waits until no other process has locked the folder, and locks it until the descriptor is closed.
// The descriptor is closed if the file system has no locks.
[[nodiscard]] FileDescriptor lock_folder(const std::filesystem::path& path) noexcept;
// Closing does not suffice: a child that was forked in the meantime shares the lock.
void unlock(int number) noexcept;

} // namespace clbin::base

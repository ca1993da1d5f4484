#include "base/system/folder.hpp"

#include "base/system/posix/calls.hpp"

#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

namespace clbin::base {

using TimePoint = std::chrono::system_clock::time_point;

namespace {

constexpr mode_t k_folder_mode = 0700;
constexpr mode_t k_file_mode = 0600;
constexpr mode_t k_others_write = 0022;

template <typename Call>
auto retrying(const Call& call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

SystemResult<FileDescriptor> open_at(int folder, const char* name, int flags,
                                     mode_t mode = 0) noexcept {
  FileDescriptor file(
      retrying([&] { return ::openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode); }));
  return file.is_open() ? SystemResult<FileDescriptor>(std::move(file)) : tl::unexpected(errno);
}

// Returns times that change the modification time and keep the access time.
std::array<timespec, 2> modification_time(TimePoint time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::nanoseconds rest = time - seconds;
  return {timespec{0, UTIME_OMIT},
          timespec{seconds.time_since_epoch().count(), static_cast<long>(rest.count())}};
}

OwnedStatus to_owned_status(const struct stat& status) {
  OwnedStatus owned{to_file_status(status), {}, {}};
  const unsigned mode = status.st_mode & 07777U;
  if (status.st_uid != ::geteuid()) {
    owned.why_not_ours = fmt::format("it belongs to another user (uid {})", status.st_uid);
  } else if ((status.st_mode & k_others_write) != 0) {
    owned.why_not_ours = fmt::format("other users may write to it (mode {:04o})", mode);
  }
  if ((status.st_mode & k_file_mode) != k_file_mode) {
    owned.why_no_access = fmt::format("its mode is {:04o}", mode);
  }
  return owned;
}

int make_folder(int base_folder, const char* name) noexcept {
  return ::mkdirat(base_folder, name, k_folder_mode) == 0 || errno == EEXIST ? 0 : errno;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using FolderListing = std::unique_ptr<DIR, CloseFolder>;

// Opens the directory again, so that its read position is not shared.
FolderListing open_for_listing(int folder) {
  auto again = open_at(folder, ".", O_RDONLY | O_DIRECTORY);
  if (!again.has_value()) {
    return nullptr;
  }
  const int number = ::fcntl(again->number(), F_DUPFD_CLOEXEC, 0);
  DIR* const listing = ::fdopendir(number);
  if (listing == nullptr) {
    ::close(number);
  }
  return FolderListing(listing);
}

} // namespace

SystemResult<OwnedStatus> owned_status_of(int number) {
  struct stat status {};
  return ::fstat(number, &status) == 0 ? SystemResult<OwnedStatus>(to_owned_status(status))
                                       : tl::unexpected(errno);
}

SystemResult<OpenFolder> OpenFolder::open(const std::filesystem::path& path) {
  return open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY).map([](FileDescriptor folder) {
    return OpenFolder(std::move(folder), {});
  });
}

int OpenFolder::create(const std::filesystem::path& path) {
  const int error_number = make_folder(AT_FDCWD, path.c_str());
  const auto parent = path.parent_path();
  if (error_number != ENOENT || parent.empty() || parent == path) {
    return error_number;
  }
  const int of_parent = create(parent);
  return of_parent == 0 ? make_folder(AT_FDCWD, path.c_str()) : of_parent;
}

SystemResult<OpenFolder> OpenFolder::open_inside(const std::string& name) const {
  return open_at(m_folder.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      .map([](FileDescriptor folder) { return OpenFolder(std::move(folder), {}); });
}

int OpenFolder::create_inside(const std::string& name) const noexcept {
  return make_folder(m_folder.number(), name.c_str());
}

SystemResult<FileDescriptor> OpenFolder::open_file(const std::string& name,
                                                   FileUse use) const noexcept {
  const int folder = m_folder.number();
  switch (use) {
  case FileUse::read: // O_NONBLOCK, because opening a pipe, for example, could block.
    return open_at(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  case FileUse::create:
    return open_at(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, k_file_mode);
  case FileUse::lock:
    break;
  }
  return open_at(folder, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, k_file_mode);
}

SystemResult<OwnedStatus> OpenFolder::status_of(const std::string& name) const {
  struct stat status {};
  return ::fstatat(m_folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? SystemResult<OwnedStatus>(to_owned_status(status))
             : tl::unexpected(errno);
}

int OpenFolder::rename(const std::string& from, const std::string& to) const noexcept {
  const int folder = m_folder.number();
  return ::renameat(folder, from.c_str(), folder, to.c_str()) == 0 ? 0 : errno;
}

void OpenFolder::remove(const std::string& name) const noexcept {
  if (::unlinkat(m_folder.number(), name.c_str(), 0) != 0 && errno == EISDIR) {
    (void)::unlinkat(m_folder.number(), name.c_str(), AT_REMOVEDIR);
  }
}

void OpenFolder::set_modified(const std::string& name, TimePoint time) const noexcept {
  (void)::utimensat(m_folder.number(), name.c_str(), modification_time(time).data(),
                    AT_SYMLINK_NOFOLLOW);
}

std::vector<std::string> OpenFolder::list_names() const {
  std::vector<std::string> names;
  const FolderListing listing = open_for_listing(m_folder.number());
  while (listing != nullptr) {
    const dirent* const item = ::readdir(listing.get());
    if (item == nullptr) {
      break;
    }
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return names;
}

void set_modified(int number, TimePoint time) noexcept {
  (void)::futimens(number, modification_time(time).data());
}

int write_from_start(int number, ByteView bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes.size() > limit.rlim_cur) {
    return EFBIG; // RLIM_INFINITY is the highest number
  }
  const int error_number = seek(number, 0);
  return error_number != 0 ? error_number : write_all_without_signals(number, bytes);
}

int truncate(int number, std::uint64_t size_bytes) noexcept {
  return ::ftruncate(number, static_cast<off_t>(size_bytes)) == 0 ? 0 : errno;
}

SystemResult<bool> try_lock(int number) noexcept {
  if (retrying([&] { return ::flock(number, LOCK_EX | LOCK_NB); }) == 0) {
    return true;
  }
  return errno == EWOULDBLOCK ? SystemResult<bool>(false) : tl::unexpected(errno);
}

FileDescriptor lock_folder(const std::filesystem::path& path) noexcept {
  FileDescriptor folder(open_retrying(path.c_str(), O_RDONLY | O_DIRECTORY));
  const bool is_locked =
      folder.is_open() && retrying([&] { return ::flock(folder.number(), LOCK_EX); }) == 0;
  return is_locked ? std::move(folder) : FileDescriptor();
}

void unlock(int number) noexcept {
  (void)::flock(number, LOCK_UN);
}

std::optional<std::string> warning_of_readers(const std::filesystem::path& path) {
  constexpr mode_t k_others = 0077;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_mode & k_others) == 0) {
    return std::nullopt;
  }
  return fmt::format("'{}' is secret, but its mode {:03o} lets others open it: chmod 600",
                     path.string(), status.st_mode & 0777U);
}

} // namespace clbin::base

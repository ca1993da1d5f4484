#include "cache/cache_folder.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace clbin::cache {

using base::reason_of;

namespace {

constexpr mode_t k_folder_mode = 0700;
constexpr mode_t k_file_mode = 0600;
constexpr mode_t k_others_write = 0022;
constexpr int k_max_name_attempts = 1000;

tl::unexpected<Error> system_error(ErrorCode code, std::string_view doing, const std::string& path,
                                   int error_number) {
  return fail(error_number == ENOENT ? ErrorCode::file_not_found : code, "cannot {} '{}': {}",
              doing, path, reason_of(error_number));
}

template <typename Call>
auto retrying(const Call& call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

int open_at(int folder, const char* name, int flags, mode_t mode = 0) noexcept {
  return retrying([&] { return ::openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode); });
}

TimePoint to_time_point(const timespec& time) noexcept {
  return TimePoint(std::chrono::duration_cast<TimePoint::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

// Returns times that change the modification time and keep the access time.
std::array<timespec, 2> modification_time(TimePoint time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::nanoseconds rest = time - seconds;
  return {timespec{0, UTIME_OMIT},
          timespec{seconds.time_since_epoch().count(), static_cast<long>(rest.count())}};
}

std::string path_of(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

// Returns why other users may have written to the file or directory; empty if only this user can
// have.
std::string why_not_ours(const struct stat& status) {
  if (status.st_uid != ::geteuid()) {
    return fmt::format("it belongs to another user (uid {})", status.st_uid);
  }
  if ((status.st_mode & k_others_write) != 0) {
    return fmt::format("other users may write to it (mode {:04o})", status.st_mode & 07777U);
  }
  return {};
}

// Returns 0 or an errno.
int make_folders(int base_folder, const std::filesystem::path& path) {
  const auto make = [&] {
    return ::mkdirat(base_folder, path.c_str(), k_folder_mode) == 0 || errno == EEXIST ? 0 : errno;
  };
  const int error_number = make();
  const auto parent = path.parent_path();
  if (error_number != ENOENT || parent.empty() || parent == path) {
    return error_number;
  }
  const int of_parent = make_folders(base_folder, parent);
  return of_parent == 0 ? make() : of_parent;
}

Result<std::shared_ptr<const FileDescriptor>>
open_folder(int base_folder, const char* name, const std::string& path, int extra_flags) {
  const int number = open_at(base_folder, name, O_RDONLY | O_DIRECTORY | extra_flags);
  if (number < 0) {
    return system_error(ErrorCode::file_read, "open the cache directory", path, errno);
  }
  const auto folder = std::make_shared<const FileDescriptor>(number);
  struct stat status {};
  if (::fstat(folder->number(), &status) != 0) {
    return system_error(ErrorCode::file_read, "open the cache directory", path, errno);
  }
  if (const std::string reason = why_not_ours(status); !reason.empty()) {
    return fail(ErrorCode::file_read, "the cache directory '{}' is not used: {}", path, reason);
  }
  return folder;
}

// Reads up to `size` bytes, fewer at the end of the file. std::nullopt on an error.
std::optional<Bytes> read_all(int file, std::size_t size) {
  Bytes bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = retrying(
        [&] { return ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(done)); });
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

struct TemporaryFile {
  FileDescriptor file;
  std::string name;
};

// Returns 0 or an errno.
int create_temporary(int folder, TemporaryFile& temporary) {
  static std::atomic<std::uint64_t> counter{0};
  for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
    // No other process or thread uses this name at the same time.
    temporary.name = fmt::format("{}-{}{}", ::getpid(), counter.fetch_add(1), k_temporary_suffix);
    temporary.file = FileDescriptor(
        open_at(folder, temporary.name.c_str(), O_WRONLY | O_CREAT | O_EXCL, k_file_mode));
    if (temporary.file.is_open()) {
      return 0;
    }
    if (errno != EEXIST) { // EEXIST: left behind by an earlier process with the same ID
      return errno;
    }
  }
  return EEXIST;
}

// Writes from the beginning of the file, or nothing if its limit (RLIMIT_FSIZE) is below the size.
// Returns 0 or an errno.
int write_from_start(int file, ByteView bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes.size() > limit.rlim_cur) {
    return EFBIG; // RLIM_INFINITY is the highest number
  }
  return ::lseek(file, 0, SEEK_SET) != 0 ? errno : base::write_all_without_signals(file, bytes);
}

// Returns 0 or an errno.
int fill_and_rename(int folder, TemporaryFile& temporary, const std::string& name, ByteView bytes,
                    TimePoint modified) {
  const int file = temporary.file.number();
  if (const int error_number = write_from_start(file, bytes); error_number != 0) {
    return error_number;
  }
  (void)::futimens(file, modification_time(modified).data());
  if (const int error_number = temporary.file.close(); error_number != 0) {
    return error_number;
  }
  return ::renameat(folder, temporary.name.c_str(), folder, name.c_str()) == 0 ? 0 : errno;
}

// Returns std::nullopt if there is no such file.
std::optional<struct stat> status_of(int folder, const std::string& name) noexcept {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? std::optional(status)
                                                                            : std::nullopt;
}

std::string why_not_our_file(const struct stat& status) {
  return S_ISREG(status.st_mode) ? why_not_ours(status) : "it is not a regular file";
}

// Returns why no cache can have created the file `name`; empty if one can have, or if there is no
// such file.
std::string why_no_cache_file(int folder, const std::string& name) {
  const auto status = status_of(folder, name);
  std::string reason = status.has_value() ? why_not_our_file(*status) : std::string();
  const bool is_usable = !status.has_value() || (status->st_mode & k_file_mode) == k_file_mode;
  return is_usable || !reason.empty() ? reason
                                      : fmt::format("its mode is {:04o}", status->st_mode & 07777U);
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// Opens the directory again, so that its read position is not shared.
OpenFolder open_for_listing(int folder) {
  const int number = open_at(folder, ".", O_RDONLY | O_DIRECTORY);
  if (number < 0) {
    return nullptr;
  }
  DIR* const listing = ::fdopendir(number);
  if (listing == nullptr) {
    ::close(number);
  }
  return OpenFolder(listing);
}

constexpr std::string_view k_tag_name = "CACHEDIR.TAG";
constexpr std::string_view k_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# libclbin and oclcc can rebuild the contents of this directory. See libclbin(3).\n";

bool is_our_name(std::string_view name) {
  return name == k_tag_name || name == k_programs_part || name == k_compilations_part ||
         name == k_attempts_part || name.ends_with(k_temporary_suffix);
}

// A directory that also contains other files must not be excluded from backups.
void tag_if_ours(const CacheFolder& folder, TimePoint now) {
  const auto names = folder.list_names();
  if (std::ranges::all_of(names, is_our_name) &&
      std::ranges::find(names, k_tag_name) == names.end()) {
    (void)folder.replace(std::string(k_tag_name), base::as_bytes(k_tag), now);
  }
}

} // namespace

// Closing does not suffice: a child that was forked in the meantime shares the lock.
void LockedFile::Unlock::operator()(FileDescriptor* file) const noexcept {
  (void)::flock(file->number(), LOCK_UN);
  delete file;
}

std::optional<Bytes> LockedFile::read(std::size_t max_bytes) const {
  return m_size_bytes <= max_bytes
             ? read_all(m_file->number(), static_cast<std::size_t>(m_size_bytes))
             : std::nullopt;
}

Result<void> LockedFile::write(ByteView bytes) {
  const bool is_longer = m_size_bytes > bytes.size();
  m_size_bytes = std::max<std::uint64_t>(m_size_bytes, bytes.size()); // also if it fails halfway
  int error_number = write_from_start(m_file->number(), bytes);
  if (error_number == 0 && is_longer &&
      ::ftruncate(m_file->number(), static_cast<off_t>(bytes.size())) != 0) {
    error_number = errno;
  }
  if (error_number != 0) {
    return system_error(ErrorCode::file_write, "write", m_name, error_number);
  }
  m_size_bytes = bytes.size();
  return {};
}

void LockedFile::remove() noexcept {
  if (m_file != nullptr) {
    (void)::unlinkat(m_folder->number(), m_name.c_str(), 0);
    m_file.reset();
  }
}

Result<CacheFolder> CacheFolder::open_or_create(int parent, const std::filesystem::path& name,
                                                int flags, const std::string& path,
                                                IfMissing if_missing) {
  auto folder = open_folder(parent, name.c_str(), path, flags);
  if (!folder.has_value() && folder.error().code == ErrorCode::file_not_found &&
      if_missing == IfMissing::create) {
    if (const int error_number = make_folders(parent, name); error_number != 0) {
      return system_error(ErrorCode::file_write, "create the cache directory", path, error_number);
    }
    folder = open_folder(parent, name.c_str(), path, flags);
  }
  CLBIN_TRY_ASSIGN(auto descriptor, std::move(folder));
  return CacheFolder(std::move(descriptor), path);
}

Result<CacheFolder> CacheFolder::open(const std::filesystem::path& path, IfMissing if_missing) {
  return open_or_create(AT_FDCWD, path, 0, path.string(), if_missing);
}

Result<CacheFolder> CacheFolder::open_inside(std::string_view name, IfMissing if_missing) const {
  return open_or_create(m_descriptor->number(), name, O_NOFOLLOW, path_of(m_path, name),
                        if_missing);
}

Result<FoundFile> CacheFolder::read(const std::string& name, std::uint64_t max_bytes) const {
  const std::string path = path_of(m_path, name);
  // O_NONBLOCK, because opening a pipe, for example, could block.
  const FileDescriptor file(
      open_at(m_descriptor->number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
    const int error_number = errno;
    const std::string reason = why_no_cache_file(m_descriptor->number(), name);
    return reason.empty() ? system_error(ErrorCode::file_read, "open", path, error_number)
                          : fail(ErrorCode::damaged, "'{}' is not used: {}", path, reason);
  }
  if (const std::string reason = why_not_our_file(status); !reason.empty()) {
    return fail(ErrorCode::damaged, "'{}' is not used: {}", path, reason);
  }
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    return fail(ErrorCode::limit_exceeded, "'{}' is larger than the limit of {} bytes", path,
                max_bytes);
  }
  auto bytes = read_all(file.number(), static_cast<std::size_t>(status.st_size));
  if (!bytes.has_value()) {
    return system_error(ErrorCode::file_read, "read", path, errno);
  }
  return FoundFile{*std::move(bytes), {status.st_dev, status.st_ino}};
}

Result<void> CacheFolder::replace(const std::string& name, ByteView bytes,
                                  TimePoint modified) const {
  TemporaryFile temporary;
  int error_number = create_temporary(m_descriptor->number(), temporary);
  if (error_number == 0) {
    error_number = fill_and_rename(m_descriptor->number(), temporary, name, bytes, modified);
    if (error_number == 0) {
      return {};
    }
    remove(temporary.name);
  }
  return system_error(ErrorCode::file_write, "write to the cache directory", m_path, error_number);
}

void CacheFolder::touch(const std::string& name, TimePoint now) const noexcept {
  (void)::utimensat(m_descriptor->number(), name.c_str(), modification_time(now).data(),
                    AT_SYMLINK_NOFOLLOW);
}

void CacheFolder::remove(const std::string& name) const noexcept {
  if (::unlinkat(m_descriptor->number(), name.c_str(), 0) != 0 && errno == EISDIR) {
    (void)::unlinkat(m_descriptor->number(), name.c_str(), AT_REMOVEDIR);
  }
}

bool CacheFolder::remove_planted(const std::string& name) const {
  if (why_no_cache_file(m_descriptor->number(), name).empty()) {
    return false;
  }
  remove(name);
  return !size_of(name).has_value();
}

void CacheFolder::remove_if_same(const std::string& name,
                                 const FileIdentity& identity) const noexcept {
  const auto status = status_of(m_descriptor->number(), name);
  if (status.has_value() && FileIdentity{status->st_dev, status->st_ino} == identity) {
    remove(name);
  }
}

std::optional<std::uint64_t> CacheFolder::size_of(const std::string& name) const noexcept {
  const auto status = status_of(m_descriptor->number(), name);
  return status.has_value() ? std::optional(static_cast<std::uint64_t>(status->st_size))
                            : std::nullopt;
}

std::vector<std::string> CacheFolder::list_names() const {
  std::vector<std::string> names;
  const OpenFolder listing = open_for_listing(m_descriptor->number());
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

std::vector<FileRow> CacheFolder::list() const {
  std::vector<FileRow> rows;
  for (std::string& name : list_names()) {
    const auto status = status_of(m_descriptor->number(), name);
    if (status.has_value() && S_ISREG(status->st_mode)) {
      rows.push_back({std::move(name), static_cast<std::uint64_t>(status->st_size),
                      to_time_point(status->st_mtim)});
    }
  }
  return rows;
}

Result<std::optional<LockedFile>> CacheFolder::try_lock(const std::string& name) const {
  const std::string path = path_of(m_path, name);
  for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
    auto file = std::make_unique<FileDescriptor>(
        open_at(m_descriptor->number(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, k_file_mode));
    if (file->number() < 0) {
      const int error_number = errno;
      if (remove_planted(name)) {
        continue;
      }
      return system_error(ErrorCode::file_write, "open", path, error_number);
    }
    if (retrying([&] { return ::flock(file->number(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == EWOULDBLOCK) {
        return std::optional<LockedFile>();
      }
      return system_error(ErrorCode::file_write, "lock", path, errno);
    }
    // The previous owner of the lock may have removed the file.
    struct stat status {};
    const bool is_known = ::fstat(file->number(), &status) == 0;
    if (is_known && !S_ISREG(status.st_mode) && remove_planted(name)) {
      continue;
    }
    if (is_known && status.st_nlink != 0) {
      return std::optional(LockedFile(m_descriptor, name, std::move(file),
                                      static_cast<std::uint64_t>(status.st_size)));
    }
  }
  return std::optional<LockedFile>(); // others are faster every time: treated as locked
}

Result<CacheFolder> open_part(const CacheSettings& settings, std::string_view name,
                              IfMissing if_missing) {
  CLBIN_TRY_ASSIGN(const CacheFolder folder, CacheFolder::open(settings.folder, if_missing));
  auto part = folder.open_inside(name, IfMissing::leave);
  if (if_missing == IfMissing::create && !part.has_value() &&
      part.error().code == ErrorCode::file_not_found) {
    part = folder.open_inside(name, IfMissing::create);
    tag_if_ours(folder, settings.now());
  }
  return part;
}

} // namespace clbin::cache

#include "cache/cache_folder.hpp"

#include "base/system/process.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace clbin::cache {

using base::FileUse;
using base::OwnedStatus;
using base::SystemResult;

namespace {

constexpr int k_max_name_attempts = 1000;

tl::unexpected<Error> system_error(ErrorCode code, std::string_view doing, const std::string& path,
                                   int error_number) {
  return fail(error_number == ENOENT ? ErrorCode::file_not_found : code, "cannot {} '{}': {}",
              doing, path, base::reason_of(error_number));
}

std::string path_of(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

TimePoint to_time_point(const base::FileTime& time) noexcept {
  return TimePoint(std::chrono::duration_cast<TimePoint::duration>(
      std::chrono::seconds(time.seconds) + std::chrono::nanoseconds(time.nanoseconds)));
}

// `open` and `create` open the folder, and create it if it is missing.
template <typename Open, typename Create>
Result<OpenFolder> open_or_create(const Open& open, const Create& create, const std::string& path,
                                  IfMissing if_missing) {
  SystemResult<OpenFolder> folder = open();
  if (!folder && folder.error() == ENOENT && if_missing == IfMissing::create) {
    if (const int error_number = create(); error_number != 0) {
      return system_error(ErrorCode::file_write, "create the cache directory", path, error_number);
    }
    folder = open();
  }
  const auto status = folder.and_then([](const OpenFolder& opened) { return opened.status(); });
  if (!status) {
    return system_error(ErrorCode::file_read, "open the cache directory", path, status.error());
  }
  if (!status->why_not_ours.empty()) {
    return fail(ErrorCode::file_read, "the cache directory '{}' is not used: {}", path,
                status->why_not_ours);
  }
  return *std::move(folder);
}

// Reads up to `size` bytes, fewer at the end of the file.
SystemResult<Bytes> read_all(int file, std::size_t size) {
  Bytes bytes(size);
  return base::read_at(file, 0, bytes).map([&](std::size_t got) {
    bytes.resize(got);
    return std::move(bytes);
  });
}

struct TemporaryFile {
  FileDescriptor file;
  std::string name;
};

SystemResult<TemporaryFile> create_temporary(const OpenFolder& folder) {
  static std::atomic<std::uint64_t> counter{0};
  for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
    // No other process or thread uses this name at the same time.
    std::string name =
        fmt::format("{}-{}{}", base::process_id(), counter.fetch_add(1), k_temporary_suffix);
    auto file = folder.open_file(name, FileUse::create);
    if (file) {
      return TemporaryFile{*std::move(file), std::move(name)};
    }
    if (file.error() != EEXIST) { // EEXIST: left behind by an earlier process with the same ID
      return tl::unexpected(file.error());
    }
  }
  return tl::unexpected(EEXIST);
}

// Returns 0 or an errno.
int fill_and_rename(const OpenFolder& folder, TemporaryFile& temporary, const std::string& name,
                    ByteView bytes, TimePoint modified) {
  const int file = temporary.file.number();
  if (const int error_number = base::write_from_start(file, bytes); error_number != 0) {
    return error_number;
  }
  base::set_modified(file, modified);
  const int error_number = temporary.file.close();
  return error_number != 0 ? error_number : folder.rename(temporary.name, name);
}

std::string why_not_our_file(const OwnedStatus& status) {
  return status.kind == base::FileKind::regular ? status.why_not_ours : "it is not a regular file";
}

// Returns why no cache can have created the file `name`; empty if one can have, or if there is no
// such file.
std::string why_no_cache_file(const OpenFolder& folder, const std::string& name) {
  const auto status = folder.status_of(name);
  std::string reason = status.has_value() ? why_not_our_file(*status) : std::string();
  return !status.has_value() || !reason.empty() ? reason : status->why_no_access;
}

// Removes a file that no cache can have created. Returns whether it did and `name` is now free.
bool remove_planted(const OpenFolder& folder, const std::string& name) {
  if (why_no_cache_file(folder, name).empty()) {
    return false;
  }
  folder.remove(name);
  return !folder.status_of(name).has_value();
}

constexpr std::string_view k_tag_name = "CACHEDIR.TAG";
constexpr std::string_view k_tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# libclbin and oclcc can rebuild the contents of this directory. See libclbin(3).\n";

bool is_our_name(std::string_view name) {
  return name == k_tag_name || name == k_programs_part || name == k_compilations_part ||
         name == k_attempts_part || name == k_answers_part || name.ends_with(k_temporary_suffix);
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

void LockedFile::Unlock::operator()(FileDescriptor* file) const noexcept {
  base::unlock(file->number());
  delete file;
}

std::optional<Bytes> LockedFile::read(std::size_t max_bytes) const {
  if (m_size_bytes > max_bytes) {
    return std::nullopt;
  }
  auto bytes = read_all(m_file->number(), static_cast<std::size_t>(m_size_bytes));
  return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
}

Result<void> LockedFile::write(ByteView bytes) {
  const bool is_longer = m_size_bytes > bytes.size();
  m_size_bytes = std::max<std::uint64_t>(m_size_bytes, bytes.size()); // also if it fails halfway
  int error_number = base::write_from_start(m_file->number(), bytes);
  if (error_number == 0 && is_longer) {
    error_number = base::truncate(m_file->number(), bytes.size());
  }
  if (error_number != 0) {
    return system_error(ErrorCode::file_write, "write", m_name, error_number);
  }
  m_size_bytes = bytes.size();
  return {};
}

void LockedFile::remove() noexcept {
  if (m_file != nullptr) {
    m_folder->remove(m_name);
    m_file.reset();
  }
}

Result<CacheFolder> CacheFolder::open(const std::filesystem::path& path, IfMissing if_missing) {
  CLBIN_TRY_ASSIGN(OpenFolder folder, open_or_create([&] { return OpenFolder::open(path); },
                                                     [&] { return OpenFolder::create(path); },
                                                     base::name_of(path), if_missing));
  return CacheFolder(std::move(folder), base::name_of(path));
}

Result<CacheFolder> CacheFolder::open_inside(std::string_view part, IfMissing if_missing) const {
  const std::string name(part);
  const std::string path = path_of(m_path, name);
  CLBIN_TRY_ASSIGN(OpenFolder folder,
                   open_or_create([&] { return m_folder->open_inside(name); },
                                  [&] { return m_folder->create_inside(name); }, path, if_missing));
  return CacheFolder(std::move(folder), path);
}

Result<FoundFile> CacheFolder::read(const std::string& name, std::uint64_t max_bytes) const {
  const std::string path = path_of(m_path, name);
  const auto file = m_folder->open_file(name, FileUse::read);
  const auto status =
      file.and_then([](const auto& opened) { return base::owned_status_of(opened.number()); });
  if (!status) {
    const std::string reason = why_no_cache_file(*m_folder, name);
    return reason.empty() ? system_error(ErrorCode::file_read, "open", path, status.error())
                          : fail(ErrorCode::damaged, "'{}' is not used: {}", path, reason);
  }
  if (const std::string reason = why_not_our_file(*status); !reason.empty()) {
    return fail(ErrorCode::damaged, "'{}' is not used: {}", path, reason);
  }
  if (status->size_bytes > max_bytes) {
    return fail(ErrorCode::limit_exceeded, "'{}' is larger than the limit of {} bytes", path,
                max_bytes);
  }
  auto bytes = read_all(file->number(), static_cast<std::size_t>(status->size_bytes));
  if (!bytes) {
    return system_error(ErrorCode::file_read, "read", path, bytes.error());
  }
  return FoundFile{*std::move(bytes), {status->device, status->inode}};
}

Result<void> CacheFolder::replace(const std::string& name, ByteView bytes,
                                  TimePoint modified) const {
  auto temporary = create_temporary(*m_folder);
  int error_number = temporary ? 0 : temporary.error();
  if (temporary) {
    error_number = fill_and_rename(*m_folder, *temporary, name, bytes, modified);
    if (error_number == 0) {
      return {};
    }
    remove(temporary->name);
  }
  return system_error(ErrorCode::file_write, "write to the cache directory", m_path, error_number);
}

void CacheFolder::remove_if_same(const std::string& name, const FileIdentity& identity) const {
  const auto status = m_folder->status_of(name);
  if (status.has_value() && FileIdentity{status->device, status->inode} == identity) {
    remove(name);
  }
}

std::optional<std::uint64_t> CacheFolder::size_of(const std::string& name) const {
  const auto status = m_folder->status_of(name);
  return status.has_value() ? std::optional(status->size_bytes) : std::nullopt;
}

std::vector<FileRow> CacheFolder::list() const {
  std::vector<FileRow> rows;
  for (std::string& name : list_names()) {
    const auto status = m_folder->status_of(name);
    if (status.has_value() && status->kind == base::FileKind::regular) {
      rows.push_back({std::move(name), status->size_bytes, to_time_point(status->modified)});
    }
  }
  return rows;
}

Result<std::optional<LockedFile>> CacheFolder::try_lock(const std::string& name) const {
  const std::string path = path_of(m_path, name);
  for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
    auto file = m_folder->open_file(name, FileUse::lock);
    if (!file) {
      if (file.error() == EBUSY) {
        return std::optional<LockedFile>();
      }
      if (remove_planted(*m_folder, name)) {
        continue;
      }
      return system_error(ErrorCode::file_write, "open", path, file.error());
    }
    const auto is_locked = base::try_lock(file->number());
    if (!is_locked) {
      return system_error(ErrorCode::file_write, "lock", path, is_locked.error());
    }
    if (!*is_locked) {
      return std::optional<LockedFile>();
    }
    // The previous owner of the lock may have removed the file.
    const auto status = base::status_of(file->number());
    if (status && status->kind != base::FileKind::regular && remove_planted(*m_folder, name)) {
      continue;
    }
    if (status && !status->is_removed) {
      return std::optional(LockedFile(
          m_folder, name, std::make_unique<FileDescriptor>(*std::move(file)), status->size_bytes));
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

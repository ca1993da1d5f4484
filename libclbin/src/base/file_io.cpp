#include "base/file_io.hpp"

#include "base/system/process.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <limits>
#include <system_error>

namespace clbin::base {

namespace {

constexpr std::uint64_t k_first_read_bytes = 64U << 10U;
constexpr const char* k_spill_name = "a temporary file";

// `owner`, if it is not null, keeps `bytes`.
std::shared_ptr<const ByteSource> source_of(ByteView bytes, const std::string& name,
                                            std::shared_ptr<const Bytes> owner) {
  return std::make_shared<ByteSource>(
      bytes.size(), name, name,
      [bytes, owner = std::move(owner)](std::uint64_t offset, std::uint64_t size_bytes,
                                        std::string_view /*field*/) {
        return ByteRegion::borrow(
            bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size_bytes)));
      });
}

tl::unexpected<Error> too_large(const std::string& name, std::uint64_t max_bytes) {
  return fail(ErrorCode::limit_exceeded, "{} is larger than the limit of {} bytes", name,
              max_bytes);
}

// Returns the size that the system reports for a regular file, otherwise 0. Files of /proc report 0
// although they have contents.
std::uint64_t told_size(int number) noexcept {
  const auto status = status_of(number);
  return status && status->kind == FileKind::regular ? status->size_bytes : 0;
}

Result<Bytes> read_to_end(int number, const std::string& name, std::uint64_t max_bytes) {
  const std::uint64_t told = told_size(number);
  if (told > max_bytes) {
    return too_large(name, max_bytes);
  }
  // Requests one byte above the limit, to distinguish a file of exactly that size from a larger
  // one.
  const std::uint64_t most =
      max_bytes == std::numeric_limits<std::uint64_t>::max() ? max_bytes : max_bytes + 1;
  CLBIN_TRY_ASSIGN(Bytes bytes,
                   allocate_bytes(std::min(told == 0 ? k_first_read_bytes : told + 1, most), name));
  std::size_t done = 0;
  while (true) {
    if (done > max_bytes) {
      return too_large(name, max_bytes);
    }
    if (done == bytes.size()) {
      CLBIN_TRY_ASSIGN(Bytes larger,
                       allocate_bytes(std::min<std::uint64_t>(2 * bytes.size(), most), name));
      std::copy(bytes.begin(), bytes.end(), larger.begin());
      bytes = std::move(larger);
    }
    const auto got = read_some(number, std::span(bytes).subspan(done));
    if (!got) {
      return read_error(name, got.error());
    }
    if (*got == 0) {
      bytes.resize(done);
      return bytes;
    }
    done += *got;
  }
}

Result<FileDescriptor> open_input(const std::filesystem::path& path, MissingWriter missing_writer) {
  if (const std::string reason = why_no_file_name(path); !reason.empty()) {
    return fail(ErrorCode::file_read, "cannot open {}: {}", in_quotes(path), reason);
  }
  auto file = open_to_read(path, missing_writer);
  return file ? Result<FileDescriptor>(*std::move(file))
              : open_error(in_quotes(path), file.error());
}

struct RegularFile {
  FileDescriptor file;
  FileStatus status;
};

Result<RegularFile> open_regular_file(const std::filesystem::path& path) {
  // Rejects a pipe without waiting for its other end.
  CLBIN_TRY_ASSIGN(FileDescriptor file, open_input(path, MissingWriter::is_the_end));
  const auto status = status_of(file.number());
  if (!status) {
    return read_error(in_quotes(path), status.error());
  }
  if (status->kind == FileKind::folder) {
    return read_error(in_quotes(path), EISDIR);
  }
  if (status->kind != FileKind::regular) {
    return fail(ErrorCode::file_read, "cannot read {}: not a regular file", in_quotes(path));
  }
  return RegularFile{std::move(file), *status};
}

// Returns `folder`, or the system's temporary directory if `folder` is empty.
Result<std::filesystem::path> folder_of_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  auto place = folder.empty() ? std::filesystem::temp_directory_path(error) : folder;
  if (error) {
    return fail(ErrorCode::file_write, "no directory for temporary files: {}", error.message());
  }
  return place;
}

} // namespace

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

std::string in_quotes(const std::filesystem::path& path) {
  return fmt::format("'{}'", name_of(path));
}

std::vector<std::filesystem::path> paths_in(std::string_view list) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view path : words_between(path_separator(), list)) {
    if (std::ranges::find(paths, to_path(path)) == paths.end()) {
      paths.push_back(to_path(path));
    }
  }
  return paths;
}

tl::unexpected<Error> open_error(const std::string& name, int error_number) {
  const bool is_missing = error_number == ENOENT || error_number == ENOTDIR;
  return fail(is_missing ? ErrorCode::file_not_found : ErrorCode::file_read, "cannot open {}: {}",
              name, reason_of(error_number));
}

tl::unexpected<Error> read_error(const std::string& name, int error_number) {
  return fail(ErrorCode::file_read, "cannot read {}: {}", name, reason_of(error_number));
}

tl::unexpected<Error> write_error(const std::string& name, int error_number) {
  return fail(ErrorCode::file_write, "cannot write {}: {}", name, reason_of(error_number));
}

Result<ByteRegion> ByteSource::read(std::uint64_t offset, std::uint64_t size_bytes,
                                    std::string_view field) const {
  if (offset > m_size_bytes || size_bytes > m_size_bytes - offset) {
    return fail(ErrorCode::truncated, "{}: {} at offset {} needs {} bytes of {}", m_shown, field,
                offset, size_bytes, m_size_bytes);
  }
  return m_read(offset, size_bytes, field);
}

std::shared_ptr<const ByteSource> memory_source(ByteView bytes) {
  return source_of(bytes, "memory", nullptr);
}

std::shared_ptr<const ByteSource> owning_source(Bytes bytes, const std::string& name) {
  auto owned = std::make_shared<const Bytes>(std::move(bytes));
  const ByteView view = *owned;
  return source_of(view, name, std::move(owned));
}

std::shared_ptr<const ByteSource> callback_source(ReadFunction read, std::uint64_t size_bytes,
                                                  std::string name) {
  const std::string label = name;
  return std::make_shared<ByteSource>(
      size_bytes, label, label,
      [read = std::move(read),
       name = std::move(name)](std::uint64_t offset, std::uint64_t region_bytes,
                               std::string_view field) -> Result<ByteRegion> {
        CLBIN_TRY_ASSIGN(Bytes bytes, allocate_bytes(region_bytes, name));
        const int code = bytes.empty() ? 0 : read(offset, bytes);
        if (code != 0) {
          return fail(ErrorCode::file_read, "{}: reading {} at offset {} failed with code {}", name,
                      field, offset, code);
        }
        return ByteRegion::own(std::move(bytes));
      });
}

Result<std::shared_ptr<const ByteSource>> open_file_source(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(RegularFile opened, open_regular_file(path));
  const auto file = std::make_shared<const FileDescriptor>(std::move(opened.file));
  const std::string shown = in_quotes(path);
  std::error_code error; // without a working directory, there is no absolute path
  auto absolute = std::filesystem::absolute(path, error);
  return std::make_shared<ByteSource>(
      opened.status.size_bytes, name_of(path), shown,
      [file, shown](std::uint64_t offset, std::uint64_t size_bytes,
                    std::string_view field) -> Result<ByteRegion> {
        CLBIN_TRY_ASSIGN(Bytes bytes, allocate_bytes(size_bytes, shown));
        const auto got = read_at(file->number(), offset, bytes);
        if (!got) {
          return read_error(shown, got.error());
        }
        if (*got < bytes.size()) {
          return fail(ErrorCode::truncated,
                      "{}: {} at offset {}: the file was truncated during the read", shown, field,
                      offset);
        }
        return ByteRegion::own(std::move(bytes));
      },
      [absolute = std::move(absolute), status = opened.status] {
        return status_of(absolute) == status;
      });
}

Result<Bytes> read_whole_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                              MissingWriter missing_writer) {
  if (path == "-") {
    return read_to_end(k_standard_input, "standard input", max_bytes);
  }
  CLBIN_TRY_ASSIGN(const FileDescriptor file, open_input(path, missing_writer));
  return read_to_end(file.number(), in_quotes(path), max_bytes);
}

Result<Bytes> read_regular_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  CLBIN_TRY_ASSIGN(const RegularFile opened, open_regular_file(path));
  return read_to_end(opened.file.number(), in_quotes(path), max_bytes);
}

Result<TemporaryFolder> TemporaryFolder::create(const std::filesystem::path& parent,
                                                std::string_view name_prefix) {
  CLBIN_TRY_ASSIGN(const auto folder, folder_of_temporaries(parent));
  auto path = create_private_folder(folder, name_prefix);
  if (!path) {
    return fail(ErrorCode::file_write, "cannot create a temporary directory in {}: {}",
                in_quotes(folder), reason_of(path.error()));
  }
  return TemporaryFolder(*std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (!m_path.empty()) {
    std::error_code ignored; // cannot be reported; the system cleans its own temporary directory
    std::filesystem::remove_all(m_path, ignored);
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  // The previous directory is removed when `other` is destroyed.
  std::swap(m_path, other.m_path);
  return *this;
}

Result<std::shared_ptr<SpillFile>> SpillFile::create(const std::filesystem::path& folder) {
  CLBIN_TRY_ASSIGN(const auto place, folder_of_temporaries(folder));
  auto file = create_unnamed_file(place);
  if (!file) {
    return fail(ErrorCode::file_write, "cannot create a temporary file in {}: {}", in_quotes(place),
                reason_of(file.error()));
  }
  return std::shared_ptr<SpillFile>(new SpillFile(*std::move(file)));
}

KeptBytes::KeptBytes(ByteRegion region)
    : m_memory(std::make_shared<const ByteRegion>(std::move(region))),
      m_size_bytes(m_memory->view().size()) {}

Result<KeptBytes> KeptBytes::spill(const std::shared_ptr<SpillFile>& file, ByteView bytes) {
  // The end of the valid bytes: a failed append can leave the file position beyond it.
  const int number = file->m_file.number();
  int error_number = seek(number, file->m_size_bytes);
  error_number = error_number == 0 ? write_all(number, bytes) : error_number;
  if (error_number != 0) {
    return write_error(k_spill_name, error_number);
  }
  KeptBytes kept;
  kept.m_file = file;
  kept.m_offset = std::exchange(file->m_size_bytes, file->m_size_bytes + bytes.size());
  kept.m_size_bytes = bytes.size();
  return kept;
}

Result<ByteRegion> KeptBytes::read() const {
  if (!m_file) {
    return ByteRegion::borrow(m_memory ? m_memory->view() : ByteView());
  }
  Bytes bytes(static_cast<std::size_t>(m_size_bytes));
  const auto got = read_at(m_file->m_file.number(), m_offset, bytes);
  if (!got || *got < bytes.size()) {
    return read_error(k_spill_name, got ? EIO : got.error());
  }
  return ByteRegion::own(std::move(bytes));
}

Result<void> write_output_file(const std::filesystem::path& path, ByteView bytes) {
  CLBIN_TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  CLBIN_TRY(file.append(bytes));
  return file.commit();
}

} // namespace clbin::base

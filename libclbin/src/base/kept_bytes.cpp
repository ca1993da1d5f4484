#include "base/kept_bytes.hpp"

#include "base/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr std::string_view k_name = "a temporary file";
constexpr mode_t k_private_mode = 0600;

// Opens a file without a name, or, if the file system does not support that, removes its name at
// once.
FileDescriptor open_unnamed(const std::filesystem::path& folder) {
  FileDescriptor file(open_retrying(folder.c_str(), O_TMPFILE | O_RDWR, k_private_mode));
  if (file.is_open()) {
    return file;
  }
  std::string name = (folder / "clbin-XXXXXX").string();
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (file.is_open()) {
    ::unlink(name.c_str());
  }
  return file;
}

} // namespace

struct SpillFile::State {
  FileDescriptor file;
  std::uint64_t size_bytes = 0;
};

SpillFile::SpillFile(std::unique_ptr<State> state) : m_state(std::move(state)) {}
SpillFile::~SpillFile() = default;

Result<std::shared_ptr<SpillFile>> SpillFile::create(const std::filesystem::path& folder) {
  std::error_code error;
  const auto place = folder.empty() ? std::filesystem::temp_directory_path(error) : folder;
  if (error) {
    return fail(ErrorCode::file_write, "no directory for temporary files: {}", error.message());
  }
  auto state = std::make_unique<State>();
  state->file = open_unnamed(place);
  if (!state->file.is_open()) {
    return fail(ErrorCode::file_write, "cannot create a temporary file in {}: {}", in_quotes(place),
                reason_of(errno));
  }
  return std::shared_ptr<SpillFile>(new SpillFile(std::move(state)));
}

Result<std::uint64_t> SpillFile::append(ByteView bytes) {
  // The end of the valid bytes: a failed append can leave the file position beyond it.
  const auto start = static_cast<off_t>(m_state->size_bytes);
  if (::lseek(m_state->file.number(), start, SEEK_SET) != start) {
    return write_error(std::string(k_name), errno);
  }
  if (const int error_number = write_all(m_state->file.number(), bytes); error_number != 0) {
    return write_error(std::string(k_name), error_number);
  }
  m_state->size_bytes += bytes.size();
  return static_cast<std::uint64_t>(start);
}

Result<Bytes> SpillFile::read(std::uint64_t offset, std::uint64_t size_bytes) const {
  Bytes bytes(static_cast<std::size_t>(size_bytes));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(m_state->file.number(), bytes.data() + done,
                std::min(bytes.size() - done, k_max_io_bytes), static_cast<off_t>(offset + done));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return read_error(std::string(k_name), got == 0 ? EIO : errno);
    }
    done += got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  return bytes;
}

KeptBytes::KeptBytes(Bytes bytes) : KeptBytes(ByteRegion::own(std::move(bytes))) {}

KeptBytes::KeptBytes(ByteRegion region)
    : m_memory(std::make_shared<const ByteRegion>(std::move(region))),
      m_size_bytes(m_memory->view().size()) {}

Result<KeptBytes> KeptBytes::spill(const std::shared_ptr<SpillFile>& file, ByteView bytes) {
  KeptBytes kept;
  CLBIN_TRY_ASSIGN(kept.m_offset, file->append(bytes));
  kept.m_file = file;
  kept.m_size_bytes = bytes.size();
  return kept;
}

Result<ByteRegion> KeptBytes::read() const {
  if (!m_file) {
    return ByteRegion::borrow(m_memory ? m_memory->view() : ByteView());
  }
  CLBIN_TRY_ASSIGN(Bytes bytes, m_file->read(m_offset, m_size_bytes));
  return ByteRegion::own(std::move(bytes));
}

} // namespace clbin::base

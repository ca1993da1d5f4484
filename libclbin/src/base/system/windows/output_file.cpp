#include "base/file_io.hpp"
#include "base/system/windows/names.hpp"

#include <cerrno>

namespace clbin::base {

namespace {

// While this is set, the system removes the file when the process ends.
void set_removal_at_end(const FileDescriptor& file, bool is_removed) noexcept {
  FILE_DISPOSITION_INFO disposition{static_cast<BOOLEAN>(is_removed)};
  (void)::SetFileInformationByHandle(windows::handle_of(file.number()), FileDispositionInfo,
                                     &disposition, sizeof disposition);
}

} // namespace

// Either `in_place` is open or `temporary` exists, which the system removes if the process is
// killed. A file has the rights of its folder, also if it replaces another.
struct OutputFile::State {
  ~State() {
    if (temporary.close() == 0 && !temporary_path.empty()) {
      (void)windows::remove(windows::full_name(temporary_path)); // usually gone already
    }
  }
  std::string name; // for messages
  FileDescriptor in_place;
  FileDescriptor temporary;
  std::filesystem::path temporary_path;
  std::filesystem::path target;

  // Returns 0 or an errno.
  [[nodiscard]] int create_temporary() {
    for (int attempt = 0; attempt < windows::k_max_name_attempts; ++attempt) {
      temporary_path = target.parent_path() / to_path(windows::unused_name(".clbin-", ".tmp"));
      auto file = windows::open_named(windows::full_name(temporary_path),
                                      {GENERIC_WRITE | DELETE, CREATE_NEW, windows::k_new_file});
      if (file) {
        temporary = *std::move(file);
        set_removal_at_end(temporary, true);
        return 0;
      }
      if (file.error() != EEXIST) {
        temporary_path.clear();
        return file.error();
      }
    }
    return EEXIST;
  }
};

OutputFile::OutputFile(std::unique_ptr<State> state) : m_state(std::move(state)) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&& other) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&& other) noexcept = default;

Result<OutputFile> OutputFile::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  if (path == "-") {
    state->name = "standard output";
    state->in_place = FileDescriptor(k_standard_output, CloseAtEnd::no);
    return OutputFile(std::move(state));
  }
  state->name = in_quotes(path);
  if (const std::string reason = why_no_file_name(path); !reason.empty()) {
    return fail(ErrorCode::file_write, "cannot write {}: {}", state->name, reason);
  }
  std::error_code error;
  state->target = std::filesystem::is_symlink(path, error)
                      ? std::filesystem::weakly_canonical(path, error)
                      : path;
  if (error && std::filesystem::is_symlink(path, error)) {
    return write_error(state->name, ELOOP);
  }
  const auto status = status_of(state->target);
  if (status ? status->kind == FileKind::folder : !state->target.has_filename()) {
    return write_error(state->name, path.empty() ? ENOENT : EISDIR);
  }
  if (const int error_number = state->create_temporary(); error_number != 0) {
    return write_error(state->name, error_number);
  }
  return OutputFile(std::move(state));
}

Result<void> OutputFile::append(ByteView bytes) {
  const FileDescriptor& file = m_state->in_place.is_open() ? m_state->in_place : m_state->temporary;
  const int error_number = write_all(file.number(), bytes);
  return error_number == 0 ? Result<void>() : write_error(m_state->name, error_number);
}

Result<void> OutputFile::commit() {
  State& state = *m_state;
  int error_number = 0;
  if (state.in_place.is_open()) {
    error_number = state.in_place.close();
  } else {
    set_removal_at_end(state.temporary, false);
    error_number = state.temporary.close();
    error_number = error_number == 0 ? windows::rename(windows::full_name(state.temporary_path),
                                                       windows::full_name(state.target))
                                     : error_number;
    if (error_number == 0) {
      state.temporary_path.clear();
    }
  }
  return error_number == 0 ? Result<void>() : write_error(state.name, error_number);
}

} // namespace clbin::base

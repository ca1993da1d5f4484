#include "base/file_io.hpp"
#include "base/system/posix/calls.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clbin::base {

namespace {

constexpr mode_t k_new_file_mode = 0666; // from which the system subtracts the umask
constexpr mode_t k_private_file_mode = 0600;
constexpr mode_t k_kept_mode_bits = 0777;
constexpr int k_max_symlinks = 40;        // as in the Linux kernel
constexpr int k_max_name_attempts = 1000; // of temporary files

// Returns the descriptor of a path such as /dev/stdout that names an open stream of this process.
// Opening the path again would write a regular file from its start, and fails for a socket.
std::optional<int> open_stream(std::string_view path) noexcept {
  if (path == "/dev/stdout") {
    return STDOUT_FILENO;
  }
  if (path == "/dev/stderr") {
    return STDERR_FILENO;
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const auto number =
        path.starts_with(folder) ? parse_number<int>(path.substr(folder.size())) : std::nullopt;
    if (number && *number >= 0) {
      return number;
    }
  }
  return std::nullopt;
}

// Returns the path that an open with O_CREAT would create: the last component's links are followed,
// even if dangling, but only if a regular file may be at their end. Links of /proc do not
// necessarily contain a path.
Result<std::filesystem::path> follow_symlinks(const std::filesystem::path& path) {
  std::filesystem::path current = path;
  for (int hop = 0; hop <= k_max_symlinks; ++hop) {
    struct stat status {};
    const bool is_link = ::lstat(current.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (!is_link || open_stream(current.string()).has_value()) {
      return current;
    }
    if (::stat(current.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      return current;
    }
    std::error_code error;
    const auto target = std::filesystem::read_symlink(current, error);
    if (error) {
      return write_error(in_quotes(path), error.value());
    }
    current = current.parent_path() / target; // an absolute target replaces the path
  }
  return write_error(in_quotes(path), ELOOP);
}

// Runs `step` in another process, which continues if this process or its process group is killed.
// Returns the errno that `step` returns; std::nullopt if it is unknown because only the other
// process was killed or SIGCHLD is ignored. If no process can be started, runs `step` in this one.
std::optional<int> run_apart(const std::function<int()>& step) {
  const BlockedSignals blocked(all_signals());
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::_exit(step());
  }
  blocked.restore();
  if (child < 0) {
    return step();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return std::nullopt;
    }
  }
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

enum class Place : std::uint8_t { is_free, has_file };

// A file to be written, unnamed or with a temporary name. The file is removed unless it was
// renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(std::filesystem::path folder) : m_folder(std::move(folder)) {}
  ~TemporaryFile() {
    if (!m_name.empty()) {
      ::unlink(m_name.c_str());
    }
  }
  TemporaryFile(TemporaryFile&&) = delete; // and no copies

  // Returns 0 or an errno, like the other methods. If the file system supports it (O_TMPFILE), the
  // file has no name, and a killed process leaves nothing behind.
  [[nodiscard]] int create(mode_t mode) {
    m_file = FileDescriptor(open_retrying(m_folder.c_str(), O_TMPFILE | O_WRONLY, mode));
    if (m_file.is_open() && ::access(link_to_file().c_str(), F_OK) == 0) {
      return 0;
    }
    return try_names([this, mode](const char* name) {
      m_file = FileDescriptor(open_retrying(name, O_WRONLY | O_CREAT | O_EXCL, mode));
      return m_file.is_open();
    });
  }

  [[nodiscard]] int number() const noexcept { return m_file.number(); }

  // A file without a name appears as a free path in one step, and needs no other process.
  [[nodiscard]] int move_to(const std::filesystem::path& path, Place place) {
    if (!m_name.empty()) {
      const int error_number = close_and_rename(m_name.c_str(), path);
      m_name = error_number == 0 ? std::filesystem::path() : m_name;
      return error_number;
    }
    if (place == Place::is_free) {
      FileDescriptor copy(::fcntl(m_file.number(), F_DUPFD_CLOEXEC, 0));
      const bool is_copied = copy.is_open();
      if (const int error_number = copy.close(); error_number != 0) {
        return error_number; // some file systems write only here
      }
      if (is_copied && link_as(path.c_str())) {
        return 0;
      }
    }
    const int error_number =
        try_names([this, &path](const char* name) { return name_and_move(name, path); });
    m_name.clear();
    return error_number;
  }

private:
  [[nodiscard]] std::string link_to_file() const {
    return fmt::format("/proc/self/fd/{}", m_file.number());
  }

  [[nodiscard]] bool link_as(const char* name) const {
    return ::linkat(AT_FDCWD, link_to_file().c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  }

  [[nodiscard]] int close_and_rename(const char* name, const std::filesystem::path& path) {
    const int error_number = m_file.close(); // some file systems write only here
    return error_number == 0 && ::rename(name, path.c_str()) != 0 ? errno : error_number;
  }

  // No system call replaces a file by an unnamed one, and a process killed between the two calls
  // that do would leave `name`. Returns true if `name` no longer exists; otherwise false with
  // errno, which is EEXIST if `name` is taken.
  [[nodiscard]] bool name_and_move(const char* name, const std::filesystem::path& path) {
    const auto told = run_apart([this, name, &path] {
      if (!link_as(name)) {
        return errno;
      }
      const int error_number = close_and_rename(name, path);
      if (error_number != 0) {
        ::unlink(name);
      }
      return error_number;
    });
    errno = told ? *told : (is_at(path) ? 0 : EINTR);
    return errno == 0;
  }

  [[nodiscard]] bool is_at(const std::filesystem::path& path) const noexcept {
    struct stat own {};
    struct stat there {};
    return ::fstat(m_file.number(), &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  }

  // Calls `use` with names that no other process, thread or earlier call uses, until it succeeds or
  // fails with an errno other than EEXIST.
  template <typename Use>
  [[nodiscard]] int try_names(const Use& use) {
    for (int attempt = 0; attempt < k_max_name_attempts; ++attempt) {
      const auto name = m_folder / fmt::format(".clbin-{}-{}.tmp", ::getpid(), attempt);
      if (use(name.c_str())) {
        m_name = name;
        return 0;
      }
      if (errno != EEXIST) {
        return errno;
      }
    }
    return EEXIST;
  }

  std::filesystem::path m_folder;
  std::filesystem::path m_name;
  FileDescriptor m_file;
};

// Sets owner and group, if this process is permitted to (root writing into a user's directory),
// then the mode.
int keep_permissions(int number, const struct stat& replaced) noexcept {
  struct stat status {};
  if (::fstat(number, &status) != 0) {
    return errno;
  }
  const bool is_other_owner = status.st_uid != replaced.st_uid || status.st_gid != replaced.st_gid;
  if (is_other_owner && ::fchown(number, replaced.st_uid, replaced.st_gid) != 0 && errno != EPERM &&
      errno != EINVAL) {
    return errno;
  }
  return ::fchmod(number, replaced.st_mode & k_kept_mode_bits) == 0 ? 0 : errno;
}

} // namespace

// Either `in_place` is open or `temporary` exists.
struct OutputFile::State {
  std::string name; // for messages
  FileDescriptor in_place;
  std::optional<TemporaryFile> temporary;
  std::filesystem::path target;
  std::optional<struct stat> replaced;

  [[nodiscard]] int number() const noexcept {
    return temporary ? temporary->number() : in_place.number();
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
    state->in_place = FileDescriptor(STDOUT_FILENO, CloseAtEnd::no);
    return OutputFile(std::move(state));
  }
  state->name = in_quotes(path);
  CLBIN_TRY_ASSIGN(state->target, follow_symlinks(path));
  const std::filesystem::path& target = state->target;
  if (const auto stream = open_stream(target.string()); stream.has_value()) {
    state->in_place = FileDescriptor(*stream, CloseAtEnd::no);
    return OutputFile(std::move(state));
  }
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (!exists && (errno != ENOENT || target.empty())) {
    return write_error(state->name, errno);
  }
  // A name that ends with a slash can only be a directory.
  if (exists ? S_ISDIR(status.st_mode) : !target.has_filename()) {
    return write_error(state->name, EISDIR);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    state->in_place = FileDescriptor(open_retrying(target.c_str(), O_WRONLY));
    if (!state->in_place.is_open()) {
      return write_error(state->name, errno);
    }
    return OutputFile(std::move(state));
  }
  if (exists) {
    state->replaced = status;
  }
  state->temporary.emplace(target.has_parent_path() ? target.parent_path() : ".");
  const mode_t mode = exists ? k_private_file_mode : k_new_file_mode;
  if (const int error_number = state->temporary->create(mode); error_number != 0) {
    return write_error(state->name, error_number);
  }
  return OutputFile(std::move(state));
}

Result<void> OutputFile::append(ByteView bytes) {
  const int error_number = write_all(m_state->number(), bytes);
  return error_number == 0 ? Result<void>() : write_error(m_state->name, error_number);
}

Result<void> OutputFile::commit() {
  State& state = *m_state;
  int error_number = 0;
  if (!state.temporary) {
    error_number = state.in_place.close();
  } else if (!state.replaced) {
    error_number = state.temporary->move_to(state.target, Place::is_free);
  } else {
    error_number = keep_permissions(state.temporary->number(), *state.replaced);
    if (error_number == 0) {
      error_number = state.temporary->move_to(state.target, Place::has_file);
    }
  }
  return error_number == 0 ? Result<void>() : write_error(state.name, error_number);
}

} // namespace clbin::base

#include "base/file_io.hpp"
#include "trust/key_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace oclcc::trust {

using base::FileDescriptor;
using base::in_quotes;
using base::reason_of;
using base::SecretBytes;

namespace {

constexpr const char* k_terminal = "/dev/tty";

// A terminal that does not echo, until the destructor or a stop.
class SilentTerminal {
public:
  SilentTerminal(int number, const std::stop_token& stop) : m_number(number) {
    if (::tcgetattr(m_number, &m_before) != 0) {
      m_error = errno;
      return;
    }
    termios silent = m_before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= ICANON | ECHONL;
    // Ctrl-Z would return to a shell that echoes, and Ctrl-\ would leave the terminal silent.
    silent.c_cc[VSUSP] = _POSIX_VDISABLE;
    silent.c_cc[VQUIT] = _POSIX_VDISABLE;
    m_is_silent = true;
    m_on_stop.emplace(stop, [this] { restore(); });
    const std::lock_guard lock(m_mutex);
    if (m_is_silent && ::tcsetattr(m_number, TCSAFLUSH, &silent) != 0) {
      m_error = errno;
    }
  }
  ~SilentTerminal() {
    m_on_stop.reset(); // waits for a running callback
    restore();
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

  [[nodiscard]] int error() const noexcept { return m_error; }

private:
  void restore() {
    const std::lock_guard lock(m_mutex);
    if (std::exchange(m_is_silent, false)) {
      (void)::tcsetattr(m_number, TCSAFLUSH, &m_before);
    }
  }

  int m_number;
  int m_error = 0;
  bool m_is_silent = false;
  std::mutex m_mutex;
  termios m_before{};
  std::optional<std::stop_callback<std::function<void()>>> m_on_stop;
};

// Reads a line, without its end, byte by byte: what follows belongs to the next reader. Returns
// std::nullopt at the end of the file.
Result<std::optional<SecretBytes>> read_line(int number, const std::string& name) {
  SecretBytes line(k_max_passphrase_bytes + 1);
  SecretBytes next(1);
  std::size_t size = 0;
  for (;;) {
    const ssize_t count = ::read(number, next.writable().data(), 1);
    if (count < 0 && base::should_retry(number, POLLIN)) {
      continue;
    }
    if (count < 0) {
      return base::read_error(name, errno);
    }
    if (count == 0 && size == 0) {
      return std::nullopt;
    }
    if (count == 0 || next.view()[0] == std::byte{'\n'}) {
      break;
    }
    if (next.view()[0] == std::byte{0}) {
      return fail(ErrorCode::file_read, "a passphrase in {} contains a NUL byte", name);
    }
    if (size > k_max_passphrase_bytes) {
      return fail(ErrorCode::file_read, "a passphrase in {} has more than {} bytes", name,
                  k_max_passphrase_bytes);
    }
    line.writable()[size++] = next.view()[0];
  }
  if (size != 0 && line.view()[size - 1] == std::byte{'\r'}) {
    --size;
  }
  line.shorten(size);
  return line;
}

} // namespace

Passphrases::Passphrases(std::optional<std::filesystem::path> file, StandardInput standard_input,
                         std::stop_token stop)
    : m_file(std::move(file)), m_standard_input(standard_input), m_stop(std::move(stop)) {}

bool Passphrases::asks_terminal() const {
  return !m_file && ::isatty(STDIN_FILENO) == 1;
}

Result<SecretBytes> Passphrases::ask_terminal(const std::string& question) const {
  const FileDescriptor terminal(base::open_retrying(k_terminal, O_RDWR));
  if (!terminal.is_open()) {
    return base::open_error(in_quotes(k_terminal), errno);
  }
  const SilentTerminal silent(terminal.number(), m_stop);
  if (silent.error() != 0) {
    return fail(ErrorCode::file_read, "cannot hide a passphrase on '{}': {}", k_terminal,
                reason_of(silent.error()));
  }
  (void)base::write_all(terminal.number(), base::as_bytes(question));
  CLBIN_TRY_ASSIGN(auto line, read_line(terminal.number(), in_quotes(k_terminal)));
  if (!line) {
    return fail(ErrorCode::file_read, "no passphrase was entered");
  }
  return std::move(*line);
}

Result<SecretBytes> Passphrases::next_line() {
  const std::string name = m_file ? in_quotes(*m_file) : "standard input";
  if (!m_file && m_standard_input == StandardInput::is_an_input) {
    return refused("standard input contains a file and cannot contain a passphrase: use "
                   "'--passphrase-file'");
  }
  if (!m_lines.is_open()) {
    m_lines = m_file ? FileDescriptor(base::open_retrying(m_file->c_str(), O_RDONLY))
                     : FileDescriptor(STDIN_FILENO, base::CloseAtEnd::no);
    if (!m_lines.is_open()) {
      return base::open_error(name, errno);
    }
  }
  CLBIN_TRY_ASSIGN(auto line, read_line(m_lines.number(), name));
  if (!line) {
    return fail(ErrorCode::file_read, "{} does not contain a passphrase{}", name,
                m_file ? "" : ": use a terminal or '--passphrase-file'");
  }
  return std::move(*line);
}

Result<SecretBytes> Passphrases::next(const std::string& key_file) {
  m_was_asked = true;
  return asks_terminal() ? ask_terminal(fmt::format("Passphrase of {}: ", key_file)) : next_line();
}

Result<SecretBytes> Passphrases::next_for_new_key(const std::string& key_file) {
  const bool asks = asks_terminal();
  auto passphrase =
      asks ? ask_terminal(fmt::format("New passphrase of {}: ", key_file)) : next_line();
  if (!passphrase) {
    return passphrase;
  }
  if (passphrase->size() == 0) {
    return refused("the passphrase is empty: use '--no-passphrase' for a key without one");
  }
  if (asks) {
    CLBIN_TRY_ASSIGN(const SecretBytes again, ask_terminal("Again: "));
    if (!std::ranges::equal(passphrase->view(), again.view())) {
      return refused("the passphrases differ");
    }
  }
  return passphrase;
}

} // namespace oclcc::trust

#include "terminal/interruption.hpp"

#include "base/system/windows/names.hpp"
#include "trust/key_files.hpp"

#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <io.h>
#include <mutex>
#include <shellapi.h>

namespace oclcc {

namespace windows = base::windows;

namespace {

// That of the one Interruption, which a handler of Windows cannot be given.
std::atomic<std::stop_source*>& source_of_handler() noexcept {
  static std::atomic<std::stop_source*> source{nullptr};
  return source;
}

// Called in a thread of its own. After it, the handler of the system ends the process.
BOOL WINAPI request_stop(DWORD /*event*/) {
  if (std::stop_source* const source = source_of_handler().load()) {
    source->request_stop();
  }
  return FALSE;
}

void show_colors_on(int number) noexcept {
  DWORD mode = 0;
  HANDLE const terminal = windows::handle_of(number);
  if (::GetConsoleMode(terminal, &mode) != 0) {
    ::SetConsoleMode(terminal, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

} // namespace

std::vector<std::string> command_line_words(int argc, char** argv) {
  int count = 0;
  wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  if (wide == nullptr) {
    return {argv + (argc > 0 ? 1 : 0), argv + argc};
  }
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    words.push_back(windows::to_utf8(wide[i]));
  }
  ::LocalFree(wide);
  return words;
}

struct Interruption::State {};

Interruption::Interruption() {
  source_of_handler().store(&m_stop);
  ::SetConsoleCtrlHandler(request_stop, TRUE);
}

Interruption::~Interruption() {
  ::SetConsoleCtrlHandler(request_stop, FALSE);
  source_of_handler().store(nullptr);
}

bool prepare_process() noexcept {
  constexpr int k_null_number = -2; // of a stream that is not open
  for (std::FILE* const stream : {stdin, stdout, stderr}) {
    const int number = ::_fileno(stream);
    if (number == k_null_number) {
      const char* const opposite = stream == stdin ? "wb" : "rb";
      if (std::freopen("NUL", opposite, stream) == nullptr) {
        return false;
      }
      continue;
    }
    (void)::_setmode(number, _O_BINARY);
    show_colors_on(number);
  }
  ::SetConsoleOutputCP(CP_UTF8);
  return true;
}

namespace trust {

using base::SecretBytes;

namespace {

// The input of the console without echo, until the destructor or a stop.
class SilentConsole {
public:
  SilentConsole(HANDLE console, const std::stop_token& stop) : m_console(console) {
    m_is_silent = ::GetConsoleMode(console, &m_before) != 0 &&
                  ::SetConsoleMode(console, (m_before & ~DWORD{ENABLE_ECHO_INPUT}) |
                                                ENABLE_LINE_INPUT | ENABLE_PROCESSED_INPUT) != 0;
    m_on_stop.emplace(stop, [this] { restore(); });
  }
  ~SilentConsole() {
    m_on_stop.reset(); // waits for a running callback
    restore();
  }
  SilentConsole(SilentConsole&&) = delete; // and no copies

  [[nodiscard]] bool is_silent() const noexcept { return m_is_silent; }

private:
  void restore() {
    const std::lock_guard lock(m_mutex);
    if (std::exchange(m_is_silent, false)) {
      ::SetConsoleMode(m_console, m_before);
    }
  }

  HANDLE m_console;
  DWORD m_before = 0;
  bool m_is_silent = false;
  std::mutex m_mutex;
  std::optional<std::stop_callback<std::function<void()>>> m_on_stop;
};

// Converts UTF-16 to UTF-8 in memory that is overwritten.
SecretBytes secret_utf8(std::span<const wchar_t> letters) {
  constexpr std::size_t k_most_bytes_of_letter = 3;
  SecretBytes bytes(letters.size() * k_most_bytes_of_letter + 1);
  const int size =
      letters.empty()
          ? 0
          : ::WideCharToMultiByte(CP_UTF8, 0, letters.data(), static_cast<int>(letters.size()),
                                  reinterpret_cast<char*>(bytes.writable().data()),
                                  static_cast<int>(bytes.size()), nullptr, nullptr);
  bytes.shorten(static_cast<std::size_t>(size));
  return bytes;
}

} // namespace

Result<SecretBytes> ask_terminal(const std::string& question, const std::stop_token& stop) {
  constexpr DWORD k_access = GENERIC_READ | GENERIC_WRITE;
  const auto input = windows::open_named(L"CONIN$", {k_access, OPEN_EXISTING, 0});
  const auto output = windows::open_named(L"CONOUT$", {k_access, OPEN_EXISTING, 0});
  if (!input || !output) {
    return base::open_error("the console", (input ? output : input).error());
  }
  HANDLE const console = windows::handle_of(input->number());
  const SilentConsole silent(console, stop);
  if (!silent.is_silent()) {
    return fail(ErrorCode::file_read, "cannot hide a passphrase on the console");
  }
  (void)base::write_all(output->number(), base::as_bytes(question));
  SecretBytes line((k_max_passphrase_bytes + 2) * sizeof(wchar_t)); // and the end of the line
  auto* const letters = reinterpret_cast<wchar_t*>(line.writable().data());
  DWORD count = 0;
  if (::ReadConsoleW(console, letters, static_cast<DWORD>(line.size() / sizeof(wchar_t)), &count,
                     nullptr) == 0 ||
      count == 0) {
    return fail(ErrorCode::file_read, "no passphrase was entered");
  }
  (void)base::write_all(output->number(), base::as_bytes("\n"));
  while (count > 0 && (letters[count - 1] == L'\r' || letters[count - 1] == L'\n')) {
    --count;
  }
  return secret_utf8({letters, count});
}

} // namespace trust
} // namespace oclcc

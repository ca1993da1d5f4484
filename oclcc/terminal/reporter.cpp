#include "terminal/reporter.hpp"

#include "terminal/terminal_text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace oclcc {

namespace {

// gcc's own colours.
constexpr std::string_view k_reset = "\x1b[0m";
constexpr std::string_view k_bold = "\x1b[1m";
constexpr std::string_view k_clear_line = "\r\x1b[K";
constexpr std::size_t k_usual_columns = 80;

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : k_usual_columns;
}

std::string_view severity_color(Severity severity) {
  constexpr std::string_view k_colors[] = {"\x1b[1;36m", "\x1b[1;35m", "\x1b[1;31m"};
  return k_colors[static_cast<std::size_t>(severity)];
}

bool environment_has(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool use_color(ColorMode mode, bool terminal) {
  if (mode != ColorMode::automatic) {
    return mode == ColorMode::always;
  }
  const char* const kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return terminal && !dumb && !environment_has("NO_COLOR"); // no-color.org
}

void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string with_color(bool color, std::string_view code, std::string_view text) {
  return color ? fmt::format("{}{}{}", code, text, k_reset) : std::string(text);
}

std::string location_of(const Diagnostic& diagnostic) {
  if (diagnostic.file.empty()) {
    return "oclcc:";
  }
  std::string location = printable(diagnostic.file) + ":";
  if (diagnostic.line != 0) {
    location += fmt::format("{}:", diagnostic.line);
    location += diagnostic.column != 0 ? fmt::format("{}:", diagnostic.column) : "";
  }
  return location;
}

std::string device_suffix(const std::vector<std::string>& devices) {
  std::string suffix;
  for (const std::string& device : devices) {
    suffix += fmt::format("{}'{}'", suffix.empty() ? " [on " : ", ", printable(device));
  }
  return suffix.empty() ? suffix : suffix + "]";
}

// "    3 |   foo" and the caret below it.
std::string source_excerpt(const Diagnostic& diagnostic, bool color) {
  const std::string_view source = diagnostic.source_line;
  const std::string number = diagnostic.line != 0 ? std::to_string(diagnostic.line) : "";
  std::string excerpt = fmt::format("{:>5} | {}\n", number, printable(source));
  if (diagnostic.column != 0 && diagnostic.column <= source.size() + 1) {
    // The column counts the bytes of the source; a replaced character may have a different length.
    const std::string before = printable(source.substr(0, diagnostic.column - 1));
    excerpt += fmt::format("{:>5} | {}{}\n", "", padding_below(before, before.size() + 1),
                           with_color(color, severity_color(diagnostic.severity), "^"));
  }
  return excerpt;
}

} // namespace

std::string_view to_string(Severity severity) noexcept {
  constexpr std::string_view k_names[] = {"note", "warning", "error"};
  return k_names[static_cast<std::size_t>(severity)];
}

Reporter::Reporter(ColorMode color, Verbosity verbosity, DiagnosticsFormat format)
    : m_color(use_color(color, ::isatty(STDERR_FILENO) == 1)),
      m_terminal(::isatty(STDERR_FILENO) == 1), m_verbosity(verbosity), m_format(format) {}

void Reporter::diagnostic(const Diagnostic& diagnostic) {
  tell(diagnostic, NoteUse::of_the_message_before);
}

void Reporter::tell(const Diagnostic& diagnostic, NoteUse use) {
  if (m_verbosity == Verbosity::quiet && diagnostic.severity != Severity::error) {
    return;
  }
  if (m_format != DiagnosticsFormat::text) {
    const bool belongs = diagnostic.severity == Severity::note &&
                         use == NoteUse::of_the_message_before && !m_reports.empty();
    if (belongs) {
      m_reports.back().notes.push_back(diagnostic);
    } else {
      m_reports.push_back({diagnostic, {}});
    }
    return;
  }
  clear_progress();
  std::string text =
      fmt::format("{} {} {}{}\n", with_color(m_color, k_bold, location_of(diagnostic)),
                  with_color(m_color, severity_color(diagnostic.severity),
                             fmt::format("{}:", to_string(diagnostic.severity))),
                  printable(diagnostic.text), device_suffix(diagnostic.devices));
  if (!diagnostic.source_line.empty()) {
    text += source_excerpt(diagnostic, m_color);
  }
  write_to_stderr(text);
}

void Reporter::error(std::string_view text) {
  diagnostic({.severity = Severity::error, .text = std::string(text)});
}

void Reporter::warning(std::string_view text) {
  diagnostic({.severity = Severity::warning, .text = std::string(text)});
}

void Reporter::note(std::string_view text) {
  tell({.severity = Severity::note, .text = std::string(text)}, NoteUse::alone);
}

void Reporter::explain(std::string_view text) {
  diagnostic({.severity = Severity::note, .text = std::string(text)});
}

void Reporter::verbose(std::string_view text) {
  if (m_verbosity != Verbosity::verbose) {
    return;
  }
  if (m_format != DiagnosticsFormat::text) {
    m_log.emplace_back(text);
    return;
  }
  clear_progress();
  // Names and build logs must not control the terminal.
  write_to_stderr(printable_lines(text) + (text.ends_with('\n') ? "" : "\n"));
}

void Reporter::progress(std::string_view text) {
  if (!m_terminal || m_verbosity != Verbosity::normal || m_format != DiagnosticsFormat::text) {
    return;
  }
  clear_progress();
  // A longer line would wrap, and a wrapped line cannot be rewritten. The last column stays free:
  // some terminals wrap as soon as it is filled.
  const std::string line = printable(text);
  write_to_stderr(fitting(line, terminal_columns() - 1));
  std::fflush(stderr);
  m_progress_shown = true;
}

void Reporter::end_progress() {
  clear_progress();
  std::fflush(stderr);
}

void Reporter::plain(std::string_view text) {
  clear_progress();
  write_to_stderr(printable_lines(text));
}

bool Reporter::prints_to_terminal() const {
  return ::isatty(STDOUT_FILENO) == 1;
}

bool Reporter::print(std::string_view text) {
  clear_progress();
  const std::string shown = printable_lines(text);
  const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
  if (written && std::fflush(stdout) == 0) {
    return true;
  }
  error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void Reporter::finish(RunResult result) {
  if (m_format == DiagnosticsFormat::json) {
    write_to_stderr(diagnostics_json(m_reports, m_log));
  } else if (m_format == DiagnosticsFormat::sarif) {
    write_to_stderr(diagnostics_sarif(m_reports, m_log, result));
  }
  m_reports.clear();
  m_log.clear();
}

void Reporter::clear_progress() {
  if (m_progress_shown) {
    write_to_stderr(k_clear_line);
    m_progress_shown = false;
  }
}

} // namespace oclcc

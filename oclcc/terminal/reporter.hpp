// The only place of oclcc that prints.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

enum class Severity : std::uint8_t { note, warning, error };

// "error", as gcc's messages and SARIF's levels have it.
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

// One message in gcc's terms. Line and column count from 1; 0 is "not known".
struct Diagnostic {
  Severity severity = Severity::error;
  std::string file{}; // the user's own path; empty for oclcc's own messages
  std::uint32_t line = 0;
  std::uint32_t column = 0; // in bytes
  std::string text{};
  std::string source_line{};          // empty where not known
  std::vector<std::string> devices{}; // those that said so; empty where naming them tells nothing
};

enum class ColorMode : std::uint8_t { automatic, always, never };
enum class Verbosity : std::uint8_t { quiet, normal, verbose };
enum class DiagnosticsFormat : std::uint8_t { text, json, sarif };
enum class RunResult : std::uint8_t { succeeded, failed };

// An error or a warning with the notes that explain it, or a note that stands for itself.
struct Report {
  Diagnostic head;
  std::vector<Diagnostic> notes;
};

// Writes to standard error, but `print`, which is what the user asked to see, to standard output.
// Writes "?" instead of what could drive a terminal or deceive its reader (terminal_text.hpp); JSON
// arrives with escapes in its place. With another format than text nothing but one document is
// written, by `finish`. Not thread-safe.
class Reporter {
public:
  Reporter(ColorMode color, Verbosity verbosity,
           DiagnosticsFormat format = DiagnosticsFormat::text);

  // "kernel.cl:3:10: error: use of undeclared identifier 'foo'", source line and caret where known.
  // Warnings and notes not when quiet. A note belongs to the message before it.
  void diagnostic(const Diagnostic& diagnostic);
  // "oclcc: error: …"
  void error(std::string_view text);
  void error(const clbin::base::Error& error) { this->error(error.message); }
  void warning(std::string_view text); // not when quiet
  void note(std::string_view text);    // not when quiet
  void explain(std::string_view text); // a note that belongs to the message before it
  void verbose(std::string_view text); // -v only, plain lines
  // One line, rewritten, on a terminal only; neither when quiet nor when verbose.
  void progress(std::string_view text);
  void end_progress(); // the line goes
  // Text to standard error whatever the verbosity: what the user asked to see beside the output, as
  // of -###.
  void plain(std::string_view text);
  [[nodiscard]] bool prints_to_terminal() const; // whether standard output is one
  // Text to standard output. False, with the error reported, when it could not be
  // written (the caller exits 3).
  [[nodiscard]] bool print(std::string_view text);

  // Once, at the end: writes the document that a format other than text asks for.
  void finish(RunResult result);

  [[nodiscard]] Verbosity verbosity() const noexcept { return m_verbosity; }

private:
  enum class NoteUse : std::uint8_t { of_the_message_before, alone };
  void tell(const Diagnostic& diagnostic, NoteUse use);
  void clear_progress();
  bool m_color;
  bool m_terminal;
  Verbosity m_verbosity;
  bool m_progress_shown = false;
  DiagnosticsFormat m_format;
  std::vector<Report> m_reports;  // what the document will hold, unless the format is text
  std::vector<std::string> m_log; // what `verbose` was told, likewise
};

} // namespace oclcc

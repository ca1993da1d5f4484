// Prints all output of oclcc.
#pragma once

#include "base/file_io.hpp"

namespace clbin::format {}

namespace oclcc {

// The names of libclbin that all sources of oclcc use.
namespace base = clbin::base;
namespace format = clbin::format;
using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::FileDescriptor;
using base::reason_of;
using base::Result;

enum class Severity : std::uint8_t { note, warning, error };

// Returns "error", as in gcc's messages and SARIF's levels.
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

// One message in gcc's format. Lines and columns count from 1; 0 means unknown.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string file{}; // the user's own path; empty for oclcc's own messages
  std::uint32_t line = 0;
  std::uint32_t column = 0; // in bytes
  std::string text{};
  std::string source_line{};          // empty if unknown
  std::vector<std::string> devices{}; // that reported it; empty if their names add no information
};

enum class ColorMode : std::uint8_t { automatic, always, never };
enum class Verbosity : std::uint8_t { quiet, normal, verbose };
enum class DiagnosticsFormat : std::uint8_t { text, json, sarif };
enum class RunResult : std::uint8_t { succeeded, failed };

// An error or a warning with the notes that explain it, or a single note.
struct Report {
  Diagnostic head;
  std::vector<Diagnostic> notes;
};

// Writes to standard error. Only print() writes to standard output. Replaces characters that could
// control a terminal or deceive the reader with "?" (terminal_text.hpp), or with escapes in JSON.
// In formats other than text, standard error gets only one document, which finish() writes. Not
// thread-safe.
class Reporter {
public:
  Reporter(ColorMode color, Verbosity verbosity,
           DiagnosticsFormat format = DiagnosticsFormat::text);

  enum class NoteUse : std::uint8_t { of_the_message_before, alone };

  // Writes "kernel.cl:3:10: error: use of undeclared identifier 'foo'", and the source line with a
  // caret if it is known. Suppresses warnings and notes if quiet.
  void diagnostic(const Diagnostic& diagnostic, NoteUse use = NoteUse::of_the_message_before);
  // "oclcc: error: …"
  void error(std::string_view text);
  void error(const Error& error) { this->error(error.message); }
  void warning(std::string_view text); // suppressed if quiet
  void note(std::string_view text);    // suppressed if quiet
  void explain(std::string_view text); // a note that belongs to the previous message
  void verbose(std::string_view text); // -v only, plain lines
  // Rewrites one line, on a terminal only. Has no effect if quiet or verbose.
  void progress(std::string_view text);
  void end_progress(); // clears the line
  // Writes requested text, such as that of -###, to standard error at every verbosity.
  void plain(std::string_view text);
  [[nodiscard]] bool prints_to_terminal() const; // whether standard output is a terminal
  // How wide the lines of a table on standard output are: as the terminal, and 100 in a file.
  [[nodiscard]] std::size_t line_cells() const;
  // Writes text to standard output. Returns false and reports the error if that fails; the caller
  // exits with status 3.
  [[nodiscard]] bool print(std::string_view text);

  // Writes the document of a format other than text. Call it once, at the end.
  void finish(RunResult result);

  [[nodiscard]] Verbosity verbosity() const noexcept { return m_verbosity; }

private:
  void clear_progress();
  bool m_color;
  bool m_terminal;
  Verbosity m_verbosity;
  bool m_progress_shown = false;
  DiagnosticsFormat m_format;
  std::vector<Report> m_reports;  // of the document; empty for text
  std::vector<std::string> m_log; // texts of verbose(); empty for text
};

} // namespace oclcc

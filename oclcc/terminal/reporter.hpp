// Prints all output of oclcc.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::format {}

namespace oclcc {

// The names of libclbin that all sources of oclcc use.
namespace base = clbin::base;
namespace format = clbin::format;
using base::Error;
using base::ErrorCode;
using base::fail;
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

  // Writes "kernel.cl:3:10: error: use of undeclared identifier 'foo'", and the source line with a
  // caret if it is known. Suppresses warnings and notes if quiet. A note belongs to the previous
  // message.
  void diagnostic(const Diagnostic& diagnostic);
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
  // Writes text to standard output. Returns false and reports the error if that fails; the caller
  // exits with status 3.
  [[nodiscard]] bool print(std::string_view text);

  // Writes the document of a format other than text. Call it once, at the end.
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
  std::vector<Report> m_reports;  // of the document; empty for text
  std::vector<std::string> m_log; // texts of verbose(); empty for text
};

// Returns the document that oclcc/schema/diagnostics.schema.json describes. `log` contains the
// texts that -v adds.
[[nodiscard]] std::string diagnostics_json(std::span<const Report> reports,
                                           std::span<const std::string> log);

// Returns the document as SARIF 2.1.0 (OASIS). Its columns count Unicode code points; if the text
// of a line is unknown, its column counts bytes.
[[nodiscard]] std::string diagnostics_sarif(std::span<const Report> reports,
                                            std::span<const std::string> log, RunResult result);

} // namespace oclcc

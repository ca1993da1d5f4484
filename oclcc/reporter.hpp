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

// Writes to standard error, but `print`, which is what the user asked to see, to standard output.
// Control characters in messages and source lines are shown as "?". Not thread-safe.
class Reporter {
public:
  Reporter(ColorMode color, Verbosity verbosity);

  // "kernel.cl:3:10: error: use of undeclared identifier 'foo'", source line and caret where known.
  // Warnings and notes not when quiet.
  void diagnostic(const Diagnostic& diagnostic);
  // "oclcc: error: …"
  void error(std::string_view text);
  void error(const clbin::base::Error& error) { this->error(error.message); }
  void warning(std::string_view text);  // not when quiet
  void note(std::string_view text);     // not when quiet
  void verbose(std::string_view text);  // -v only, plain lines
  void progress(std::string_view text); // one line, rewritten, on a terminal only
  // Text to standard output, unchanged. False, with the error reported, when it could not be
  // written (the caller exits 3).
  [[nodiscard]] bool print(std::string_view text);

  [[nodiscard]] Verbosity verbosity() const noexcept { return m_verbosity; }

private:
  void clear_progress();
  bool m_color;
  bool m_terminal;
  Verbosity m_verbosity;
  bool m_progress_shown = false;
};

} // namespace oclcc

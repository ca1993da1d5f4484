// Parses build logs into diagnostics in gcc's format, which name the user's files.
#pragma once

#include "model/source.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

// The lines of one text, and their names and numbers according to #line directives.
class LineMap {
public:
  explicit LineMap(std::string_view text);

  // Returns an empty view outside the text.
  [[nodiscard]] std::string_view text_of(std::uint32_t physical_line) const;
  struct Presumed {
    std::string file; // empty for the name of the file itself
    std::uint32_t line = 0;
  };
  [[nodiscard]] Presumed presumed(std::uint32_t physical_line) const;
  // Returns the first line with this presumed position.
  [[nodiscard]] std::optional<std::uint32_t> physical(const Presumed& presumed) const;
  // Whether a #line directive uses this name.
  [[nodiscard]] bool names(std::string_view file) const;

private:
  struct Section {
    std::uint32_t first_physical = 1;
    Presumed first;
  };
  std::vector<std::string_view> m_lines;
  std::vector<Section> m_sections; // in order; the first starts at line 1
};

struct MappedPosition {
  std::string file;
  std::uint32_t line = 0;
  std::string source_line; // empty if the package does not contain it
};

// Maps positions in the files of one package, which must outlive this object.
class SourceMap {
public:
  // Not explicit, because a log is often the only one of its package.
  SourceMap(const format::SourcePackage& package); // NOLINT(google-explicit-constructor)

  // `shown_line` is the source line in the log, or empty. If there are #line directives, it shows
  // whether the compiler counts lines by them (clang) or by the file (Oclgrind).
  [[nodiscard]] MappedPosition map(std::string_view file, std::uint32_t line,
                                   std::string_view shown_line) const;
  // Returns the name of the user's main file.
  [[nodiscard]] const std::string& main_name() const noexcept;
  [[nodiscard]] bool is_prologue(std::string_view file) const;

private:
  struct File {
    const format::SourceFile* source;
    LineMap lines;
  };
  [[nodiscard]] const File& find_file(std::string_view name) const;
  [[nodiscard]] bool is_header(std::string_view name) const;
  [[nodiscard]] std::optional<MappedPosition> map_by_line_directive(std::string_view file,
                                                                    std::uint32_t line) const;
  std::vector<File> m_files; // the main file first
};

// Parses one log. Replaces the file names of drivers ("input.cl", "<kernel>", a temporary file, the
// include name of an embedded header) with the user's paths. Omits remarks with their notes, and
// lines that are not diagnostics ("2 errors generated."); the caller keeps the log.
[[nodiscard]] std::vector<Diagnostic> parse_build_log(std::string_view log, const SourceMap& map);

enum class WarningPolicy : std::uint8_t { show, drop, make_errors };
// Returns the policy of -w, which has priority, and -Werror.
[[nodiscard]] WarningPolicy warning_policy(const std::vector<std::string>& options);
// Applies `policy` to warnings and their notes.
void apply_warning_policy(std::vector<Diagnostic>& diagnostics, WarningPolicy policy);

// Merges equal diagnostics of several devices into one that names the devices, in the order of
// first occurrence. Notes remain with their error or warning, and only the latter names devices.
[[nodiscard]] std::vector<Diagnostic> merge_diagnostics(std::vector<Diagnostic> diagnostics);

} // namespace oclcc

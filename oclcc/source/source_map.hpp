// Maps the names and lines that compilers report to the user's files.
#pragma once

#include "model/source.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  explicit SourceMap(const clbin::format::SourcePackage& package);

  // `shown_line` is the source line in the log, or empty. If there are #line directives, it shows
  // whether the compiler counts lines by them (clang) or by the file (Oclgrind).
  [[nodiscard]] MappedPosition map(std::string_view file, std::uint32_t line,
                                   std::string_view shown_line) const;
  // Returns the name of the user's main file.
  [[nodiscard]] const std::string& main_name() const noexcept;
  [[nodiscard]] bool is_prologue(std::string_view file) const;

private:
  struct File {
    const clbin::format::SourceFile* source;
    LineMap lines;
  };
  [[nodiscard]] const File& find_file(std::string_view name) const;
  [[nodiscard]] bool is_header(std::string_view name) const;
  [[nodiscard]] std::optional<MappedPosition> map_by_line_directive(std::string_view file,
                                                                    std::uint32_t line) const;
  std::vector<File> m_files; // the main file first
};

} // namespace oclcc

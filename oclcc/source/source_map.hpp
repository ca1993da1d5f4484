// From the names and lines that compilers report to those that the user knows.
#pragma once

#include "format/source_package.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// What a main file made by find_include_closure is called; the user's own is then one of its
// headers.
inline constexpr std::string_view k_prologue_name = "<command line>";

// One text's lines, and what its #line directives call them.
class LineMap {
public:
  explicit LineMap(std::string_view text);

  // Empty outside the text.
  [[nodiscard]] std::string_view text_of(std::uint32_t physical_line) const;
  struct Presumed {
    std::string file; // empty: the file's own name
    std::uint32_t line = 0;
  };
  [[nodiscard]] Presumed presumed(std::uint32_t physical_line) const;
  // The first line that is presumed to be that one.
  [[nodiscard]] std::optional<std::uint32_t> physical(const Presumed& presumed) const;
  // Whether a #line directive uses this name.
  [[nodiscard]] bool names(std::string_view file) const;

private:
  struct Section {
    std::uint32_t first_physical = 1;
    Presumed first;
  };
  std::vector<std::string_view> m_lines;
  std::vector<Section> m_sections; // in order; the first begins at line 1
};

struct MappedPosition {
  std::string file;
  std::uint32_t line = 0;
  std::string source_line; // empty where the package does not hold it
};

// Knows the files of one package; keeps views of it.
class SourceMap {
public:
  explicit SourceMap(const clbin::format::SourcePackage& package);

  // `shown_line`: the source line as the log shows it, or empty. Where #line directives are at
  // work it tells whether the compiler counts as they say (clang) or as the file does (Oclgrind).
  [[nodiscard]] MappedPosition map(std::string_view file, std::uint32_t line,
                                   std::string_view shown_line) const;
  // The user's own main file.
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

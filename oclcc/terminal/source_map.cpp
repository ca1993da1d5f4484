#include "terminal/diagnostics.hpp"

#include "closure/include_closure.hpp"
#include "source/directive_scanner.hpp"

namespace oclcc {

namespace {

// Compilers show tabs as spaces.
std::string without_white_space(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return c != ' ' && c != '\t' && c != '\r'; });
  return result;
}

bool same_text(std::string_view a, std::string_view b) {
  return without_white_space(a) == without_white_space(b);
}

// clang's names for text outside of any file.
bool is_no_file(std::string_view name) {
  return name == "<built-in>" || name == "<command line>" || name == "<scratch space>";
}

// A header of the compiler: "/usr/lib/…/opencl-c.h", "_builtin_renames.h". No driver names the main
// file like this.
bool is_header_name(std::string_view name) {
  return name.ends_with(".h");
}

std::string file_name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

} // namespace

LineMap::LineMap(std::string_view text) : m_lines(clbin::source::source_lines(text)) {
  m_sections.push_back({1, {"", 1}});
  for (const clbin::source::LineDirective& directive : clbin::source::scan_directives(text).lines) {
    const std::string file = directive.file.empty() ? m_sections.back().first.file : directive.file;
    m_sections.push_back({directive.physical_line + 1, {file, directive.next_line}});
  }
}

std::string_view LineMap::text_of(std::uint32_t physical_line) const {
  const bool inside = physical_line != 0 && physical_line <= m_lines.size();
  return inside ? m_lines[physical_line - 1] : std::string_view();
}

LineMap::Presumed LineMap::presumed(std::uint32_t physical_line) const {
  const auto after = std::find_if(m_sections.begin() + 1, m_sections.end(), [&](const Section& s) {
    return s.first_physical > physical_line;
  });
  const Section& section = *(after - 1);
  return {section.first.file, section.first.line + (physical_line - section.first_physical)};
}

std::optional<std::uint32_t> LineMap::physical(const Presumed& presumed) const {
  for (std::size_t i = 0; i < m_sections.size(); ++i) {
    const Section& section = m_sections[i];
    const std::size_t end =
        i + 1 < m_sections.size() ? m_sections[i + 1].first_physical : m_lines.size() + 1;
    if (section.first.file != presumed.file || presumed.line < section.first.line) {
      continue;
    }
    const std::uint32_t distance = presumed.line - section.first.line;
    if (distance < end - section.first_physical) {
      return section.first_physical + distance;
    }
  }
  return std::nullopt;
}

bool LineMap::names(std::string_view file) const {
  return std::any_of(m_sections.begin() + 1, m_sections.end(),
                     [file](const Section& section) { return section.first.file == file; });
}

SourceMap::SourceMap(const format::SourcePackage& package) {
  m_files.push_back({&package.main, LineMap(package.main.text)});
  for (const format::SourceFile& header : package.headers) {
    m_files.push_back({&header, LineMap(header.text)});
  }
}

bool SourceMap::is_prologue(std::string_view file) const {
  return m_files.front().source->include_name == clbin::closure::k_prologue_name &&
         &find_file(file) == &m_files.front();
}

const std::string& SourceMap::main_name() const noexcept {
  return m_files.front().source->display_name;
}

// A driver may have written the header to its own directory: "/cache/tempdir_x/sub/b.h".
const SourceMap::File& SourceMap::find_file(std::string_view name) const {
  const File* best = &m_files.front();
  std::size_t best_size = 0;
  for (std::size_t i = 1; i < m_files.size(); ++i) {
    const std::string& include_name = m_files[i].source->include_name;
    const bool fits = name == include_name || name.ends_with("/" + include_name);
    if (fits && include_name.size() > best_size) {
      best = &m_files[i];
      best_size = include_name.size();
    }
  }
  return *best;
}

bool SourceMap::is_header(std::string_view name) const {
  return &find_file(name) != &m_files.front();
}

std::optional<MappedPosition> SourceMap::map_by_line_directive(std::string_view file,
                                                               std::uint32_t line) const {
  for (const File& candidate : m_files) {
    if (!candidate.lines.names(file)) {
      continue;
    }
    const auto physical = candidate.lines.physical({std::string(file), line});
    return MappedPosition{
        std::string(file), line,
        std::string(physical ? candidate.lines.text_of(*physical) : std::string_view())};
  }
  return std::nullopt;
}

MappedPosition SourceMap::map(std::string_view file, std::uint32_t line,
                              std::string_view shown_line) const {
  if (is_no_file(file)) {
    return {std::string(file), line, {}};
  }
  if (!is_header(file)) {
    if (auto mapped = map_by_line_directive(file, line)) {
      return *mapped;
    }
    if (is_header_name(file)) {
      return {file_name_of(file), line, std::string(shown_line)};
    }
  }
  if (is_prologue(file)) {
    return {std::string(clbin::closure::k_prologue_name), line, {}};
  }
  const File& found = find_file(file);
  const std::string& name = found.source->display_name;
  const std::optional<std::uint32_t> physical = found.lines.physical({"", line});
  const std::string_view presumed_text = physical ? found.lines.text_of(*physical) : "";
  const std::string_view physical_text = found.lines.text_of(line);
  const bool counts_physically = !shown_line.empty() && same_text(shown_line, physical_text) &&
                                 !same_text(shown_line, presumed_text);
  if (!counts_physically) {
    return {name, line, std::string(presumed_text)};
  }
  const LineMap::Presumed presumed = found.lines.presumed(line);
  return {presumed.file.empty() ? name : presumed.file, presumed.line, std::string(physical_text)};
}

} // namespace oclcc

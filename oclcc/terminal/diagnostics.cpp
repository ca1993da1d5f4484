#include "terminal/diagnostics.hpp"

#include "base/text.hpp"
#include "closure/include_closure.hpp"

#include <cctype>

namespace oclcc {

// --- Positions ----------------------------------------------------------------------------------

namespace {

// Compilers show tabs as spaces.
std::string without_white_space(std::string_view text) {
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result),
                       [](char c) { return c != ' ' && c != '\t' && c != '\r'; });
  return result;
}

bool same_text(std::string_view a, std::string_view b) {
  return without_white_space(a) == without_white_space(b);
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
  // clang's names for text outside of any file.
  if (file == "<built-in>" || file == "<command line>" || file == "<scratch space>") {
    return {std::string(file), line, {}};
  }
  if (!is_header(file)) {
    if (auto mapped = map_by_line_directive(file, line)) {
      return *mapped;
    }
    // A header of the compiler: "/usr/lib/…/opencl-c.h", "_builtin_renames.h". No driver names the
    // main file like this.
    if (file.ends_with(".h")) {
      return {std::string(file.substr(file.rfind('/') + 1)), line, std::string(shown_line)};
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

// --- Logs ---------------------------------------------------------------------------------------

namespace {

// A position in a build log, with the driver's name of the file.
struct LogPosition {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0; // 0 if unknown
};

// A remark reports an action of the compiler ("Kernel was 16-way vectorized"), not a problem.
constexpr std::optional<Severity> k_remark;

struct LogMessage {
  std::optional<Severity> severity; // k_remark for remarks
  std::optional<LogPosition> position;
  std::optional<LogPosition> spelling; // PoCL: the position of the macro's text
  std::string text;
};

constexpr std::pair<std::string_view, std::optional<Severity>> k_severity_words[] = {
    {"fatal error", Severity::error}, {"error", Severity::error}, {"fatal", Severity::error},
    {"warning", Severity::warning},   {"remark", k_remark},       {"note", Severity::note},
};

// Removes `prefix` from the front of `text`. Otherwise returns false and leaves `text` unchanged.
bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

bool consume_number(std::string_view& text, std::uint32_t& number) {
  const auto found = base::take_number<std::uint32_t>(text);
  number = found.value_or(number);
  return found.has_value();
}

// Removes "error: " or "fatal   : " from the front. Otherwise returns false.
bool consume_severity(std::string_view& text, std::optional<Severity>& severity) {
  for (const auto& [word, meaning] : k_severity_words) {
    std::string_view rest = text;
    if (!consume(rest, word)) {
      continue;
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (consume(rest, ": ")) {
      text = rest;
      severity = meaning;
      return true;
    }
  }
  return false;
}

// Parses "FILE:3:10" at the front. FILE may contain colons: it ends at the first ":3:10" that
// `follows` accepts.
template <typename Follows>
std::optional<LogPosition> consume_position(std::string_view& text, Follows follows) {
  for (std::size_t colon = text.find(':', 1); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    LogPosition position{std::string(text.substr(0, colon)), 0, 0};
    std::string_view rest = text.substr(colon + 1);
    if (!consume_number(rest, position.line)) {
      continue;
    }
    std::string_view after_line = rest;
    if (consume(rest, ":") && consume_number(rest, position.column) && follows(rest)) {
      text = rest;
      return position;
    }
    if (follows(after_line)) {
      position.column = 0;
      text = after_line;
      return position;
    }
  }
  return std::nullopt;
}

bool severity_follows(std::string_view text) {
  std::optional<Severity> severity;
  return consume(text, ": ") && consume_severity(text, severity);
}

std::optional<LogMessage> parse_clang(std::string_view line) {
  LogMessage message;
  message.position = consume_position(line, severity_follows);
  if (!message.position) {
    return std::nullopt;
  }
  consume(line, ": ");
  consume_severity(line, message.severity);
  message.text = line;
  return message;
}

std::optional<LogMessage> parse_severity_first(std::string_view line) {
  consume(line, "ptxas ");
  LogMessage message;
  if (!consume_severity(line, message.severity)) {
    return std::nullopt;
  }
  message.position = consume_position(
      line, [](std::string_view rest) { return rest.starts_with(": ") || rest.starts_with(" <"); });
  if (message.position && consume(line, " <Spelling=")) {
    message.spelling =
        consume_position(line, [](std::string_view rest) { return rest.starts_with(">: "); });
    consume(line, ">");
  }
  if (message.position) {
    consume(line, ": ");
  }
  message.text = line;
  return message;
}

// "ptxas application ptx input, line 27; fatal   : Parsing error near '.x': syntax error"
std::optional<LogMessage> parse_ptxas(std::string_view line) {
  if (!consume(line, "ptxas ")) {
    return std::nullopt;
  }
  const std::size_t semicolon = line.find("; ");
  if (semicolon == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string place(line.substr(0, semicolon));
  line.remove_prefix(semicolon + 2);
  LogMessage message;
  if (!consume_severity(line, message.severity)) {
    return std::nullopt;
  }
  message.text = fmt::format("{} ({})", line, place);
  return message;
}

std::optional<LogMessage> parse_spirv_linker(std::string_view line) {
  const std::size_t end = line.find("): ");
  if (!line.starts_with("(file=") || end == std::string_view::npos) {
    return std::nullopt;
  }
  return LogMessage{Severity::error, std::nullopt, std::nullopt,
                    std::string(line.substr(end + std::string_view("): ").size()))};
}

// The formats known, measured or documented:
//   clang (Oclgrind, rusticl, NVIDIA, AMD, Intel)   input.cl:3:10: error: text
//   PoCL                                            error: /cache/x.cl:3:10: text
//                                                   error: x.cl:3:10 <Spelling=x.cl:1:21>: text
//   Intel's CPU runtime                             remark: <unknown>:0:0: text
//   a driver itself                                 error: text
//   ptxas                                           ptxas fatal   : text
//   SPIR-V linker (rusticl)                         (file=input,line=0,column=0,index=0): text
// Returns std::nullopt for any other line.
std::optional<LogMessage> parse_log_line(std::string_view line) {
  for (const auto parse : {parse_severity_first, parse_clang, parse_ptxas, parse_spirv_linker}) {
    if (auto message = parse(line)) {
      return message;
    }
  }
  return std::nullopt;
}

// Parses "In file included from input.cl:1:".
std::optional<LogPosition> parse_included_from(std::string_view line) {
  if (!consume(line, "In file included from ")) {
    return std::nullopt;
  }
  return consume_position(line, [](std::string_view rest) { return rest == ":" || rest == ","; });
}

// Returns a source line of the log without clang 17's "    3 | ".
std::string_view strip_line_number(std::string_view line) {
  const std::size_t bar = line.find(" | ");
  const bool numbered =
      bar != std::string_view::npos &&
      line.substr(0, bar).find_first_not_of(" 0123456789") == std::string_view::npos;
  return numbered ? line.substr(bar + 3) : line;
}

// "    ~~^~~", as clang writes it below a source line.
bool is_caret_line(std::string_view line) {
  line = strip_line_number(line);
  return line.find('^') != std::string_view::npos &&
         line.find_first_not_of(" \t~^") == std::string_view::npos;
}

std::vector<std::string_view> split_log(std::string_view log) {
  std::vector<std::string_view> lines = base::split_lines(log);
  for (std::string_view& line : lines) {
    line = line.substr(0, line.find_last_not_of(std::string_view("\r\0 ", 3)) + 1);
  }
  return lines;
}

std::string identifier_at(std::string_view line, std::uint32_t column) {
  if (column == 0 || column > line.size()) {
    return {};
  }
  const std::string_view rest = line.substr(column - 1);
  const auto end = std::ranges::find_if(
      rest, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
  return {rest.begin(), end};
}

class LogParser {
public:
  // Keeps views of `log` and refers to `map`.
  LogParser(std::string_view log, const SourceMap& map) : m_lines(split_log(log)), m_map(map) {}

  std::vector<Diagnostic> parse() {
    for (m_index = 0; m_index < m_lines.size(); ++m_index) {
      if (auto position = parse_included_from(m_lines[m_index])) {
        m_included_from.push_back(std::move(*position));
      } else if (auto message = parse_log_line(m_lines[m_index])) {
        add_unless_remark(*message);
      }
    }
    return std::move(m_result);
  }

private:
  // Drops remarks with their notes. clang prints remarks only on request (-Rpass), but Intel's CPU
  // runtime prints some for every kernel.
  void add_unless_remark(LogMessage& message) {
    if (message.severity != Severity::note) {
      m_in_remark = message.severity == k_remark;
    }
    if (m_in_remark) {
      m_included_from.clear();
    } else {
      add(message);
    }
  }

  // The source line that clang shows below its message, with the caret line below that.
  std::string_view shown_source_line() const {
    if (m_index + 2 < m_lines.size() && is_caret_line(m_lines[m_index + 2]) &&
        !parse_log_line(m_lines[m_index + 1])) {
      return strip_line_number(m_lines[m_index + 1]);
    }
    return {};
  }

  Diagnostic at(Severity severity, const LogPosition& position, std::string_view shown_line,
                std::string text) const {
    MappedPosition mapped = m_map.map(position.file, position.line, shown_line);
    if (mapped.source_line.empty()) {
      mapped.source_line = shown_line;
    }
    return {severity,        std::move(mapped.file),        mapped.line, position.column,
            std::move(text), std::move(mapped.source_line), {}};
  }

  void add(LogMessage& message) {
    const Severity severity = *message.severity;
    if (!message.position) {
      m_result.push_back({severity, m_map.main_name(), 0, 0, message.text, {}, {}});
      m_included_from.clear();
      return;
    }
    m_result.push_back(
        at(severity, *message.position, shown_source_line(), std::move(message.text)));
    if (message.spelling) {
      add_spelling_note(*message.spelling);
    }
    add_include_notes();
  }

  // PoCL reports only the position of a macro's text. This is clang's wording for it.
  void add_spelling_note(const LogPosition& spelling) {
    const Diagnostic& message = m_result.back();
    const std::string macro = identifier_at(message.source_line, message.column);
    m_result.push_back(
        at(Severity::note, spelling, {},
           macro.empty() ? "expanded from here" : fmt::format("expanded from macro '{}'", macro)));
  }

  // Innermost first, after the message that they explain.
  void add_include_notes() {
    std::ranges::reverse(m_included_from);
    for (const LogPosition& position : m_included_from) {
      if (!m_map.is_prologue(position.file)) {
        m_result.push_back(at(Severity::note, position, {}, "included from here"));
        m_result.back().source_line.clear(); // an #include line adds no information
      }
    }
    m_included_from.clear();
  }

  std::vector<std::string_view> m_lines;
  const SourceMap& m_map;
  std::size_t m_index = 0;
  bool m_in_remark = false;
  std::vector<LogPosition> m_included_from;
  std::vector<Diagnostic> m_result;
};

// "careful [-W#warnings]": some drivers name the option, others do not.
std::string_view without_option_name(std::string_view text) {
  const std::size_t bracket = text.rfind(" [-W");
  const bool ends_so = bracket != std::string_view::npos && text.ends_with(']');
  return ends_so ? text.substr(0, bracket) : text;
}

bool same_message(const Diagnostic& a, const Diagnostic& b) {
  return a.severity == b.severity && a.file == b.file && a.line == b.line && a.column == b.column &&
         without_option_name(a.text) == without_option_name(b.text);
}

void add_note(Report& group, Diagnostic note) {
  const bool known = std::ranges::any_of(
      group.notes, [&](const auto& other) { return same_message(other, note); });
  if (!known) {
    note.devices.clear(); // the head names them
    group.notes.push_back(std::move(note));
  }
}

Report& add_head(std::vector<Report>& groups, Diagnostic head) {
  const auto known = std::ranges::find_if(
      groups, [&](const Report& group) { return same_message(group.head, head); });
  if (known == groups.end()) {
    groups.push_back({std::move(head), {}});
    return groups.back();
  }
  for (std::string& device : head.devices) {
    if (std::ranges::find(known->head.devices, device) == known->head.devices.end()) {
      known->head.devices.push_back(std::move(device));
    }
  }
  if (known->head.source_line.empty()) {
    known->head.source_line = std::move(head.source_line);
  }
  return *known;
}

} // namespace

std::vector<Diagnostic> parse_build_log(std::string_view log, const SourceMap& map) {
  return LogParser(log, map).parse();
}

WarningPolicy warning_policy(const std::vector<std::string>& options) {
  const auto has = [&](std::string_view option) {
    return std::ranges::find(options, option) != options.end();
  };
  if (has("-w")) {
    return WarningPolicy::drop;
  }
  return has("-Werror") ? WarningPolicy::make_errors : WarningPolicy::show;
}

void apply_warning_policy(std::vector<Diagnostic>& diagnostics, WarningPolicy policy) {
  if (policy == WarningPolicy::show) {
    return;
  }
  std::vector<Diagnostic> result;
  bool dropping = false;
  for (Diagnostic& diagnostic : diagnostics) {
    const bool warning = diagnostic.severity == Severity::warning;
    dropping =
        diagnostic.severity == Severity::note ? dropping : warning && policy == WarningPolicy::drop;
    if (warning && policy == WarningPolicy::make_errors) {
      diagnostic.severity = Severity::error;
      diagnostic.text += " [-Werror]";
    }
    if (!dropping) {
      result.push_back(std::move(diagnostic));
    }
  }
  diagnostics = std::move(result);
}

std::vector<Diagnostic> merge_diagnostics(std::vector<Diagnostic> diagnostics) {
  std::vector<Report> groups;
  Report* current = nullptr;
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::note && current != nullptr) {
      add_note(*current, std::move(diagnostic));
    } else {
      current = &add_head(groups, std::move(diagnostic));
    }
  }
  std::vector<Diagnostic> merged;
  for (Report& group : groups) {
    merged.push_back(std::move(group.head));
    std::move(group.notes.begin(), group.notes.end(), std::back_inserter(merged));
  }
  return merged;
}

} // namespace oclcc

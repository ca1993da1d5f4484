#include "build_log/diagnostics.hpp"

#include "build_log/log_line.hpp"

#include <algorithm>
#include <cctype>

namespace oclcc {

namespace {

std::vector<std::string_view> split_log(std::string_view log) {
  std::vector<std::string_view> lines;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\0' || line.back() == ' ')) {
      line.remove_suffix(1);
    }
    lines.push_back(line);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return lines;
}

std::string identifier_at(std::string_view line, std::uint32_t column) {
  if (column == 0 || column > line.size()) {
    return {};
  }
  const std::string_view rest = line.substr(column - 1);
  const auto end = std::find_if(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_';
  });
  return {rest.begin(), end};
}

Severity severity_of(LogSeverity severity) {
  switch (severity) {
  case LogSeverity::error:
    return Severity::error;
  case LogSeverity::warning:
    return Severity::warning;
  case LogSeverity::note:
  case LogSeverity::remark:
    break;
  }
  return Severity::note;
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
    if (message.severity != LogSeverity::note) {
      m_in_remark = message.severity == LogSeverity::remark;
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
    const Severity severity = severity_of(message.severity);
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
    std::reverse(m_included_from.begin(), m_included_from.end());
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

// An error or a warning with the notes that follow it.
struct DiagnosticGroup {
  Diagnostic head;
  std::vector<Diagnostic> notes;
};

void add_note(DiagnosticGroup& group, Diagnostic note) {
  const bool known = std::any_of(group.notes.begin(), group.notes.end(),
                                 [&](const auto& other) { return same_message(other, note); });
  if (!known) {
    note.devices.clear(); // the head names them
    group.notes.push_back(std::move(note));
  }
}

DiagnosticGroup& add_head(std::vector<DiagnosticGroup>& groups, Diagnostic head) {
  const auto known = std::find_if(groups.begin(), groups.end(), [&](const DiagnosticGroup& group) {
    return same_message(group.head, head);
  });
  if (known == groups.end()) {
    groups.push_back({std::move(head), {}});
    return groups.back();
  }
  for (std::string& device : head.devices) {
    if (std::find(known->head.devices.begin(), known->head.devices.end(), device) ==
        known->head.devices.end()) {
      known->head.devices.push_back(std::move(device));
    }
  }
  if (known->head.source_line.empty()) {
    known->head.source_line = std::move(head.source_line);
  }
  return *known;
}

} // namespace

std::vector<Diagnostic> parse_build_log(std::string_view log,
                                        const clbin::format::SourcePackage& source) {
  return parse_build_log(log, SourceMap(source));
}

std::vector<Diagnostic> parse_build_log(std::string_view log, const SourceMap& map) {
  return LogParser(log, map).parse();
}

WarningPolicy warning_policy(const std::vector<std::string>& options) {
  const auto has = [&](std::string_view option) {
    return std::find(options.begin(), options.end(), option) != options.end();
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
  std::vector<DiagnosticGroup> groups;
  DiagnosticGroup* current = nullptr;
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::note && current != nullptr) {
      add_note(*current, std::move(diagnostic));
    } else {
      current = &add_head(groups, std::move(diagnostic));
    }
  }
  std::vector<Diagnostic> merged;
  for (DiagnosticGroup& group : groups) {
    merged.push_back(std::move(group.head));
    std::move(group.notes.begin(), group.notes.end(), std::back_inserter(merged));
  }
  return merged;
}

} // namespace oclcc

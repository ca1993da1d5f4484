#include "terminal/reporter.hpp"

#include "base/system/files.hpp"
#include "terminal/terminal_text.hpp"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace oclcc {

namespace {

// gcc's own colours.
constexpr std::string_view k_reset = "\x1b[0m";
constexpr std::string_view k_bold = "\x1b[1m";
constexpr std::string_view k_clear_line = "\r\x1b[K";
constexpr std::size_t k_usual_columns = 80;
constexpr std::size_t k_columns_of_files = 100;

std::string_view severity_color(Severity severity) {
  constexpr std::string_view k_colors[] = {"\x1b[1;36m", "\x1b[1;35m", "\x1b[1;31m"};
  return k_colors[static_cast<std::size_t>(severity)];
}

bool use_color(ColorMode mode, bool terminal) {
  if (mode != ColorMode::automatic) {
    return mode == ColorMode::always;
  }
  const char* const kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  const char* const no_color = std::getenv("NO_COLOR"); // no-color.org
  return terminal && !dumb && (no_color == nullptr || *no_color == '\0');
}

void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string with_color(bool color, std::string_view code, std::string_view text) {
  return color ? fmt::format("{}{}{}", code, text, k_reset) : std::string(text);
}

std::string location_of(const Diagnostic& diagnostic) {
  if (diagnostic.file.empty()) {
    return "oclcc:";
  }
  std::string location = printable(diagnostic.file) + ":";
  if (diagnostic.line != 0) {
    location += fmt::format("{}:", diagnostic.line);
    location += diagnostic.column != 0 ? fmt::format("{}:", diagnostic.column) : "";
  }
  return location;
}

std::string device_suffix(const std::vector<std::string>& devices) {
  std::string suffix;
  for (const std::string& device : devices) {
    suffix += fmt::format("{}'{}'", suffix.empty() ? " [on " : ", ", printable(device));
  }
  return suffix.empty() ? suffix : suffix + "]";
}

// "    3 |   foo" and the caret below it.
std::string source_excerpt(const Diagnostic& diagnostic, bool color) {
  const std::string_view source = diagnostic.source_line;
  const std::string number = diagnostic.line != 0 ? std::to_string(diagnostic.line) : "";
  std::string excerpt = fmt::format("{:>5} | {}\n", number, printable(source));
  if (diagnostic.column != 0 && diagnostic.column <= source.size() + 1) {
    // The column counts the bytes of the source; a replaced character may have a different length.
    const std::string before = printable(source.substr(0, diagnostic.column - 1));
    excerpt += fmt::format("{:>5} | {}{}\n", "", padding_below(before, before.size() + 1),
                           with_color(color, severity_color(diagnostic.severity), "^"));
  }
  return excerpt;
}

// --- Documents: oclcc's own ---------------------------------------------------------------------

// "-Wunused" of "x is not used [-Wunused]"; empty where the message names no option.
std::string option_of(std::string_view text) {
  const std::size_t bracket = text.rfind(" [-W");
  if (bracket == std::string_view::npos || !text.ends_with(']')) {
    return {};
  }
  text.remove_prefix(bracket + std::string_view(" [").size());
  return std::string(text.substr(0, text.size() - 1));
}

JsonValue number_json(std::size_t number) {
  return {std::uint64_t{number}};
}

JsonObject message_json(const Diagnostic& diagnostic) {
  JsonObject members;
  members["severity"] = {std::string(to_string(diagnostic.severity))};
  members["message"] = {diagnostic.text};
  if (!diagnostic.file.empty()) {
    members["file"] = {diagnostic.file};
  }
  if (diagnostic.line != 0) {
    members["line"] = number_json(diagnostic.line);
  }
  if (diagnostic.column != 0) {
    members["column"] = number_json(diagnostic.column);
  }
  if (!diagnostic.source_line.empty()) {
    members["source_line"] = {diagnostic.source_line};
  }
  return members;
}

JsonValue head_json(const Report& report) {
  JsonObject members = message_json(report.head);
  members["devices"] = strings_json(report.head.devices);
  if (const std::string option = option_of(report.head.text); !option.empty()) {
    members["option"] = {option};
  }
  members["notes"] = {array_of(report.notes, message_json)};
  return {std::move(members)};
}

// --- Documents: SARIF ---------------------------------------------------------------------------

// RFC 3986: escapes all characters that are not unreserved, except the slashes of a path.
std::string uri_of(const std::string& file) {
  const std::filesystem::path name = base::to_path(file);
  const std::string path = base::generic_name_of(name);
  std::string uri = !name.is_absolute() ? "" : path.starts_with('/') ? "file://" : "file:///";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// From 1, as the byte's.
std::size_t code_point_column(const Diagnostic& diagnostic) {
  const std::size_t bytes = diagnostic.column - 1;
  if (bytes > diagnostic.source_line.size()) {
    return diagnostic.column;
  }
  const auto begin = diagnostic.source_line.begin();
  const auto is_first_byte = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  };
  return 1 + static_cast<std::size_t>(
                 std::count_if(begin, begin + static_cast<std::ptrdiff_t>(bytes), is_first_byte));
}

JsonValue text_json(const std::string& text) {
  return {JsonObject{{"text", {text}}}};
}

// Empty if the file is unknown.
JsonObject location_json(const Diagnostic& diagnostic) {
  if (diagnostic.file.empty()) {
    return {};
  }
  JsonObject physical = {{"artifactLocation", {JsonObject{{"uri", {uri_of(diagnostic.file)}}}}}};
  if (diagnostic.line != 0) {
    JsonObject region = {{"startLine", number_json(diagnostic.line)}};
    if (diagnostic.column != 0) {
      region["startColumn"] = number_json(code_point_column(diagnostic));
    }
    if (!diagnostic.source_line.empty()) {
      region["snippet"] = text_json(diagnostic.source_line);
    }
    physical["region"] = {std::move(region)};
  }
  return {{"physicalLocation", {std::move(physical)}}};
}

// gcc's SARIF also uses the severity if no option controls the message.
std::string rule_of(const Diagnostic& diagnostic) {
  const std::string option = option_of(diagnostic.text);
  return option.empty() ? std::string(to_string(diagnostic.severity)) : option;
}

JsonValue result_json(const Report& report) {
  JsonObject result;
  result["ruleId"] = {rule_of(report.head)};
  result["level"] = {std::string(to_string(report.head.severity))};
  result["message"] = text_json(report.head.text);
  JsonArray locations;
  if (JsonObject location = location_json(report.head); !location.empty()) {
    locations.push_back({std::move(location)});
  }
  result["locations"] = {std::move(locations)};
  if (!report.notes.empty()) {
    result["relatedLocations"] = {array_of(report.notes, [](const Diagnostic& note) {
      JsonObject related = location_json(note);
      related["message"] = text_json(note.text);
      return related;
    })};
  }
  if (!report.head.devices.empty()) {
    result["properties"] = {JsonObject{{"devices", strings_json(report.head.devices)}}};
  }
  return {std::move(result)};
}

JsonArray rules_json(std::span<const Report> reports) {
  std::set<std::string> names;
  for (const Report& report : reports) {
    names.insert(rule_of(report.head));
  }
  return array_of(names, [](const std::string& name) { return JsonObject{{"id", {name}}}; });
}

JsonValue invocation_json(std::span<const std::string> log, RunResult result) {
  JsonObject invocation = {{"executionSuccessful", {result == RunResult::succeeded}}};
  if (!log.empty()) {
    invocation["toolExecutionNotifications"] = {array_of(log, [](const std::string& text) {
      return JsonObject{{"level", {"note"}}, {"message", text_json(text)}};
    })};
  }
  return {std::move(invocation)};
}

// Returns the document as SARIF 2.1.0 (OASIS). Its columns count Unicode code points; if the text
// of a line is unknown, its column counts bytes.
std::string diagnostics_sarif(std::span<const Report> reports, std::span<const std::string> log,
                              RunResult result) {
  const JsonObject driver = {
      {"name", {"oclcc"}}, {"version", {OCLCC_VERSION}}, {"rules", {rules_json(reports)}}};
  JsonObject run;
  run["tool"] = {JsonObject{{"driver", {driver}}}};
  run["columnKind"] = {"unicodeCodePoints"};
  run["invocations"] = {JsonArray{invocation_json(log, result)}};
  run["results"] = {array_of(reports, result_json)};
  const JsonObject document = {{"$schema",
                                {"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                                 "sarif-schema-2.1.0.json"}},
                               {"version", {"2.1.0"}},
                               {"runs", {JsonArray{{std::move(run)}}}}};
  return printable_json(base::write_json({document}, base::JsonLayout::indented));
}

} // namespace

std::string_view to_string(Severity severity) noexcept {
  constexpr std::string_view k_names[] = {"note", "warning", "error"};
  return k_names[static_cast<std::size_t>(severity)];
}

Reporter::Reporter(ColorMode color, Verbosity verbosity, DiagnosticsFormat format)
    : m_color(use_color(color, base::is_terminal(base::k_standard_error))),
      m_terminal(base::is_terminal(base::k_standard_error)), m_verbosity(verbosity),
      m_format(format) {}

void Reporter::diagnostic(const Diagnostic& diagnostic, NoteUse use) {
  if (m_verbosity == Verbosity::quiet && diagnostic.severity != Severity::error) {
    return;
  }
  if (m_format != DiagnosticsFormat::text) {
    const bool belongs = diagnostic.severity == Severity::note &&
                         use == NoteUse::of_the_message_before && !m_reports.empty();
    if (belongs) {
      m_reports.back().notes.push_back(diagnostic);
    } else {
      m_reports.push_back({diagnostic, {}});
    }
    return;
  }
  clear_progress();
  std::string text =
      fmt::format("{} {} {}{}\n", with_color(m_color, k_bold, location_of(diagnostic)),
                  with_color(m_color, severity_color(diagnostic.severity),
                             fmt::format("{}:", to_string(diagnostic.severity))),
                  printable(diagnostic.text), device_suffix(diagnostic.devices));
  if (!diagnostic.source_line.empty()) {
    text += source_excerpt(diagnostic, m_color);
  }
  write_to_stderr(text);
}

void Reporter::error(std::string_view text) {
  diagnostic({.severity = Severity::error, .text = std::string(text)});
}

void Reporter::warning(std::string_view text) {
  diagnostic({.severity = Severity::warning, .text = std::string(text)});
}

void Reporter::note(std::string_view text) {
  diagnostic({.severity = Severity::note, .text = std::string(text)}, NoteUse::alone);
}

void Reporter::explain(std::string_view text) {
  diagnostic({.severity = Severity::note, .text = std::string(text)});
}

void Reporter::verbose(std::string_view text) {
  if (m_verbosity != Verbosity::verbose) {
    return;
  }
  if (m_format != DiagnosticsFormat::text) {
    m_log.emplace_back(text);
    return;
  }
  clear_progress();
  // Names and build logs must not control the terminal.
  write_to_stderr(printable_lines(text) + (text.ends_with('\n') ? "" : "\n"));
}

void Reporter::progress(std::string_view text) {
  if (!m_terminal || m_verbosity != Verbosity::normal || m_format != DiagnosticsFormat::text) {
    return;
  }
  clear_progress();
  // A longer line would wrap, and a wrapped line cannot be rewritten. The last column stays free:
  // some terminals wrap as soon as it is filled.
  const std::string line = printable(text);
  write_to_stderr(
      fitting(line, base::terminal_columns(base::k_standard_error).value_or(k_usual_columns) - 1));
  std::fflush(stderr);
  m_progress_shown = true;
}

void Reporter::end_progress() {
  clear_progress();
  std::fflush(stderr);
}

void Reporter::plain(std::string_view text) {
  clear_progress();
  write_to_stderr(printable_lines(text));
}

bool Reporter::prints_to_terminal() const {
  return base::is_terminal(base::k_standard_output);
}

std::size_t Reporter::line_cells() const {
  return std::max(base::terminal_columns(base::k_standard_output).value_or(k_columns_of_files),
                  std::size_t{20});
}

bool Reporter::print(std::string_view text) {
  clear_progress();
  const std::string shown = printable_lines(text);
  const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
  if (written && std::fflush(stdout) == 0) {
    return true;
  }
  error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void Reporter::finish(RunResult result) {
  if (m_format == DiagnosticsFormat::json) {
    // oclcc/schema/diagnostics.schema.json; the log contains the texts that -v adds.
    write_to_stderr(report_json(
        {{"diagnostics", {array_of(m_reports, head_json)}}, {"log", strings_json(m_log)}}));
  } else if (m_format == DiagnosticsFormat::sarif) {
    write_to_stderr(diagnostics_sarif(m_reports, m_log, result));
  }
  m_reports.clear();
  m_log.clear();
}

void Reporter::clear_progress() {
  if (m_progress_shown) {
    write_to_stderr(k_clear_line);
    m_progress_shown = false;
  }
}

} // namespace oclcc

#include "terminal/reporter.hpp"

#include "terminal/terminal_text.hpp"

#include <cctype>
#include <filesystem>
#include <set>

namespace oclcc {

using base::JsonLayout;

namespace {

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

// Returns what `json` makes of each item.
JsonArray array_of(const auto& items, const auto& json) {
  JsonArray array;
  for (const auto& item : items) {
    array.push_back({json(item)});
  }
  return array;
}

// --- oclcc's own --------------------------------------------------------------------------------

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

// --- SARIF --------------------------------------------------------------------------------------

// RFC 3986: escapes all characters that are not unreserved, except the slashes of a path.
std::string uri_of(const std::string& file) {
  const std::string path = std::filesystem::path(file).generic_string();
  std::string uri = path.starts_with('/') ? "file://" : "";
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
JsonObject physical_location(const Diagnostic& diagnostic) {
  JsonObject physical;
  if (diagnostic.file.empty()) {
    return physical;
  }
  physical["artifactLocation"] = {JsonObject{{"uri", {uri_of(diagnostic.file)}}}};
  if (diagnostic.line == 0) {
    return physical;
  }
  JsonObject region = {{"startLine", number_json(diagnostic.line)}};
  if (diagnostic.column != 0) {
    region["startColumn"] = number_json(code_point_column(diagnostic));
  }
  if (!diagnostic.source_line.empty()) {
    region["snippet"] = text_json(diagnostic.source_line);
  }
  physical["region"] = {std::move(region)};
  return physical;
}

JsonObject location_json(const Diagnostic& diagnostic) {
  JsonObject location;
  if (JsonObject physical = physical_location(diagnostic); !physical.empty()) {
    location["physicalLocation"] = {std::move(physical)};
  }
  return location;
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

} // namespace

std::string diagnostics_json(std::span<const Report> reports, std::span<const std::string> log) {
  return report_json({{"diagnostics", {array_of(reports, head_json)}},
                      {"log", strings_json({log.begin(), log.end()})}});
}

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
  return printable_json(base::write_json({document}, JsonLayout::indented));
}

} // namespace oclcc

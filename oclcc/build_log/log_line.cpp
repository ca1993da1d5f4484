#include "build_log/log_line.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace oclcc {

namespace {

struct SeverityWord {
  std::string_view word;
  LogSeverity severity;
};

constexpr SeverityWord k_severity_words[] = {
    {"fatal error", LogSeverity::error}, {"error", LogSeverity::error},
    {"fatal", LogSeverity::error},       {"warning", LogSeverity::warning},
    {"remark", LogSeverity::remark},     {"note", LogSeverity::note},
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
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

// "error: ", "fatal   : "
std::optional<LogSeverity> consume_severity(std::string_view& text) {
  for (const SeverityWord& candidate : k_severity_words) {
    std::string_view rest = text;
    if (!consume(rest, candidate.word)) {
      continue;
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (consume(rest, ": ")) {
      text = rest;
      return candidate.severity;
    }
  }
  return std::nullopt;
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
  return consume(text, ": ") && consume_severity(text).has_value();
}

std::optional<LogMessage> parse_clang(std::string_view line) {
  LogMessage message;
  message.position = consume_position(line, severity_follows);
  if (!message.position) {
    return std::nullopt;
  }
  consume(line, ": ");
  message.severity = *consume_severity(line);
  message.text = line;
  return message;
}

std::optional<LogMessage> parse_severity_first(std::string_view line) {
  consume(line, "ptxas ");
  const std::optional<LogSeverity> severity = consume_severity(line);
  if (!severity) {
    return std::nullopt;
  }
  LogMessage message;
  message.severity = *severity;
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
  const std::optional<LogSeverity> severity = consume_severity(line);
  if (!severity) {
    return std::nullopt;
  }
  return LogMessage{*severity, std::nullopt, std::nullopt, fmt::format("{} ({})", line, place)};
}

std::optional<LogMessage> parse_spirv_linker(std::string_view line) {
  const std::size_t end = line.find("): ");
  if (!line.starts_with("(file=") || end == std::string_view::npos) {
    return std::nullopt;
  }
  return LogMessage{LogSeverity::error, std::nullopt, std::nullopt,
                    std::string(line.substr(end + std::string_view("): ").size()))};
}

} // namespace

std::optional<LogMessage> parse_log_line(std::string_view line) {
  if (auto message = parse_severity_first(line)) {
    return message;
  }
  if (auto message = parse_clang(line)) {
    return message;
  }
  if (auto message = parse_ptxas(line)) {
    return message;
  }
  return parse_spirv_linker(line);
}

std::optional<LogPosition> parse_included_from(std::string_view line) {
  if (!consume(line, "In file included from ")) {
    return std::nullopt;
  }
  return consume_position(line, [](std::string_view rest) { return rest == ":" || rest == ","; });
}

bool is_caret_line(std::string_view line) {
  line = strip_line_number(line);
  return line.find('^') != std::string_view::npos &&
         line.find_first_not_of(" \t~^") == std::string_view::npos;
}

std::string_view strip_line_number(std::string_view line) {
  const std::size_t bar = line.find(" | ");
  const bool numbered =
      bar != std::string_view::npos &&
      line.substr(0, bar).find_first_not_of(" 0123456789") == std::string_view::npos;
  return numbered ? line.substr(bar + 3) : line;
}

} // namespace oclcc

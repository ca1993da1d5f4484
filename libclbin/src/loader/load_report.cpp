#include "loader/load_program.hpp"
#include "opencl/cl_error.hpp"

#include <string_view>

namespace clbin::loader {
namespace {

std::string_view origin_text(Origin origin) {
  switch (origin) {
  case Origin::none:
    return "not loaded";
  case Origin::entry:
    return "loaded from the bundle's binary";
  case Origin::user_cache:
    return "loaded from the user cache";
  case Origin::il:
    return "built from IL";
  case Origin::source:
    return "built from source";
  }
  return "not loaded";
}

std::string_view decision_text(Decision decision) {
  switch (decision) {
  case Decision::loaded:
    return "loaded";
  case Decision::refused:
    return "refused";
  case Decision::not_attempted:
    return "not attempted";
  case Decision::unreadable:
    return "unreadable";
  case Decision::accepted:
    return "accepted";
  }
  return "not attempted";
}

void append_log(std::string& text, std::string_view log) {
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    text += "      ";
    text += log.substr(0, end);
    text += '\n';
    log.remove_prefix(std::min(end + 1, log.size()));
  }
}

void append_attempt(std::string& text, const Attempt& attempt, bool name_device) {
  text += "  ";
  if (name_device) {
    text += fmt::format("device {}: ", attempt.device);
  }
  text += decision_text(attempt.decision);
  if (!attempt.rule.empty()) {
    text += fmt::format(", {}", attempt.rule);
  }
  if (!attempt.target.empty()) {
    text += fmt::format(", entry for '{}'", attempt.target);
  }
  text += fmt::format(": {}", attempt.reason);
  if (attempt.decision == Decision::refused) {
    text += fmt::format("; {}: {}", attempt.stage, opencl::cl_error_name(attempt.cl_code));
  }
  if (attempt.decision != Decision::not_attempted) {
    text += fmt::format(" ({} us)", attempt.microseconds);
  }
  text += '\n';
  append_log(text, attempt.driver_log);
}

} // namespace

std::string describe(const LoadReport& report) {
  std::string text = fmt::format("program '{}', variant '{}': {} in {} us\n", report.program,
                                 report.variant, origin_text(report.origin), report.microseconds);
  for (std::size_t index = 0; index < report.devices.size(); ++index) {
    text += fmt::format("  device {} is '{}'\n", index, report.devices[index]);
  }
  for (const Attempt& attempt : report.attempts) {
    append_attempt(text, attempt, report.devices.size() > 1);
  }
  for (const std::string& warning : report.warnings) {
    text += fmt::format("  warning: {}\n", warning);
  }
  return text;
}

} // namespace clbin::loader

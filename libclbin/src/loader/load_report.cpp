#include "base/json_document.hpp"
#include "loader/load_program.hpp"

namespace clbin::loader {

using base::JsonObject;
using base::JsonValue;

namespace {

std::string_view origin_text(Origin origin) {
  constexpr std::string_view k_texts[]{"not loaded", "loaded from the bundle's binary",
                                       "loaded from the user cache", "built from IL",
                                       "built from source"};
  return k_texts[static_cast<std::size_t>(origin)];
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
  text += to_string(attempt.decision);
  if (attempt.rule != Rule::none) {
    text += fmt::format(", {}", to_string(attempt.rule));
  }
  if (!attempt.target.empty()) {
    text += fmt::format(", entry for '{}'", attempt.target);
  }
  if (!attempt.pack.empty()) {
    text += fmt::format(" in pack '{}'", attempt.pack);
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

JsonValue json_of(const Attempt& attempt, std::uint32_t first_entry) {
  JsonObject object;
  object["device"] = {std::uint64_t{attempt.device}};
  object["entry"] = attempt.entry == format::k_no_index || !attempt.pack.empty()
                        ? JsonValue()
                        : JsonValue{std::uint64_t{attempt.entry - first_entry}};
  object["target"] = {attempt.target};
  object["pack"] = {attempt.pack};
  object["origin"] = {std::string(to_string(attempt.origin))};
  object["rule"] = {std::string(to_string(attempt.rule))};
  object["decision"] = {std::string(to_string(attempt.decision))};
  object["reason"] = {attempt.reason};
  object["stage"] = {attempt.stage};
  object["code"] = attempt.stage.empty()
                       ? JsonValue()
                       : JsonValue{base::OtherNumber{std::to_string(attempt.cl_code)}};
  object["code_name"] = {attempt.cl_code_name};
  object["driver_log"] = {attempt.driver_log};
  object["microseconds"] = {attempt.microseconds};
  return {std::move(object)};
}

} // namespace

std::string report_json(const LoadReport& report) {

  JsonObject object;
  object["schema"] = {std::string("clbin-load-report-1")};
  object["program"] = {report.program};
  object["variant"] = {report.variant};
  object["variant_reason"] = {report.variant_reason};
  object["extensions"] = {report.extensions};
  object["origin"] = {std::string(to_string(report.origin))};
  object["devices"] = base::strings_json(report.devices);
  object["attempts"] = {base::array_of(report.attempts, [&](const Attempt& attempt) {
    return json_of(attempt, report.first_entry);
  })};
  object["warnings"] = base::strings_json(report.warnings);
  object["microseconds"] = {report.microseconds};
  return base::write_json({std::move(object)});
}

std::string describe(const LoadReport& report) {
  std::string text =
      fmt::format("program '{}', variant '{}'{}{}: {} in {} us\n", report.program, report.variant,
                  report.variant_reason.empty() ? "" : ", ", report.variant_reason,
                  origin_text(report.origin), report.microseconds);
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

#include "loader/load_session.hpp"

#include "opencl/driver.hpp"

#include <algorithm>

namespace clbin::loader {

using base::Result;

namespace {

// Includes the copies in the text and the JSON of the report.
std::uint64_t report_bytes_of(const Attempt& attempt) {
  constexpr std::uint64_t k_copies = 4;
  return k_copies * (sizeof(attempt) + attempt.target.size() + attempt.reason.size() +
                     attempt.driver_log.size());
}

} // namespace

void LoadSession::record(Attempt attempt) const {
  if (report_bytes_of(attempt) > report_bytes_left) {
    attempt.reason = format::told(attempt.reason);
    attempt.driver_log = format::told(attempt.driver_log);
  }
  report_bytes_left -= std::min(report_bytes_left, report_bytes_of(attempt));
  if (!attempt.stage.empty()) {
    const std::string name = opencl::cl_error_name(attempt.cl_code);
    attempt.cl_code_name = name.substr(0, name.find(" ("));
  }
  report.attempts.push_back(std::move(attempt));
  if (request.on_attempt) {
    request.on_attempt(report.attempts.back());
  }
}

bool LoadSession::has_room_for(const Attempt& attempt) const {
  if (!is_report_full && report_bytes_of(attempt) > report_bytes_left) {
    is_report_full = true;
    report.warnings.push_back(
        "the report omits some entries, because the bundle contains too many");
  }
  return !is_report_full;
}

void LoadSession::warn_of_cache(const std::string& warning) const {
  if (!warning.empty() && !report.has_cache_warning) {
    report.has_cache_warning = true;
    report.warnings.push_back(warning);
  }
}

const Result<format::SourcePackage>& LoadSession::source() const {
  if (!read_source.has_value() && bundle == nullptr) {
    read_source = base::fail(base::ErrorCode::no_source, "the program is not of a bundle");
  }
  if (!read_source.has_value()) {
    read_source = bundle->read_source(group, &budget);
  }
  return *read_source;
}

std::string LoadSession::source_options() const {
  const std::string& recorded = group.options;
  const std::string& extra = request.extra_options;
  return recorded.empty() || extra.empty() ? recorded + extra : recorded + " " + extra;
}

} // namespace clbin::loader

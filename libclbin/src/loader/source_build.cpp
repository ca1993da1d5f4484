#include "loader/source_build.hpp"

#include "loader/recorded_options.hpp"
#include "opencl/driver.hpp"
#include "source/source_closing.hpp"

namespace clbin::loader {
namespace {

using base::ErrorCode;
using base::Result;

std::string quoted_devices(const LoadSession& session) {
  std::string text;
  for (const format::DeviceIdentity& identity : session.identities) {
    text += text.empty() ? "'" : ", '";
    text += identity.device_name + "'";
  }
  return text;
}

tl::unexpected<base::Error> build_error(const LoadSession& session,
                                        const format::SourcePackage& source,
                                        const opencl::BuildOutcome& outcome) {
  std::string message =
      fmt::format("building '{}' for {} failed: {}: {}", source.main.display_name,
                  quoted_devices(session), outcome.stage, opencl::cl_error_name(outcome.code));
  if (!outcome.log.empty()) {
    message += "\n" + outcome.log;
  }
  return tl::unexpected(base::Error{ErrorCode::build_failed, std::move(message)});
}

} // namespace

Result<opencl::Program> build_source(const LoadSession& session, std::string reason) {
  const Stopwatch stopwatch;
  Attempt attempt;
  attempt.origin = Origin::source;
  attempt.rule = AttemptRule::source;
  attempt.reason = std::move(reason);
  const Result<format::SourcePackage>& recorded = session.source();
  if (!recorded) {
    attempt.decision = recorded.error().code == ErrorCode::no_source ? Decision::not_attempted
                                                                     : Decision::unreadable;
    attempt.reason = recorded.error().message;
    session.record(std::move(attempt));
    return tl::unexpected(recorded.error());
  }
  if (const Result<void> options = check_recorded_options(session.group.options); !options) {
    attempt.decision = Decision::not_attempted;
    attempt.reason = options.error().message;
    session.record(std::move(attempt));
    return base::add_context(options.error(), session.group.program);
  }
  const std::string options = session.source_options();
  const format::SourcePackage closed = source::close_source(*recorded, options);
  opencl::BuildOutcome outcome = opencl::build_from_source(
      session.driver, session.context, session.request.devices, closed, options);
  outcome.log = source::with_open_names(outcome.log);
  const bool good = outcome.code == CL_SUCCESS && outcome.program;
  attempt.decision = good ? Decision::loaded : Decision::refused;
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  if (!good) {
    return build_error(session, *recorded, outcome);
  }
  return std::move(outcome.program);
}

} // namespace clbin::loader

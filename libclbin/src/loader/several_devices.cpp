#include "loader/several_devices.hpp"

#include "loader/attempt_digest.hpp"
#include "loader/ladder.hpp"
#include "loader/source_build.hpp"
#include "opencl/driver.hpp"

#include <algorithm>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

namespace {

std::vector<std::string> common_kernels(const std::vector<ProvedEntry>& entries) {
  std::vector<std::string> common = entries.front().kernels;
  for (const ProvedEntry& entry : entries) {
    std::erase_if(common, [&](const std::string& name) {
      return std::find(entry.kernels.begin(), entry.kernels.end(), name) == entry.kernels.end();
    });
  }
  return common;
}

// One build for all devices has one option string: that of the entries if they agree, otherwise
// that of the group.
std::string common_options(const LoadSession& session, const std::vector<ProvedEntry>& entries) {
  const bool agree = std::all_of(entries.begin(), entries.end(), [&](const ProvedEntry& entry) {
    return entry.options == entries.front().options;
  });
  return agree ? entries.front().options : session.group.options.str();
}

Attempt together_attempt(const std::vector<ProvedEntry>& entries) {
  Attempt attempt;
  attempt.origin = common_origin(entries);
  attempt.rule = AttemptRule::several_devices;
  attempt.reason = fmt::format("the binaries of {} devices in one program", entries.size());
  return attempt;
}

std::string refusal_of(const LoadSession& session, const Attempt& attempt, std::size_t devices) {
  const std::string program = fmt::format("the binaries of program '{}'", session.group.program);
  if (attempt.decision == Decision::not_attempted) {
    return fmt::format("{} are not loaded as one program for {} devices: {}", program, devices,
                       attempt.reason);
  }
  return fmt::format(
      "the driver accepts {} one by one, but not in one program for {} devices ({}: {})", program,
      devices, attempt.stage, opencl::cl_error_name(attempt.cl_code));
}

} // namespace

Origin common_origin(const std::vector<ProvedEntry>& entries) {
  const bool cached = std::all_of(entries.begin(), entries.end(), [](const ProvedEntry& entry) {
    return entry.origin == Origin::user_cache;
  });
  return cached ? Origin::user_cache : Origin::entry;
}

TogetherOutcome create_together(const LoadSession& session,
                                const std::vector<ProvedEntry>& entries) {
  const Stopwatch stopwatch;
  const std::string options = common_options(session, entries);
  const std::vector<std::string> kernels = common_kernels(entries);
  std::vector<base::ByteView> binaries;
  binaries.reserve(entries.size());
  for (const ProvedEntry& entry : entries) {
    binaries.emplace_back(entry.binary);
  }
  const DigestPair name = together_digest(session, entries, options, kernels);
  cache::AttemptPermit permit = session.cache.quarantine.begin(name.attempt, name.devices);
  session.warn_of_cache(permit.warning);
  Attempt attempt = together_attempt(entries);
  opencl::BuildOutcome outcome;
  if (permit.verdict == cache::AttemptVerdict::quarantined) {
    attempt.decision = Decision::not_attempted;
    attempt.reason = "in quarantine: " + permit.reason;
  } else {
    permit.marker.hand_over();
    outcome = opencl::build_from_binaries(session.driver, session.context, session.request.devices,
                                          binaries, options, kernels);
    permit.marker.take_back();
    attempt.decision = outcome.code == CL_SUCCESS ? Decision::loaded : Decision::refused;
    attempt.cl_code = outcome.code;
    attempt.stage = outcome.stage;
    attempt.driver_log = outcome.log;
  }
  attempt.microseconds = stopwatch.microseconds();
  const std::string why_not =
      attempt.decision == Decision::loaded ? "" : refusal_of(session, attempt, entries.size());
  session.record(std::move(attempt));
  return {std::move(outcome.program), why_not};
}

namespace {

Result<opencl::Program> load_together(const LoadSession& session,
                                      const std::vector<ProvedEntry>& entries) {
  TogetherOutcome together = create_together(session, entries);
  if (together.why_not.empty()) {
    session.report.origin = common_origin(entries);
    return std::move(together.program);
  }
  if (session.request.fallback == FallbackPolicy::never) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    together.why_not + ", and the caller does not allow a build from source; load "
                                       "the program for each device separately"});
  }
  const bool was_tried = session.report.attempts.back().decision == Decision::refused;
  Result<opencl::Program> program = build_source(
      session, was_tried ? "the driver rejected one program with the binaries of several devices"
                         : "the binaries of several devices in one program are in quarantine");
  if (program) {
    session.report.origin = Origin::source;
  } else if (program.error().code == ErrorCode::no_source) {
    return tl::unexpected(base::Error{
        ErrorCode::several_devices_refused,
        together.why_not +
            ", and the bundle contains no source; load the program for each device separately"});
  }
  return program;
}

// Builds source for all devices, because `device` has no binary. Stores the binaries of this device
// and of the following ones, which were not looked up.
Result<opencl::Program> build_for_all(const LoadSession& session, std::uint32_t device,
                                      std::vector<Climb>& climbs) {
  if (session.request.fallback == FallbackPolicy::if_needed) {
    std::for_each(climbs.begin() + device + 1, climbs.end(),
                  [](Climb& later) { later.user_cache().claim_if_free(); });
  }
  const Climb& climb = climbs[device];
  Result<opencl::Program> program =
      fall_back(session, device, climb.outcome(),
                fmt::format("device {} has no binary: {}", device, climb.source_reason()));
  if (program) {
    session.report.origin = Origin::source;
    std::for_each(climbs.begin() + device, climbs.end(), [&](Climb& built) {
      built.user_cache().keep(program->get(), session.source_options());
    });
  }
  return program;
}

} // namespace

Result<opencl::Program> load_for_several(const LoadSession& session,
                                         const std::string& why_no_entry) {
  const auto count = static_cast<std::uint32_t>(session.request.devices.size());
  std::vector<Climb> climbs;
  for (std::uint32_t device = 0; device < count; ++device) {
    climbs.emplace_back(session, device, ForLater::keep_bytes, why_no_entry);
  }
  std::vector<ProvedEntry> entries;
  for (std::uint32_t device = 0; device < count; ++device) {
    std::optional<ProvedEntry> proved = climbs[device].up_to_source();
    if (!proved.has_value()) {
      return build_for_all(session, device, climbs);
    }
    // Only the bytes are kept. The program is released before the next one is created.
    proved->program = opencl::Program();
    entries.push_back(std::move(*proved));
  }
  return load_together(session, entries);
}

} // namespace clbin::loader

#include "loader/several_devices.hpp"

#include "loader/ladder.hpp"
#include "opencl/cl_error.hpp"

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

// One build for all devices takes one string: the entries' own where they agree.
std::string common_options(const LoadSession& session, const std::vector<ProvedEntry>& entries) {
  const bool agree = std::all_of(entries.begin(), entries.end(), [&](const ProvedEntry& entry) {
    return entry.options == entries.front().options;
  });
  return agree ? entries.front().options : session.group.options;
}

Origin common_origin(const std::vector<ProvedEntry>& entries) {
  const bool cached = std::all_of(entries.begin(), entries.end(), [](const ProvedEntry& entry) {
    return entry.origin == Origin::user_cache;
  });
  return cached ? Origin::user_cache : Origin::entry;
}

opencl::BuildOutcome create_together(const LoadSession& session,
                                     const std::vector<ProvedEntry>& entries) {
  const Stopwatch stopwatch;
  std::vector<base::ByteView> binaries;
  std::vector<cache::AttemptPermit> permits; // held until the driver has answered
  for (std::size_t device = 0; device < entries.size(); ++device) {
    binaries.emplace_back(entries[device].binary);
    permits.push_back(session.cache.quarantine.begin(
        entries[device].digest, format::identity_digest(session.identities[device])));
    permits.back().marker.hand_over();
  }
  opencl::BuildOutcome outcome = opencl::build_from_binaries(
      session.driver, session.context, session.request.devices, binaries,
      common_options(session, entries), common_kernels(entries));
  for (cache::AttemptPermit& permit : permits) {
    permit.marker.take_back();
  }
  Attempt attempt;
  attempt.origin = common_origin(entries);
  attempt.rule = "several devices";
  attempt.decision = outcome.code == CL_SUCCESS ? Decision::loaded : Decision::refused;
  attempt.reason = fmt::format("the binaries of {} devices in one program", entries.size());
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  return outcome;
}

Result<opencl::Program> load_together(const LoadSession& session,
                                      const std::vector<ProvedEntry>& entries) {
  opencl::BuildOutcome outcome = create_together(session, entries);
  if (outcome.code == CL_SUCCESS) {
    session.report.origin = common_origin(entries);
    return std::move(outcome.program);
  }
  std::string refusal = fmt::format(
      "the driver accepts the binaries of program '{}' one by one but not together for {} devices "
      "({}: {})",
      session.group.program, entries.size(), outcome.stage, opencl::cl_error_name(outcome.code));
  if (session.request.fallback == FallbackPolicy::never) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    refusal + ", and source may not be built; load for each device alone"});
  }
  Result<opencl::Program> program =
      build_source(session, "the driver refused the binaries of several devices in one program");
  if (program) {
    session.report.origin = Origin::source;
  } else if (program.error().code == ErrorCode::no_source) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    refusal + ", and the bundle has no source; load for each device alone"});
  }
  return program;
}

// `why_no_entry` as for load_for_several.
EntryOutcome binary_of(const LoadSession& session, std::uint32_t device, UserCacheRung& user_cache,
                       const std::string& why_no_entry) {
  EntryOutcome outcome;
  if (why_no_entry.empty()) {
    outcome = climb(session, device, user_cache, ForLater::keep_bytes);
    explain_outcome(session, device, outcome);
  } else {
    outcome.proved = user_cache.attempt(ForLater::keep_bytes);
    explain_entries(session, device, "fits, but " + why_no_entry, IlComes::no);
  }
  if (!outcome.proved.has_value()) {
    outcome.proved = std::move(outcome.recompiled);
  }
  // As for one device, nothing is kept in the place of entries in quarantine.
  if (!outcome.proved.has_value() && outcome.quarantined == 0) {
    outcome.proved = user_cache.wait_for_turn(ForLater::keep_bytes);
  }
  return outcome;
}

// Source for all, since `device` has no binary. What comes of it is kept for that one and for those
// after it, which were not asked for theirs.
Result<opencl::Program> build_for_all(const LoadSession& session, std::uint32_t device,
                                      std::vector<UserCacheRung>& rungs,
                                      const EntryOutcome& outcome, std::string reason) {
  if (session.request.fallback == FallbackPolicy::if_needed) {
    std::for_each(rungs.begin() + device + 1, rungs.end(),
                  [](UserCacheRung& later) { later.claim_if_free(); });
  }
  Result<opencl::Program> program = fall_back(session, device, outcome, std::move(reason));
  if (program) {
    session.report.origin = Origin::source;
    std::for_each(rungs.begin() + device, rungs.end(),
                  [&](UserCacheRung& rung) { rung.keep(*program, session.source_options()); });
  }
  return program;
}

} // namespace

Result<opencl::Program> load_for_several(const LoadSession& session,
                                         const std::string& why_no_entry) {
  const auto count = static_cast<std::uint32_t>(session.request.devices.size());
  std::vector<UserCacheRung> rungs;
  for (std::uint32_t device = 0; device < count; ++device) {
    rungs.emplace_back(session, device);
  }
  std::vector<ProvedEntry> entries;
  for (std::uint32_t device = 0; device < count; ++device) {
    EntryOutcome outcome = binary_of(session, device, rungs[device], why_no_entry);
    if (!outcome.proved.has_value()) {
      const std::string& reason = why_no_entry.empty() ? source_reason(outcome) : why_no_entry;
      return build_for_all(session, device, rungs, outcome,
                           fmt::format("device {} has no binary: {}", device, reason));
    }
    // Kept as bytes; the proof itself is released before the next one is made.
    outcome.proved->program = opencl::Program();
    entries.push_back(std::move(*outcome.proved));
  }
  return load_together(session, entries);
}

} // namespace clbin::loader

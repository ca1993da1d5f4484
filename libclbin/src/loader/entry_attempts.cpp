#include "loader/load_session.hpp"
#include "opencl/cl_error.hpp"

#include <algorithm>

namespace clbin::loader {
namespace {

using base::Result;
using matching::Candidate;
using matching::Rule;

std::string target_text(const format::TargetView& target) {
  return target.spec.empty() ? fmt::format("{} / {} / {}", target.platform_name, target.device_name,
                                           target.driver_version)
                             : target.spec;
}

std::string rule_text(Rule rule) {
  switch (rule) {
  case Rule::exact_identity:
    return "exact identity";
  case Rule::compatible:
    return "compatible";
  case Rule::not_compatible:
    break;
  }
  return "not compatible";
}

Attempt attempt_of(const Candidate& candidate, std::uint32_t device) {
  Attempt attempt;
  attempt.device = device;
  attempt.entry = candidate.entry.index;
  attempt.target = target_text(candidate.entry.target);
  attempt.origin = Origin::entry;
  attempt.rule = rule_text(candidate.rule);
  attempt.reason = candidate.reason;
  return attempt;
}

// Records the outcome of a build and says whether it is good.
bool record_outcome(const LoadSession& session, Attempt attempt,
                    const opencl::BuildOutcome& outcome, Decision when_good,
                    const Stopwatch& stopwatch) {
  const bool good = outcome.code == CL_SUCCESS && outcome.program;
  attempt.decision = good ? when_good : Decision::refused;
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  // Intel's driver accepts a binary that is not for the device, and builds the IR beside it.
  if (good && outcome.log.find("-Wrecompiled-from-ir") != std::string::npos) {
    session.report.warnings.push_back(fmt::format(
        "the driver did not use the binary for '{}' but built the IR in it", attempt.target));
  }
  session.record(std::move(attempt));
  return good;
}

} // namespace

EntryOutcome try_entries(const LoadSession& session, std::uint32_t device, ForLater for_later) {
  EntryOutcome result;
  const auto candidates =
      matching::rank_candidates(session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    Attempt attempt;
    attempt.device = device;
    attempt.origin = Origin::entry;
    attempt.decision = Decision::unreadable;
    attempt.reason = candidates.error().message;
    session.record(std::move(attempt));
    result.first_damage = candidates.error();
    return result;
  }
  for (const Candidate& candidate : *candidates) {
    const Stopwatch stopwatch;
    Attempt attempt = attempt_of(candidate, device);
    Result<base::Bytes> binary = matching::read_candidate(session.bundle, candidate);
    if (!binary) {
      attempt.decision = Decision::unreadable;
      attempt.reason = binary.error().message;
      attempt.microseconds = stopwatch.microseconds();
      session.record(std::move(attempt));
      result.first_damage = result.first_damage.value_or(binary.error());
      continue;
    }
    opencl::BuildOutcome outcome =
        opencl::build_from_binary(session.driver, session.context, session.request.devices[device],
                                  *binary, candidate.entry.options, candidate.entry.kernels);
    const Decision when_good =
        for_later == ForLater::keep_bytes ? Decision::accepted : Decision::loaded;
    if (record_outcome(session, std::move(attempt), outcome, when_good, stopwatch)) {
      result.exact = candidate.rule == Rule::exact_identity;
      result.proved =
          ProvedEntry{std::move(outcome.program),
                      for_later == ForLater::keep_bytes ? std::move(*binary) : base::Bytes(),
                      candidate.entry.options, candidate.entry.kernels};
      return result;
    }
    ++result.refused;
  }
  return result;
}

void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason) {
  if (session.request.detail == ReportDetail::attempts_only) {
    return;
  }
  const auto candidates =
      matching::explain_candidates(session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    session.report.warnings.push_back(candidates.error().message);
    return;
  }
  const std::vector<Attempt> made = session.report.attempts;
  for (const Candidate& candidate : *candidates) {
    const bool was_attempted = std::any_of(made.begin(), made.end(), [&](const Attempt& attempt) {
      return attempt.device == device && attempt.entry == candidate.entry.index;
    });
    if (was_attempted) {
      continue;
    }
    Attempt attempt = attempt_of(candidate, device);
    if (candidate.rule != Rule::not_compatible) {
      attempt.reason = fitting_reason;
    }
    session.record(std::move(attempt));
  }
}

} // namespace clbin::loader

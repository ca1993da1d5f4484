#include "loader/entry_attempts.hpp"

#include "loader/attempt_digest.hpp"
#include "loader/recorded_options.hpp"
#include "opencl/driver.hpp"

#include <algorithm>
#include <unordered_set>

namespace clbin::loader {
namespace {

using base::Result;
using matching::Candidate;
using matching::Rule;
using matching::Turn;

std::string target_text(const format::TargetView& target) {
  using format::told;
  return target.spec.empty() ? fmt::format("{} / {} / {}", told(target.platform_name),
                                           told(target.device_name), told(target.driver_version))
                             : told(target.spec);
}

bool is_recompiled(const opencl::BuildOutcome& outcome) {
  return outcome.code == CL_SUCCESS && opencl::reports_recompiling(outcome.log);
}

// Records the outcome of a build. Returns whether it succeeded.
bool record_outcome(const LoadSession& session, Attempt attempt,
                    const opencl::BuildOutcome& outcome, Decision when_good,
                    const Stopwatch& stopwatch) {
  const bool good = outcome.code == CL_SUCCESS && outcome.program;
  attempt.decision = good ? when_good : Decision::refused;
  if (good && is_recompiled(outcome)) {
    attempt.decision = Decision::recompiled;
    attempt.reason = opencl::k_recompiled_sentence;
  }
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  return good;
}

Result<BinaryToTry> read_binary(const LoadSession& session, const Candidate& candidate,
                                const Attempt& attempt) {
  BinaryToTry binary;
  CLBIN_TRY(session.options_checker.check(candidate.entry.options));
  CLBIN_TRY_ASSIGN(binary.payload, payload_digest(*session.bundle, candidate.entry.blob));
  CLBIN_TRY_ASSIGN(binary.bytes,
                   matching::read_candidate(*session.bundle, candidate, &session.budget));
  binary.attempt = attempt;
  binary.options = candidate.entry.options;
  binary.kernels = candidate.entry.kernels;
  return binary;
}

opencl::BuildOutcome build(const LoadSession& session, const BinaryToTry& binary) {
  cl_device_id device = session.request.devices[binary.attempt.device];
  if (binary.language == BinaryToTry::Language::il) {
    return opencl::build_from_il(session.driver, session.context, {device}, binary.bytes,
                                 session.request.constants, binary.options, binary.kernels);
  }
  return opencl::build_from_binary(session.driver, session.context, device, binary.bytes,
                                   binary.options, binary.kernels);
}

} // namespace

void record_unreadable(const LoadSession& session, Attempt attempt, const base::Error& error,
                       const Stopwatch& stopwatch, EntryOutcome& outcome) {
  attempt.decision = error.code == base::ErrorCode::unsafe_options ? Decision::not_attempted
                                                                   : Decision::unreadable;
  attempt.reason = error.message;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  outcome.first_damage = outcome.first_damage.value_or(error);
}

Attempt attempt_of(const Candidate& candidate, std::uint32_t device) {
  Attempt attempt;
  attempt.device = device;
  attempt.entry = candidate.entry.index;
  attempt.target = target_text(candidate.entry.target);
  attempt.origin = Origin::entry;
  attempt.rule = attempt_rule(candidate.rule);
  attempt.reason = candidate.reason;
  return attempt;
}

AttemptOutcome try_binary(const LoadSession& session, BinaryToTry binary, ForLater for_later,
                          const Stopwatch& stopwatch) {
  const std::uint32_t device = binary.attempt.device;
  cache::AttemptPermit permit = session.cache.quarantine.begin(
      attempt_digest(session, binary), format::identity_digest(session.identities[device]));
  session.warn_of_cache(permit.warning);
  if (permit.verdict == cache::AttemptVerdict::quarantined) {
    binary.attempt.decision = Decision::not_attempted;
    binary.attempt.reason = "in quarantine: " + permit.reason;
    binary.attempt.microseconds = stopwatch.microseconds();
    session.record(std::move(binary.attempt));
    return {std::nullopt, AttemptOutcome::Refusal::by_quarantine};
  }
  permit.marker.hand_over();
  opencl::BuildOutcome built = build(session, binary);
  permit.marker.take_back();
  const bool recompiled = is_recompiled(built);
  const bool keep = for_later == ForLater::keep_bytes;
  const Origin origin = binary.attempt.origin;
  const std::uint32_t entry = binary.attempt.entry;
  if (!record_outcome(session, std::move(binary.attempt), built,
                      keep ? Decision::accepted : Decision::loaded, stopwatch)) {
    return {std::nullopt, AttemptOutcome::Refusal::by_driver};
  }
  return {ProvedEntry{std::move(built.program), keep ? std::move(binary.bytes) : base::Bytes(),
                      binary.payload, std::move(binary.options), std::move(binary.kernels), origin,
                      recompiled, entry},
          AttemptOutcome::Refusal::none};
}

void try_entries(const LoadSession& session, std::uint32_t device,
                 const std::vector<Candidate>& candidates, Turn turn, ForLater for_later,
                 EntryOutcome& outcome) {
  for (const Candidate& candidate : candidates) {
    if (candidate.turn != turn) {
      continue;
    }
    const Stopwatch stopwatch;
    const Attempt attempt = attempt_of(candidate, device);
    Result<BinaryToTry> binary = read_binary(session, candidate, attempt);
    if (!binary) {
      record_unreadable(session, attempt, binary.error(), stopwatch, outcome);
      if (session.budget.is_raw_spent()) {
        return;
      }
      continue;
    }
    AttemptOutcome tried = try_binary(session, *std::move(binary), for_later, stopwatch);
    if (tried.proved.has_value() && tried.proved->is_recompiled) {
      outcome.recompiled =
          outcome.recompiled.has_value() ? std::move(outcome.recompiled) : std::move(tried.proved);
      continue;
    }
    if (tried.proved.has_value()) {
      outcome.proved = std::move(tried.proved);
      outcome.exact = candidate.rule == Rule::exact_identity;
      return;
    }
    if (tried.refusal == AttemptOutcome::Refusal::by_driver) {
      ++outcome.refused;
    } else {
      ++outcome.quarantined;
      outcome.quarantine_reason = session.report.attempts.back().reason;
    }
  }
}

void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason, IlComes il_comes) {
  if (session.bundle == nullptr || session.request.detail == ReportDetail::attempts_only) {
    return;
  }
  const auto candidates =
      matching::explain_candidates(*session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    session.report.warnings.push_back(candidates.error().message);
    return;
  }
  std::unordered_set<std::uint32_t> attempted;
  for (const Attempt& attempt : session.report.attempts) {
    if (attempt.device == device) {
      attempted.insert(attempt.entry);
    }
  }
  for (const Candidate& candidate : *candidates) {
    if (attempted.contains(candidate.entry.index) ||
        (candidate.rule == Rule::il && il_comes == IlComes::yes)) {
      continue;
    }
    Attempt attempt = attempt_of(candidate, device);
    if (candidate.rule != Rule::not_compatible) {
      attempt.reason = fitting_reason;
    }
    if (!session.has_room_for(attempt)) {
      return;
    }
    session.record(std::move(attempt));
  }
}

} // namespace clbin::loader

#include "loader/ladder.hpp"

#include "loader/source_build.hpp"
#include "opencl/cl_error.hpp"

#include <algorithm>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;
using matching::Turn;

tl::unexpected<base::Error> entries_error(const LoadSession& session, std::uint32_t device,
                                          const EntryOutcome& outcome) {
  const std::string what =
      fmt::format("program '{}', variant '{}', for '{}'", session.group.program,
                  session.group.variant, session.report.devices[device]);
  if (outcome.refused > 0) {
    const auto& attempts = session.report.attempts;
    const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
      return attempt.device == device && attempt.origin == Origin::entry &&
             attempt.decision == Decision::refused;
    });
    return base::fail(ErrorCode::binary_refused,
                      "the driver refused {} of the bundle's entries for {}: {}: {}",
                      outcome.refused, what, last->stage, opencl::cl_error_name(last->cl_code));
  }
  if (outcome.quarantined > 0) {
    return base::fail(ErrorCode::binary_refused, "{} of the bundle's entries for {}: {}",
                      outcome.quarantined, what, outcome.quarantine_reason);
  }
  if (outcome.first_damage.has_value()) {
    return base::add_context(*outcome.first_damage, what);
  }
  return base::fail(ErrorCode::no_matching_entry, "no entry of {} fits", what);
}

std::string source_reason(const EntryOutcome& outcome) {
  if (outcome.refused > 0) {
    return "the driver refused every entry that fits";
  }
  if (outcome.quarantined > 0) {
    return "the entries that fit are in quarantine";
  }
  return outcome.first_damage.has_value() ? "no entry that fits could be read"
                                          : "no entry fits this device";
}

Result<opencl::Program> fall_back(const LoadSession& session, std::uint32_t device,
                                  const EntryOutcome& outcome, std::string reason) {
  if (session.request.fallback == FallbackPolicy::never) {
    return entries_error(session, device, outcome);
  }
  Result<opencl::Program> program = build_source(session, std::move(reason));
  if (program || program.error().code != ErrorCode::no_source) {
    return program;
  }
  const base::Error entries = entries_error(session, device, outcome).value();
  const bool none_fits = entries.code == ErrorCode::no_matching_entry;
  return base::fail(none_fits ? ErrorCode::no_source : entries.code,
                    "{}, and the bundle has no source of it", entries.message);
}

EntryOutcome climb(const LoadSession& session, std::uint32_t device, UserCacheRung& user_cache,
                   ForLater for_later) {
  EntryOutcome outcome;
  const auto candidates =
      matching::rank_candidates(session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    Attempt attempt;
    attempt.device = device;
    attempt.origin = Origin::entry;
    attempt.decision = Decision::unreadable;
    attempt.reason = candidates.error().message;
    session.record(std::move(attempt));
    outcome.first_damage = candidates.error();
  }
  const auto try_turn = [&](Turn turn) {
    if (candidates && !outcome.proved.has_value()) {
      try_entries(session, device, *candidates, turn, for_later, outcome);
    }
  };
  try_turn(Turn::before_user_cache);
  if (!outcome.proved.has_value() && session.request.fallback == FallbackPolicy::if_needed) {
    outcome.proved = user_cache.attempt(for_later);
  }
  try_turn(Turn::after_user_cache);
  return outcome;
}

void explain_outcome(const LoadSession& session, std::uint32_t device,
                     const EntryOutcome& outcome) {
  if (outcome.exact) {
    return;
  }
  const bool cached = outcome.proved.has_value() && outcome.proved->origin == Origin::user_cache;
  const bool il_comes = !outcome.proved.has_value() && !outcome.recompiled.has_value() &&
                        session.request.fallback == FallbackPolicy::if_needed &&
                        session.request.devices.size() == 1;
  explain_entries(session, device,
                  cached ? "fits, but the user cache has a program built for this device"
                         : "fits, but a better entry was loaded",
                  il_comes ? IlComes::yes : IlComes::no);
}

} // namespace clbin::loader

#include "loader/ladder.hpp"

#include "loader/il_rung.hpp"
#include "loader/source_build.hpp"
#include "opencl/driver.hpp"

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
                      "the driver rejected {} of the bundle's entries for {}: {}: {}",
                      outcome.refused, what, last->stage, opencl::cl_error_name(last->cl_code));
  }
  if (outcome.quarantined > 0) {
    return base::fail(ErrorCode::binary_refused, "{} of the bundle's entries for {}: {}",
                      outcome.quarantined, what, outcome.quarantine_reason);
  }
  if (outcome.first_damage.has_value()) {
    return base::add_context(*outcome.first_damage, what);
  }
  return base::fail(ErrorCode::no_matching_entry, "no entry of {} matches", what);
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
                    "{}, and the bundle does not contain its source", entries.message);
}

std::string Climb::why_no_binary() const {
  if (!m_why_no_entry.empty()) {
    return m_why_no_entry;
  }
  if (m_outcome.refused > 0) {
    return "the driver rejected every matching entry";
  }
  if (m_outcome.quarantined > 0) {
    return "the matching entries are in quarantine";
  }
  return m_outcome.first_damage.has_value() ? "no matching entry could be read"
                                            : "no entry matches this device";
}

void Climb::try_candidates(Turn turn) {
  if (!m_candidates.has_value()) {
    m_candidates = matching::rank_candidates(*m_session.bundle, m_session.group,
                                             m_session.identities[m_device]);
    if (!*m_candidates) {
      Attempt attempt;
      attempt.device = m_device;
      attempt.origin = Origin::entry;
      attempt.decision = Decision::unreadable;
      attempt.reason = m_candidates->error().message;
      m_session.record(std::move(attempt));
      m_outcome.first_damage = m_candidates->error();
    }
  }
  if (*m_candidates) {
    try_entries(m_session, m_device, **m_candidates, turn, m_for_later, m_outcome);
  }
}

// Uses the program that the driver has already built from the IR of an entry. No later rung is
// better.
void Climb::take_recompiled() {
  if (!m_outcome.recompiled.has_value()) {
    return;
  }
  m_outcome.proved = std::exchange(m_outcome.recompiled, std::nullopt);
  if (m_for_later == ForLater::keep_bytes) {
    return;
  }
  Attempt attempt;
  attempt.origin = Origin::il;
  attempt.rule = AttemptRule::recompiled;
  attempt.decision = Decision::loaded;
  attempt.reason = "no better entry loads than the binary that the driver recompiled";
  m_session.record(std::move(attempt));
  m_user_cache.keep(m_outcome.proved->program.get(), m_outcome.proved->options);
}

void Climb::build_il() {
  m_outcome.proved = try_il(m_session, m_device, m_outcome);
  if (m_outcome.proved.has_value()) {
    m_user_cache.keep(m_outcome.proved->program.get(), m_outcome.proved->options);
  }
}

void Climb::attempt(Rung rung) {
  switch (rung) {
  case Rung::own_entries:
  case Rung::compatible_entries:
    return try_candidates(*turn_of(rung));
  case Rung::user_cache:
    m_outcome.proved = m_user_cache.attempt(m_for_later);
    return;
  case Rung::build_of_others:
    // Nothing is stored to replace entries in quarantine, because it may be the same binary, which
    // would end the process twice more.
    if (m_outcome.quarantined == 0) {
      m_outcome.proved = m_user_cache.wait_for_turn(m_for_later);
    }
    return;
  case Rung::recompiled_entry:
    return take_recompiled();
  case Rung::il:
    return build_il();
  case Rung::source:
    return;
  }
}

void Climb::end_binaries(IlComes if_none_loads) {
  m_candidates.reset(); // a bundle can have many, for each device of the load
  if (m_outcome.exact || std::exchange(m_has_ended_binaries, true)) {
    return;
  }
  m_source_reason = why_no_binary();
  const auto& proved = m_outcome.proved;
  const bool is_cached = proved.has_value() && proved->origin == Origin::user_cache;
  std::string reason = "matches, but a better entry was loaded";
  if (!m_why_no_entry.empty()) {
    reason = "matches, but " + m_why_no_entry;
  } else if (is_cached) {
    reason = "matches, but the user cache contains a program built for this device";
  }
  const bool none_loads = !proved.has_value() && !m_outcome.recompiled.has_value();
  explain_entries(m_session, m_device, reason, none_loads ? if_none_loads : IlComes::no);
}

std::optional<ProvedEntry> Climb::up_to_source() {
  const std::vector<Rung> rungs = rungs_of(m_session.request);
  const IlComes il_comes =
      std::find(rungs.begin(), rungs.end(), Rung::il) != rungs.end() ? IlComes::yes : IlComes::no;
  const auto has_binaries = [](Rung rung) {
    return turn_of(rung).has_value() || rung == Rung::user_cache;
  };
  for (auto rung = rungs.begin(); rung != rungs.end(); ++rung) {
    if (std::none_of(rung, rungs.end(), has_binaries)) {
      end_binaries(il_comes);
    }
    if (*rung == Rung::source) {
      break;
    }
    attempt(*rung);
    if (m_outcome.proved.has_value()) {
      end_binaries(il_comes);
      return std::exchange(m_outcome.proved, std::nullopt);
    }
  }
  return std::nullopt;
}

} // namespace clbin::loader

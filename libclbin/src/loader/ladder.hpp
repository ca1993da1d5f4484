// Climbs the ladder for one device of a load, which may have others.
#pragma once

#include "loader/entry_attempts.hpp"
#include "loader/rungs.hpp"
#include "loader/user_cache_rung.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clbin::loader {

// Climbs the ladder for one device of a load, which must outlive this object.
class Climb {
public:
  // `why_no_entry`: why no entry can have what the load requests, as an unfinished sentence; empty
  // if the bundle has the variant.
  Climb(const LoadSession& session, std::uint32_t device, ForLater for_later,
        std::string why_no_entry)
      : m_session(session), m_device(device), m_for_later(for_later),
        m_why_no_entry(std::move(why_no_entry)), m_user_cache(session, device) {}

  // Tries the rungs of the request (rungs_of) that precede source, until one provides a program,
  // and records the entries that were not attempted. Passes what it builds to the user cache.
  // std::nullopt: only source is left. Call it once.
  [[nodiscard]] std::optional<ProvedEntry> up_to_source();

  // The following are complete after up_to_source().
  [[nodiscard]] const EntryOutcome& outcome() const noexcept { return m_outcome; }
  // Why source is built, as a sentence for the report.
  [[nodiscard]] const std::string& source_reason() const noexcept { return m_source_reason; }
  [[nodiscard]] UserCacheRung& user_cache() noexcept { return m_user_cache; }

private:
  // Sets `proved` of the outcome if the rung provides a program.
  void attempt(Rung rung);
  void try_candidates(matching::Turn turn);
  void take_recompiled();
  void build_il();
  // Call it when no binary is left to try. Records the entries that were not attempted, unless an
  // entry made for exactly this device was loaded. Does nothing the second time.
  void end_binaries(IlComes if_none_loads);
  [[nodiscard]] std::string why_no_binary() const;

  const LoadSession& m_session;
  std::uint32_t m_device;
  ForLater m_for_later;
  std::string m_why_no_entry;
  UserCacheRung m_user_cache;
  EntryOutcome m_outcome;
  std::optional<base::Result<std::vector<matching::Candidate>>> m_candidates; // ranked when needed
  bool m_has_ended_binaries = false;
  std::string m_source_reason;
};

// Returns the error of the entries, for a load that may not build source or has none.
[[nodiscard]] tl::unexpected<base::Error>
entries_error(const LoadSession& session, std::uint32_t device, const EntryOutcome& outcome);

// Builds source. If the bundle has none, or the policy is `never`, returns why the entries failed.
[[nodiscard]] base::Result<opencl::Program> fall_back(const LoadSession& session,
                                                      std::uint32_t device,
                                                      const EntryOutcome& outcome,
                                                      std::string reason);

} // namespace clbin::loader

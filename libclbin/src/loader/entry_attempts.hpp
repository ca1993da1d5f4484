// Passes the entries of a bundle to a driver, and records the attempts.
#pragma once

#include "loader/load_session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clbin::loader {

// A binary that the driver of its device accepted.
struct ProvedEntry {
  opencl::Program program;
  base::Bytes binary;   // empty unless ForLater::keep_bytes
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
  Origin origin = Origin::entry;
  bool is_recompiled = false;               // Decision::recompiled
  std::uint32_t entry = format::k_no_index; // Attempt::entry
};

enum class ForLater : std::uint8_t { program_only, keep_bytes };

// A binary to pass to a driver. `attempt` contains what is known of it so far.
struct BinaryToTry {
  enum class Language : std::uint8_t { device_binary, il } language = Language::device_binary;
  Attempt attempt;
  base::Bytes bytes;    // their digest was checked
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
};

// `proved` is std::nullopt if the driver rejected the binary or it is in quarantine; `refusal`
// states which. The attempt is recorded in every case.
struct AttemptOutcome {
  std::optional<ProvedEntry> proved;
  enum class Refusal : std::uint8_t { none, by_driver, by_quarantine } refusal = Refusal::none;
};
[[nodiscard]] AttemptOutcome try_binary(const LoadSession& session, BinaryToTry binary,
                                        ForLater for_later, const Stopwatch& stopwatch);

// The result of the entries for one device.
struct EntryOutcome {
  std::optional<ProvedEntry> proved;
  std::optional<ProvedEntry> recompiled;   // usable, but a better binary may load
  bool exact = false;                      // `proved` was made for exactly this identity
  std::optional<base::Error> first_damage; // of an entry that fits but cannot be read
  std::uint32_t refused = 0;               // by the driver
  std::uint32_t quarantined = 0;
  std::string quarantine_reason;
};

// Passes the candidates of one turn to the driver, best first, until it accepts one. The user cache
// is between the turns.
void try_entries(const LoadSession& session, std::uint32_t device,
                 const std::vector<matching::Candidate>& candidates, matching::Turn turn,
                 ForLater for_later, EntryOutcome& outcome);

// Records that an entry cannot be read, or may not be passed to the driver.
void record_unreadable(const LoadSession& session, Attempt attempt, const base::Error& error,
                       const Stopwatch& stopwatch, EntryOutcome& outcome);

// Records the remaining entries of a device as not attempted, each with its verdict.
// `fitting_reason` is the reason for entries that would have been attempted. Skips IL if its rung
// is still to come.
enum class IlComes : std::uint8_t { no, yes };
void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason, IlComes il_comes);

// Returns what is known of an attempt before it is made.
[[nodiscard]] Attempt attempt_of(const matching::Candidate& candidate, std::uint32_t device);

} // namespace clbin::loader

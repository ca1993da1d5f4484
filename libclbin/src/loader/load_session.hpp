// The state of one load, which the rungs of the ladder share.
#pragma once

#include "loader/load_program.hpp"
#include "loader/recorded_options.hpp"

#include <chrono>
#include <map>
#include <optional>

namespace clbin::loader {

class Stopwatch {
public:
  [[nodiscard]] std::uint64_t microseconds() const {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::steady_clock::now() - m_start)
                                          .count());
  }

private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

// An IL entry that a device supports.
struct IlModule {
  matching::Candidate candidate;
  base::Result<base::Digest> content; // of the bytes, whose stored digest was checked
  base::Digest payload;               // payload_digest()
  base::Bytes bytes;                  // of the first readable module, otherwise empty
};

// Borrows everything. Exists only during load_program, on one thread.
struct LoadSession {
  const opencl::Driver& driver;
  const format::BundleReader& bundle;
  ProgramCache& cache;
  cl_context context;
  const LoadRequest& request;
  LoadReport& report;
  format::GroupView group;
  std::vector<format::DeviceIdentity> identities; // one per device of the request
  mutable std::optional<base::Result<format::SourcePackage>> read_source{}; // set by source()
  mutable std::map<std::uint32_t, std::vector<IlModule>> read_il{};         // set by il_modules()
  mutable bool has_cache_warning = false;
  mutable bool is_report_full = false;
  mutable format::ReadBudget budget = bundle.budget(); // for the whole load
  mutable OptionsChecker options_checker{};
  // Memory for the report, in addition to the budget, so that a large report never prevents the use
  // of source.
  mutable std::uint64_t report_bytes_left = budget.memory_limit() / 4;

  void record(Attempt attempt) const;
  // Returns whether the report has room for an entry that was not attempted. Adds a warning the
  // first time that it has none.
  [[nodiscard]] bool has_room_for(const Attempt& attempt) const;

  // Adds a warning about the caches to the report. Ignores further ones, because a problem usually
  // recurs.
  void warn_of_cache(const std::string& warning) const;
  // Returns the source; the first call reads it. no_source, and the errors of the reader.
  [[nodiscard]] const base::Result<format::SourcePackage>& source() const;
  // Returns the modules that the device supports, best first; the first call for a device reads
  // them. Empty if run-time options require source, whose preprocessor they are for.
  [[nodiscard]] const std::vector<IlModule>& il_modules(std::uint32_t device) const;
  // Returns the options for building source: those of the variant, then those of the request.
  [[nodiscard]] std::string source_options() const;
};

// A binary that the driver of its device accepted.
struct ProvedEntry {
  opencl::Program program;
  base::Bytes binary;   // empty unless ForLater::keep_bytes
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
  Origin origin = Origin::entry;
  bool is_recompiled = false; // Decision::recompiled
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

// Passes the candidates of one rule to the driver, best first, until it accepts one. Exact and
// compatible entries are separate rungs of the ladder, with the user cache between them.
void try_entries(const LoadSession& session, std::uint32_t device,
                 const std::vector<matching::Candidate>& candidates, matching::Rule rule,
                 ForLater for_later, EntryOutcome& outcome);

// Rung 4: passes the IL that the device supports to the driver, best first, until it accepts a
// module.
[[nodiscard]] std::optional<ProvedEntry> try_il(const LoadSession& session, std::uint32_t device,
                                                EntryOutcome& outcome);

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

// The last rung: builds the source of the group for all devices of the request. `reason` states why
// source is built. no_source, build_failed, opencl_call, the errors of the reader; unsafe_options:
// see recorded_options.hpp.
[[nodiscard]] base::Result<opencl::Program> build_source(const LoadSession& session,
                                                         std::string reason);

} // namespace clbin::loader

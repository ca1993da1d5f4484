// One load on its way: what the steps of the ladder share.
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

// An entry of an intermediate language that a device takes.
struct IlModule {
  matching::Candidate candidate;
  base::Result<base::Digest> content; // of the bytes themselves, whose stored digest was checked
  base::Digest payload;               // payload_digest()
  base::Bytes bytes;                  // of the first module that can be read, else empty
};

// Borrows everything; lives within load_program, on one thread.
struct LoadSession {
  const opencl::Driver& driver;
  const format::BundleReader& bundle;
  ProgramCache& cache;
  cl_context context;
  const LoadRequest& request;
  LoadReport& report;
  format::GroupView group;
  std::vector<format::DeviceIdentity> identities; // one a device of the request
  mutable std::optional<base::Result<format::SourcePackage>> read_source{}; // by source()
  mutable std::map<std::uint32_t, std::vector<IlModule>> read_il{};         // by il_modules()
  mutable bool has_cache_warning = false;
  mutable bool is_report_full = false;
  mutable format::ReadBudget budget = bundle.budget(); // of the whole load
  mutable OptionsChecker options_checker{};
  // Of memory for the report, besides the budget: a report must not cost the load its source.
  mutable std::uint64_t report_bytes_left = budget.memory_limit() / 4;

  void record(Attempt attempt) const;
  // Whether the report has room for an entry that was not attempted; the first without a place
  // leaves a warning.
  [[nodiscard]] bool has_room_for(const Attempt& attempt) const;

  // One warning about caches a report is enough: what goes wrong once goes wrong again.
  void warn_of_cache(const std::string& warning) const;
  // Read when first asked for. no_source, and the reader's errors.
  [[nodiscard]] const base::Result<format::SourcePackage>& source() const;
  // Those that the device takes, best first; none where source must serve, since options of run
  // time are for its preprocessor. Read when first asked for.
  [[nodiscard]] const std::vector<IlModule>& il_modules(std::uint32_t device) const;
  // Those that source is built with: the variant's, then the request's.
  [[nodiscard]] std::string source_options() const;
};

// A binary that its device's driver accepted.
struct ProvedEntry {
  opencl::Program program;
  base::Bytes binary;   // only where ForLater::keep_bytes asks
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
  Origin origin = Origin::entry;
  bool is_recompiled = false; // Decision::recompiled
};

enum class ForLater : std::uint8_t { program_only, keep_bytes };

// A binary on its way to a driver. `attempt` tells what is known of it so far.
struct BinaryToTry {
  enum class Language : std::uint8_t { device_binary, il } language = Language::device_binary;
  Attempt attempt;
  base::Bytes bytes;    // their digest was checked
  base::Digest payload; // payload_digest()
  std::string options;
  std::vector<std::string> kernels;
};

// Nothing where the driver refused it or quarantine holds it; `refusal` then tells which. Recorded
// either way.
struct AttemptOutcome {
  std::optional<ProvedEntry> proved;
  enum class Refusal : std::uint8_t { none, by_driver, by_quarantine } refusal = Refusal::none;
};
[[nodiscard]] AttemptOutcome try_binary(const LoadSession& session, BinaryToTry binary,
                                        ForLater for_later, const Stopwatch& stopwatch);

// What the entries gave for one device.
struct EntryOutcome {
  std::optional<ProvedEntry> proved;
  std::optional<ProvedEntry> recompiled;   // works, but something better may load
  bool exact = false;                      // `proved` was made for this very identity
  std::optional<base::Error> first_damage; // an entry that fits could not be read
  std::uint32_t refused = 0;               // by the driver
  std::uint32_t quarantined = 0;
  std::string quarantine_reason;
};

// Hands the candidates of one rule to the driver, best first, until one is accepted. Exact entries
// and compatible ones are two rungs of the ladder, and the user cache is between them.
void try_entries(const LoadSession& session, std::uint32_t device,
                 const std::vector<matching::Candidate>& candidates, matching::Rule rule,
                 ForLater for_later, EntryOutcome& outcome);

// Rung 4: hands the IL that the device takes to the driver, best first, until one is accepted.
[[nodiscard]] std::optional<ProvedEntry> try_il(const LoadSession& session, std::uint32_t device,
                                                EntryOutcome& outcome);

// Records that an entry could not be read, or may not be handed over.
void record_unreadable(const LoadSession& session, Attempt attempt, const base::Error& error,
                       const Stopwatch& stopwatch, EntryOutcome& outcome);

// Records, as not attempted, the entries that a device's candidates left over, each with its
// verdict; `fitting_reason` stands for those that would have been attempted. IL that is still to be
// attempted is left to its own rung.
enum class IlComes : std::uint8_t { no, yes };
void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason, IlComes il_comes);

// What is known of an attempt before it is made.
[[nodiscard]] Attempt attempt_of(const matching::Candidate& candidate, std::uint32_t device);

// The last rung: builds the group's source for all devices of the request. `reason` says why it
// came to that. no_source, build_failed, opencl_call, and the reader's errors.
[[nodiscard]] base::Result<opencl::Program> build_source(const LoadSession& session,
                                                         std::string reason);

} // namespace clbin::loader

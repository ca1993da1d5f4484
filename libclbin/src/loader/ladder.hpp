// The ladder: what a load tries for each device, in which order (libclbin(3), "Loading"). It serves
// loads of bundles, and builds of text known only at run time; `oclcc --explain` follows it.
#pragma once

#include "loader/load_session.hpp"

namespace clbin::loader {

enum class Step : std::uint8_t {
  own_entries,        // entries that are tried before the user cache
  user_cache,         // what an earlier load built
  compatible_entries, // the other entries that fit
  build_of_others,    // what another process has built since the user cache was searched
  recompiled_entry,   // an entry whose IR the driver has built (Decision::recompiled)
  il,
  source,
};

// What a load is for: the group of a bundle, or text of run time. The caller builds the latter.
enum class Subject : std::uint8_t { group, text };

// Returns the steps that a load tries for each device, until one provides a program. Pure.
[[nodiscard]] std::vector<Step> steps_of(const LoadRequest& request,
                                         Subject subject = Subject::group);
// Returns which candidates the step tries; std::nullopt: no entries.
[[nodiscard]] std::optional<matching::Turn> turn_of(Step step) noexcept;
// Returns the origin that a report states for a program of this step.
[[nodiscard]] Origin origin_of(Step step) noexcept;

// What serves one load. Borrows everything.
struct Supply {
  const LoadSession& session; // of the user cache, and of what is built
  // The groups whose entries and IL serve: `session` itself and the same variant in packs, in one
  // order, or for a text those that bundles contain of it, one bundle after the other.
  std::vector<const LoadSession*> groups;
  std::vector<Step> steps;
  // Why no entry can have what the load requests, as an unfinished sentence; empty if one can.
  std::string why_no_entry;
  std::vector<std::vector<PackSet::Pack>> unusable_packs{}; // by device; empty if there are none
};

enum class StoredEntry : std::uint8_t { stays, is_replaced };

// The step that loads programs which earlier loads built, for one device of a load.
class UserCacheStep {
public:
  UserCacheStep(const LoadSession& session, std::uint32_t device)
      : m_session(session), m_device(device) {}

  // Passes the cached binary to the driver. Removes an entry that the driver rejects.
  [[nodiscard]] std::optional<Accepted> attempt();
  // Call it after attempt() and before a build. If another process builds the same program, waits
  // for it, up to the limit of the settings, and loads what it stored. std::nullopt: build.
  [[nodiscard]] std::optional<Accepted> wait_for_turn();
  // Use it instead of attempt() for one of several devices that was not looked up. The binary of
  // the program that is built for all devices is then stored for this one, too, unless the cache
  // contains it or another process builds it. Does not block.
  void claim_if_free(StoredEntry stored = StoredEntry::stays);
  // Passes the binary of a program that was built with `options` to the store queue, if
  // wait_for_turn or claim_if_free was called before the build. Queries the binary on the caller's
  // thread: Oclgrind crashes in threads that it did not create, and a driver that is unloaded at
  // the end of the process must not be called. Stores nothing if the query is expensive. If
  // `details` has no kernels, only their names are stored.
  void keep(cl_program program, const std::string& options, ProgramDetails details = {});
  [[nodiscard]] bool can_keep() const noexcept {
    return m_recipe.has_value() && m_claim.has_value();
  }

private:
  enum class Misses : std::uint8_t { recorded, ignored };
  // Whether PoCL's own cache serves the device alone: the user cache stores nothing for it, but may
  // contain what `oclcc --warm` has stored.
  [[nodiscard]] bool is_left_to_pocl() const;
  // As a sentence for the report; empty if the user cache is used.
  [[nodiscard]] std::string why_not_used() const;
  void plan();
  // Returns whether another key was planned.
  [[nodiscard]] bool replan();
  [[nodiscard]] cache::LookUp read(cache::AbsentEntry absent) const;
  [[nodiscard]] cache::LookUp read_confirmed();
  [[nodiscard]] std::optional<Accepted> look_up(const std::string& on_hit, Misses misses);
  [[nodiscard]] std::optional<Accepted> try_hit(cache::CacheHit hit, const std::string& on_hit,
                                                const Stopwatch& stopwatch);
  [[nodiscard]] std::string explain_miss(const std::string& reason);
  void add_lines();
  void record_miss(std::string reason, const Stopwatch& stopwatch) const;
  // Returns the binary that is worth keeping. Errors: those of opencl::program_binary.
  [[nodiscard]] base::Result<base::Bytes> binary_of(cl_program program) const;

  const LoadSession& m_session;
  std::uint32_t m_device;
  std::optional<cache::Recipe> m_recipe; // std::nullopt: the cache is not used; see m_why_not
  std::string m_why_not;
  base::Digest m_key;
  std::optional<cache::BuildClaim> m_claim;
};

enum class IlComes : std::uint8_t { no, yes };

// The ladder of one device. The supply must outlive it.
class Ladder {
public:
  Ladder(const Supply& supply, std::uint32_t device)
      : m_supply(supply), m_device(device), m_user_cache(supply.session, device) {}

  // Call it once, before the following. Tries the steps that precede source, until one provides a
  // program, and records the entries that were not attempted. Passes what it builds to the user
  // cache. std::nullopt: only source is left.
  [[nodiscard]] std::optional<Accepted> find_binary();
  // Returns why no step provided a program, for a load that may not build source or has none.
  [[nodiscard]] tl::unexpected<base::Error> error() const;
  // Why source is built, as a sentence for the report.
  [[nodiscard]] const std::string& source_reason() const noexcept { return m_source_reason; }
  [[nodiscard]] UserCacheStep& user_cache() noexcept { return m_user_cache; }

private:
  void attempt(Step step);
  void rank_entries();
  void try_entries(matching::Turn turn);
  void try_entry(const matching::Candidate& candidate);
  [[nodiscard]] std::span<const PackSet::Pack> unusable_packs() const;
  void take_recompiled();
  void build_il();
  void build_il_for_text();
  void try_il();
  void note_refusal(const LoadSession& session, Refusal refusal);
  // Records that an entry cannot be read, or may not be passed to the driver.
  void record_unreadable(const LoadSession& session, Attempt attempt, const base::Error& error,
                         const Stopwatch& stopwatch);
  // Call it when no binary is left to try. Records the entries that were not attempted, unless an
  // entry made for exactly this device was loaded. Does nothing the second time.
  void end_entries(IlComes il_comes);
  [[nodiscard]] std::string why_no_binary() const;
  [[nodiscard]] std::string why_not_attempted() const;

  const Supply& m_supply;
  std::uint32_t m_device;
  UserCacheStep m_user_cache;
  std::optional<std::vector<matching::Candidate>> m_candidates; // `bundle`: index in the groups
  std::optional<Accepted> m_accepted;
  std::optional<Accepted> m_recompiled;      // usable, but a better binary may load
  bool m_is_exact = false;                   // m_accepted was made for exactly this device
  std::optional<base::Error> m_first_damage; // of an entry that fits but cannot be read
  std::uint32_t m_refused = 0;               // by the driver
  std::uint32_t m_wrong = 0;                 // accepted, but they compute something wrong
  std::string m_wrong_reason;
  std::uint32_t m_quarantined = 0;
  std::string m_quarantine_reason;
  bool m_may_store = true; // what is built, in the user cache
  bool m_has_ended_entries = false;
  std::string m_source_reason;
};

// Returns a binary of each ladder, one a device, up to the first ladder that has none: then the
// caller builds for all devices, and the ladders from there on may store what it builds.
[[nodiscard]] std::vector<Accepted> find_binaries(const Supply& supply,
                                                  std::vector<Ladder>& ladders);

// Records the remaining entries of a device as not attempted, each with its verdict, or with
// `fitting_reason` if it fits. Leaves out IL if its step is still to come.
void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason, IlComes il_comes);

} // namespace clbin::loader

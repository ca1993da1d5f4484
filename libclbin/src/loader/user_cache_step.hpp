// The step of the ladder that loads programs which earlier loads built, for one device of a load.
#pragma once

#include "loader/load_session.hpp"

namespace clbin::loader {

enum class StoredEntry : std::uint8_t { stays, is_replaced };

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

  const LoadSession& m_session;
  std::uint32_t m_device;
  std::optional<cache::Recipe> m_recipe; // std::nullopt: the cache is not used; see m_why_not
  std::string m_why_not;
  base::Digest m_key;
  std::optional<cache::BuildClaim> m_claim;
};

} // namespace clbin::loader

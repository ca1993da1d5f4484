// Rung 2 of the ladder for one device of a load: programs that earlier loads built.
#pragma once

#include "loader/entry_attempts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbin::loader {

// What a build reported, for those who load its binary later.
struct BuildDetails {
  std::string log;
  std::vector<format::KernelReflection> kernels; // empty: only their names are stored
};

enum class StoredEntry : std::uint8_t { stays, is_replaced };

class UserCacheRung {
public:
  // Does not read anything yet.
  UserCacheRung(const LoadSession& session, std::uint32_t device)
      : m_session(session), m_device(device) {}

  // Looks the program up and passes the cached binary to the driver. Removes an entry that the
  // driver rejects.
  [[nodiscard]] std::optional<ProvedEntry> attempt(ForLater for_later);
  // Call it after attempt() and before a build. If another process builds the same program, waits
  // for it, up to the limit of the settings, and loads what it stored. std::nullopt: build.
  [[nodiscard]] std::optional<ProvedEntry> wait_for_turn(ForLater for_later);
  // Use it instead of attempt() for one of several devices that was not looked up. The binary of
  // the program that is built for all devices is then stored for this one, too, unless the cache
  // contains it or another process builds it. Does not block.
  void claim_if_free(StoredEntry stored = StoredEntry::stays);
  // Passes the binary of a program that was built with `options` to the store queue. Stores nothing
  // unless wait_for_turn or claim_if_free was called before the build. Queries the binary on the
  // caller's thread: libclbin calls drivers only from the application's threads, because Oclgrind
  // crashes in threads that it did not create, and a driver that is unloaded at the end of the
  // process must not be called. Stores nothing if the query is expensive.
  void keep(cl_program program, const std::string& options, BuildDetails details = {});
  // Returns whether keep() can store anything.
  [[nodiscard]] bool can_keep() const noexcept {
    return m_recipe.has_value() && m_claim.has_value();
  }
  // Returns the entry that attempt() or wait_for_turn() loaded, without its payload.
  [[nodiscard]] std::optional<cache::CacheHit> take_loaded() { return std::move(m_loaded); }

private:
  enum class Tell : std::uint8_t { misses, hits_only };
  void plan();
  // Returns whether another key was planned.
  [[nodiscard]] bool replan();
  [[nodiscard]] cache::LookUp read(cache::AbsentEntry absent) const;
  [[nodiscard]] cache::LookUp read_confirmed();
  [[nodiscard]] std::optional<ProvedEntry> look_up(ForLater for_later, const std::string& on_hit,
                                                   Tell tell);
  [[nodiscard]] std::optional<ProvedEntry> try_hit(cache::CacheHit hit, ForLater for_later,
                                                   const std::string& on_hit,
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
  std::optional<cache::CacheHit> m_loaded;
};

} // namespace clbin::loader

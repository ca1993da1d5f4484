// Rung 2 of the ladder, for one device of a load: what earlier loads built.
#pragma once

#include "loader/load_session.hpp"

#include <optional>
#include <string>

namespace clbin::loader {

class UserCacheRung {
public:
  // Reads nothing yet.
  UserCacheRung(const LoadSession& session, std::uint32_t device)
      : m_session(session), m_device(device) {}

  // Looks the program up and hands what is there to the driver. An entry that the driver refuses is
  // removed.
  [[nodiscard]] std::optional<ProvedEntry> attempt(ForLater for_later);
  // Before a build, after attempt(): where another process builds the same, waits for it, and takes
  // what it stored. Nothing: build.
  [[nodiscard]] std::optional<ProvedEntry> wait_for_turn(ForLater for_later);
  // Without attempt(), for a device of several whose turn never came: what is built for all is kept
  // for this one too, where it is not there yet and nobody else builds it. Waits for nobody.
  void claim_if_free();
  // Hands the binary of a program that was built after wait_for_turn or claim_if_free (without
  // them nothing is kept) to the queue of stores; `options` are those it was built with. The driver
  // is asked for it here, on the caller's thread: no call to a driver comes from a thread that the
  // application does not know of (Oclgrind crashes under bare threads, and a driver that is
  // unloaded at the end of the process meets no call). Where that is dear nothing is kept.
  void keep(const opencl::Program& program, const std::string& options);

private:
  enum class Tell : std::uint8_t { misses, hits_only };
  void plan();
  [[nodiscard]] std::optional<ProvedEntry> look_up(ForLater for_later, const std::string& on_hit,
                                                   Tell tell);
  [[nodiscard]] std::optional<ProvedEntry> try_hit(cache::CacheHit hit, ForLater for_later,
                                                   const std::string& on_hit,
                                                   const Stopwatch& stopwatch);
  [[nodiscard]] std::string explain_miss(const std::string& reason) const;
  void record_miss(std::string reason, const Stopwatch& stopwatch) const;

  const LoadSession& m_session;
  std::uint32_t m_device;
  std::optional<cache::Recipe> m_recipe; // nothing: the cache is not used, m_why_not says why
  std::string m_why_not;
  base::Digest m_key;
  std::optional<cache::BuildClaim> m_claim;
};

} // namespace clbin::loader

// A compile cache on a server that several machines share.
//
// Without public keys, whoever can write to the server chooses the binaries of whoever reads them.
// With public keys, an entry counts only if one of them has signed it, and the signature covers its
// key: a signed entry of another unit is refused.
#pragma once

#include "remote/storage_client.hpp"
#include "units/compile_cache.hpp"

#include <condition_variable>
#include <thread>

namespace oclcc::remote {

enum class RequestEnd : std::uint8_t { hit, no_hit };

// Returns how long a look-up may take without using up the budget. A hit saves a build: 200 ms, and
// 1 ms for each KiB of the entry, are less than most builds take. A miss saves nothing: 50 ms.
[[nodiscard]] Clock::duration free_time(RequestEnd end, std::size_t size_bytes);

// Wall time, from begin() to end(), during which requests are made over several connections at
// once, less its free parts: each counts as one connection's share. So this phase takes at most the
// budget and the free parts together, whatever a server does, if each request ends within left().
// Unused free time is not kept for later. Thread-safe.
class TimeBudget {
public:
  explicit TimeBudget(std::chrono::milliseconds total,
                      std::function<Clock::time_point()> now = Clock::now)
      : m_now(std::move(now)), m_total(total) {}

  [[nodiscard]] Clock::time_point now() const { return m_now(); }
  // Returns what is left; never negative.
  [[nodiscard]] std::chrono::milliseconds left() const {
    const std::lock_guard lock(m_mutex);
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::max(Clock::duration::zero(), m_total - used()));
  }
  // Whether another look-up may begin: less than a half is used. So each has at least a half of the
  // budget until its deadline. Only a server that does not answer for so long is faulty.
  [[nodiscard]] bool allows_look_up() const {
    const std::lock_guard lock(m_mutex);
    return used() < m_total / 2;
  }

  // Begins a phase of requests over `at_once` connections; at least 1.
  void begin(std::size_t at_once) {
    const std::lock_guard lock(m_mutex);
    m_begin = m_now() - used();
    m_at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, at_once));
  }
  void end() {
    const std::lock_guard lock(m_mutex);
    m_used = used();
    m_begin.reset();
  }
  // `time` of one connection in this phase is free: of a look-up, or between two of them.
  void grant(Clock::duration time) {
    const std::lock_guard lock(m_mutex);
    if (m_begin) {
      m_begin = std::max(*m_begin, std::min(m_now(), *m_begin + time / m_at_once));
    }
  }
  // Uses up everything.
  void exhaust() {
    const std::lock_guard lock(m_mutex);
    m_total = Clock::duration::zero();
  }

private:
  [[nodiscard]] Clock::duration used() const { // the caller holds m_mutex
    return m_begin ? std::max(Clock::duration::zero(), m_now() - *m_begin) : m_used;
  }

  std::function<Clock::time_point()> m_now;
  mutable std::mutex m_mutex; // of what follows
  Clock::duration m_total;
  Clock::duration m_used{};                 // before this phase
  std::optional<Clock::time_point> m_begin; // of this phase, moved by all that is not used up
  std::int64_t m_at_once = 1;
};

// What decides which entries count, and how those of this machine are signed.
struct RemoteTrust {
  std::optional<format::SignaturePolicy> required; // std::nullopt: every entry counts
  std::shared_ptr<const base::SecretKey> signer;   // null: entries are not signed
};

using ConnectStorage =
    std::function<Result<StorageClient>(Clock::time_point deadline, const WakeUp& wake_up)>;

// Never fails: a warning reports errors, and units are built. A failed request, or an entry that
// does not count, turns the cache off for the rest of the run, and drops what is not stored yet.
// Look-ups that use up a half of the time budget end without a warning: the server is merely slow,
// and results are stored, which delays no build. Thread-safe, except for fetch().
class RemoteCache {
public:
  // `connect` and `now` are called on several threads at once. `now` is the clock of the time
  // budget.
  RemoteCache(RemoteMode mode, std::chrono::milliseconds timeout, RemoteTrust trust,
              ConnectStorage connect, std::function<Clock::time_point()> now = Clock::now);
  // Ends waits at once, and drops what is not stored yet.
  ~RemoteCache();

  // Looks up units, several at once, checks their entries completely, and passes an answer for each
  // to `on_answer`: in any order, on any threads, but one after the other. Blocks until all are
  // answered.
  void fetch(const std::vector<const CacheUnit*>& units,
             const std::function<void(std::size_t unit, CacheAnswer answer)>& on_answer);
  // Stores the result of a build later, on another thread. Does not block.
  void offer(const CacheUnit& unit, format::EntryInput entry);
  // Waits for what is still to be stored, as long as the settings allow. Call it once, at the end.
  void finish() { end(m_budget.left()); }
  // Returns the only warning, once; otherwise an empty string.
  [[nodiscard]] std::string take_warning();

private:
  struct Offer {
    base::Digest key;
    std::string program;
    format::EntryInput entry;
  };
  class Requests;

  // Drops what is not stored after `patience`, and ends all threads.
  void end(std::chrono::milliseconds patience);
  [[nodiscard]] bool is_off() const noexcept { return m_is_off.load(); }
  // Only the first call has an effect. `advice` ends the warning.
  void turn_off(const std::string& reason, const std::string& advice = {});
  // Turns the cache off.
  [[nodiscard]] CacheAnswer failed_look_up(const std::string& reason);
  [[nodiscard]] CacheAnswer fetch_one(const CacheUnit& unit, Requests& requests);
  [[nodiscard]] Result<clbin::cache::CacheHit> read_entry(const CacheUnit& unit,
                                                          base::Bytes bytes) const;
  [[nodiscard]] Result<base::Bytes> write_entry(Offer offer) const;
  void store_offers();
  void store(Offer offer, Requests& requests);
  [[nodiscard]] std::optional<Offer> next_offer();

  RemoteMode m_mode;
  std::chrono::milliseconds m_timeout; // of storing; that of look-ups is m_budget
  RemoteTrust m_trust;
  ConnectStorage m_connect;
  TimeBudget m_budget;
  WakeUp m_wake_up;
  std::atomic<bool> m_is_off = false;

  std::mutex m_mutex; // of what follows
  std::condition_variable m_changed;
  std::string m_warning;
  std::deque<Offer> m_offers;
  std::uint64_t m_offered_bytes = 0; // of the binaries that are not stored yet
  std::size_t m_storing = 0;         // offers that threads have taken
  bool m_is_closed = false;          // no further offers
  std::vector<std::jthread> m_threads;
};

// Opens the cache of `settings`, which must be on, over the helper beside this program. Starts no
// process. Errors: those of storage_folder; file_not_found, if there is no
// helper.
[[nodiscard]] Result<std::unique_ptr<RemoteCache>>
open_remote_cache(const RemoteSettings& settings, RemoteTrust trust,
                  const clbin::cache::ProcessEnvironment& environment);

} // namespace oclcc::remote

// A compile cache on a server that several machines share.
//
// Without public keys, whoever can write to the server chooses the binaries of whoever reads them.
// With public keys, an entry counts only if one of them has signed it, and the signature covers its
// key: a signed entry of another unit is refused.
#pragma once

#include "cache/remote_store.hpp"
#include "format/bundle/signatures.hpp"
#include "remote/remote_settings.hpp"
#include "remote/storage_client.hpp"
#include "remote/time_budget.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace oclcc::remote {

// What decides which entries count, and how those of this machine are signed.
struct RemoteTrust {
  std::optional<clbin::format::SignaturePolicy> required; // std::nullopt: every entry counts
  std::shared_ptr<const clbin::base::SecretKey> signer;   // null: entries are not signed
};

// Reads the keys of `settings`. Errors: those of read_public_keys and read_open_secret_key.
[[nodiscard]] clbin::base::Result<RemoteTrust> read_remote_trust(const RemoteSettings& settings);

using ConnectStorage = std::function<clbin::base::Result<StorageClient>(Clock::time_point deadline,
                                                                        const WakeUp& wake_up)>;

// A failed request, or an entry that does not count, turns the cache off for the rest of the run,
// with one warning, and drops what is not stored yet. Look-ups that use up a half of the time
// budget end without a warning: the server is merely slow, and results are stored, which delays no
// build.
class RemoteCache final : public RemoteStore {
public:
  // `connect` and `now` are called on several threads at once. `now` is the clock of the time
  // budget.
  RemoteCache(RemoteMode mode, std::chrono::milliseconds timeout, RemoteTrust trust,
              ConnectStorage connect, std::function<Clock::time_point()> now = Clock::now);
  // Ends waits at once, and drops what is not stored yet.
  ~RemoteCache() override;

  void fetch(const std::vector<const CacheUnit*>& units, const OnAnswer& on_answer) override;
  void offer(const CacheUnit& unit, clbin::format::EntryInput entry) override;
  void finish() override;
  [[nodiscard]] std::string take_warning() override;

private:
  struct Offer {
    clbin::base::Digest key;
    std::string program;
    clbin::format::EntryInput entry;
  };
  class Requests;

  [[nodiscard]] bool is_off() const noexcept { return m_is_off.load(); }
  // Only the first call has an effect. `advice` ends the warning.
  void turn_off(const std::string& reason, const std::string& advice = {});
  // Survives lack of memory, which a server can cause.
  [[nodiscard]] RemoteAnswer fetch_safely(const CacheUnit& unit, Requests& requests);
  [[nodiscard]] RemoteAnswer fetch_one(const CacheUnit& unit, Requests& requests);
  [[nodiscard]] clbin::base::Result<clbin::cache::CacheHit>
  read_entry(const CacheUnit& unit, clbin::base::Bytes bytes) const;
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes> write_entry(Offer offer) const;
  void store_offers();
  void store_safely(Offer offer, Requests& requests);
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
  std::vector<std::thread> m_threads;
};

// Opens the cache of `settings`, which must be on, over the helper beside this program. Starts no
// process. Errors: those of read_remote_trust and storage_folder; file_not_found, if there is no
// helper.
[[nodiscard]] clbin::base::Result<std::unique_ptr<RemoteStore>>
open_remote_cache(const RemoteSettings& settings,
                  const clbin::cache::ProcessEnvironment& environment);

} // namespace oclcc::remote

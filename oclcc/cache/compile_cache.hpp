// The compile cache of units and finished bundles, and the interface of the remote cache behind it.
#pragma once

#include "cache/keyed_store.hpp"
#include "cache/recipes.hpp"
#include "cache/sealed_files.hpp"

namespace oclcc {

struct CacheUnit {
  clbin::cache::Recipe recipe;
  base::Digest key;    // recipe_key(recipe)
  std::string program; // its name; like the options, for users who inspect the entry
  std::string options;
  format::Target target;
  // The key that other machines compute, too; std::nullopt if the unit is not shared with them.
  std::optional<base::Digest> remote_key{};
};

struct RemoteAnswer {
  std::optional<clbin::cache::CacheHit> hit; // checked completely
  std::string note;                          // for -v: "hit", "miss", "off: …"
};

// Never fails: a warning reports errors, and units are built. Thread-safe, except for fetch().
class RemoteStore {
public:
  RemoteStore() = default;
  virtual ~RemoteStore() = default;
  RemoteStore(const RemoteStore&) = delete;
  RemoteStore& operator=(const RemoteStore&) = delete;
  RemoteStore(RemoteStore&&) = delete;
  RemoteStore& operator=(RemoteStore&&) = delete;

  using OnAnswer = std::function<void(std::size_t unit, RemoteAnswer answer)>;
  // Looks up units, several at once, and passes an answer for each to `on_answer`: in any order, on
  // any threads, but one after the other. Blocks until all are answered.
  virtual void fetch(const std::vector<const CacheUnit*>& units, const OnAnswer& on_answer) = 0;
  // Stores the result of a build later, on another thread. Does not block.
  virtual void offer(const CacheUnit& unit, format::EntryInput entry) = 0;
  // Waits for what is still to be stored, as long as the settings allow. Call it once, at the end.
  virtual void finish() = 0;
  // Returns the only warning, once; otherwise an empty string.
  [[nodiscard]] virtual std::string take_warning() = 0;
};

struct CacheAnswer {
  std::optional<UnitResult> result; // the result of the build if it is a hit
  std::string note;                 // for -v: "hit", "miss: header 'tile.h' changed"
};

// The cache of one run, and the remote cache behind it. Never fails: take_warning() reports errors,
// and the unit is built. Thread-safe, except for look_up_remotely().
class CompileCache {
public:
  // `executable` is the same as for bundle_key. `remote` may be null. It is used even if the cache
  // of this machine is off or unusable.
  CompileCache(clbin::cache::CacheSettings settings, std::string executable,
               std::unique_ptr<RemoteStore> remote = nullptr);

  [[nodiscard]] bool is_on() const noexcept { return m_cache.is_on(); }
  [[nodiscard]] bool has_remote() const noexcept { return m_remote != nullptr; }
  // Returns the reason why the cache is off, for messages.
  [[nodiscard]] const std::string& why_off() const noexcept { return m_cache.settings().why_off; }

  // Whether a look-up probably hits.
  [[nodiscard]] bool contains(const CacheUnit& unit) const { return m_cache.contains(unit.key); }
  // Removes an invalid entry and reports a miss.
  [[nodiscard]] CacheAnswer look_up(const CacheUnit& unit);
  // Looks up units that look_up() missed, in the remote cache, and stores what it has here. Passes
  // an answer for each to `on_answer`, in any order, on any threads, but one after the other; its
  // note is for -v and may be empty. Blocks until all are answered.
  void look_up_remotely(const std::vector<const CacheUnit*>& units,
                        const std::function<void(std::size_t unit, CacheAnswer answer)>& on_answer);
  // Returns the result of `build` and stores it, here and remotely, if it succeeded. If another
  // process is building the same unit, waits for its result as long as the settings allow, and then
  // builds. Sets `note` like CacheAnswer::note if there is something to add.
  [[nodiscard]] UnitResult build(const CacheUnit& unit, const std::function<UnitResult()>& build,
                                 std::string& note);
  // Passes the bytes of write_bundle for `bundle` to `sink`, from the cache if possible
  // (bundle_key). Otherwise, writes and stores them; writing takes long, because compression is
  // thorough. Does not store a bundle larger than a quarter of the cache or 64 MiB, so that it
  // evicts no units and stays out of memory. An encrypted bundle is neither looked up nor stored.
  // Returns the text for -v, or errors of write_bundle.
  [[nodiscard]] Result<std::string>
  finish_bundle(const BundleOfUnits& bundle, const format::WriteOptions& options,
                const std::function<Result<void>(base::ByteView)>& sink);
  // Waits for results that are still to be stored remotely, as long as the settings allow.
  void finish();
  // Returns the first warning of this machine's cache, then that of the remote cache, each once;
  // otherwise an empty string. One problem can affect many units.
  [[nodiscard]] std::string take_warning();

private:
  [[nodiscard]] std::string why_missed(const CacheUnit& unit,
                                       const clbin::cache::LookUp& found) const;
  void store(const CacheUnit& unit, const BuildReply& reply);
  void warn(const std::string& warning);

  clbin::cache::KeyedStore m_cache;
  std::unique_ptr<RemoteStore> m_remote;
  SealedFiles m_bundles;
  std::string m_executable;
  std::mutex m_mutex;
  std::string m_warning;
  bool m_is_told = false; // take_warning() has returned it
};

} // namespace oclcc

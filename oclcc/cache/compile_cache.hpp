// The compile cache of units and finished bundles.
#pragma once

#include "cache/bundle_key.hpp"
#include "cache/finished_bundles.hpp"
#include "cache/keyed_store.hpp"
#include "units/unit.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace oclcc {

// A unit, as the cache identifies it.
struct CacheUnit {
  clbin::cache::Recipe recipe;
  clbin::base::Digest key; // recipe_key(recipe)
  std::string program;     // its name; like the options, for users who inspect the entry
  std::string options;
  clbin::format::Target target;
};

struct CacheAnswer {
  std::optional<UnitResult> result; // the result of the build if it is a hit
  std::string note;                 // for -v: "hit", "miss: header 'tile.h' changed"
};

// The cache of one run. Never fails: take_warning() reports errors, and the unit is built.
// Thread-safe.
class CompileCache {
public:
  // `executable` is the same as for bundle_key.
  CompileCache(clbin::cache::CacheSettings settings, std::string executable);

  [[nodiscard]] bool is_on() const noexcept { return m_cache.is_on(); }
  // Returns the reason why the cache is off, for messages.
  [[nodiscard]] const std::string& why_off() const noexcept { return m_cache.settings().why_off; }

  // Whether a look-up probably hits.
  [[nodiscard]] bool contains(const CacheUnit& unit) const { return m_cache.contains(unit.key); }
  // Removes an invalid entry and reports a miss.
  [[nodiscard]] CacheAnswer look_up(const CacheUnit& unit);
  // Returns the result of `build` and stores it if it succeeded. If another process is building the
  // same unit, waits for its result as long as the settings allow, and then builds. Sets `note`
  // like CacheAnswer::note if there is something to add.
  [[nodiscard]] UnitResult build(const CacheUnit& unit, const std::function<UnitResult()>& build,
                                 std::string& note);
  // Passes the bytes of write_bundle for `bundle` to `sink`, from the cache if possible
  // (bundle_key). Otherwise, writes and stores them; writing takes long, because compression is
  // thorough. Does not store a bundle larger than a quarter of the cache or 64 MiB, so that it
  // evicts no units and stays out of memory. An encrypted bundle is neither looked up nor stored.
  // Returns the text for -v, or errors of write_bundle.
  [[nodiscard]] clbin::base::Result<std::string>
  finish_bundle(const BundleOfUnits& bundle, const clbin::format::WriteOptions& options,
                const std::function<clbin::base::Result<void>(clbin::base::ByteView)>& sink);
  // Returns the first warning, once; otherwise an empty string. One problem can affect many units.
  [[nodiscard]] std::string take_warning();

private:
  [[nodiscard]] std::optional<UnitResult> read_hit(const CacheUnit& unit,
                                                   clbin::cache::CacheHit hit) const;
  [[nodiscard]] std::string why_missed(const CacheUnit& unit,
                                       const clbin::cache::LookUp& found) const;
  void store(const CacheUnit& unit, const BuildReply& reply);
  void warn(const std::string& warning);

  clbin::cache::KeyedStore m_cache;
  FinishedBundles m_bundles;
  std::string m_executable;
  std::mutex m_mutex;
  std::string m_warning;
  bool m_is_told = false; // take_warning() has returned it
};

} // namespace oclcc

// The compile cache of units and finished bundles.
#pragma once

#include "cache/keyed_store.hpp"
#include "units/recipes.hpp"

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

struct CacheAnswer {
  std::optional<UnitResult> result; // the result of the build if it is a hit
  std::string note; // for -v: "hit", "miss: header 'tile.h' changed", "off"; may be empty
};

// A cache entry is a unit's result, as the writer of bundles accepts it. result_of() returns
// std::nullopt if the entry is invalid.
[[nodiscard]] format::EntryInput entry_of(const format::Target& target, std::string options,
                                          BuildReply reply);
[[nodiscard]] std::optional<UnitResult> result_of(clbin::cache::CacheHit hit);

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
  // same unit, waits for its result as long as the settings allow, and then builds. Adds to `note`
  // like CacheAnswer::note.
  [[nodiscard]] UnitResult build(const CacheUnit& unit, const std::function<UnitResult()>& build,
                                 std::string& note);
  void store(const CacheUnit& unit, const BuildReply& reply);
  // Passes the bytes of write_bundle for `bundle` to `sink`, from the cache if possible
  // (bundle_key). Otherwise, writes and stores them; writing takes long, because compression is
  // thorough. Does not store a bundle larger than a quarter of the cache or 64 MiB, so that it
  // evicts no units and stays out of memory. An encrypted bundle is neither looked up nor stored.
  // Returns the text for -v, or errors of write_bundle.
  [[nodiscard]] Result<std::string>
  finish_bundle(const BundleOfUnits& bundle, const format::WriteOptions& options,
                const std::function<Result<void>(base::ByteView)>& sink);
  // Returns the first warning, once; otherwise an empty string. One problem can affect many units.
  [[nodiscard]] std::string take_warning();

private:
  [[nodiscard]] std::string why_missed(const CacheUnit& unit,
                                       const clbin::cache::LookUp& found) const;
  void warn(const std::string& warning);

  clbin::cache::KeyedStore m_cache;
  SealedFiles m_bundles;
  std::string m_executable;
  std::mutex m_mutex;
  std::string m_warning;
  bool m_is_told = false; // take_warning() has returned it
};

} // namespace oclcc

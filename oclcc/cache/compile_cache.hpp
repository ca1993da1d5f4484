// What oclcc has built before: the compile cache, unit by unit, and the bundles made of them.
#pragma once

#include "cache/user_cache.hpp"
#include "format/bundle.hpp"
#include "worker/unit_builder.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace oclcc {

// A unit as the cache knows it.
struct CacheUnit {
  clbin::cache::Recipe recipe;
  clbin::base::Digest key; // recipe_key(recipe)
  std::string program;     // its name, and the options: for people who look at the entry
  std::string options;
  clbin::format::Target target;
};

struct CacheAnswer {
  std::optional<worker::UnitResult> result; // a hit: what the build was answered with
  std::string note;                         // for -v: "hit", "miss: header 'tile.h' changed"
};

// Never fails: what cannot be done is told by take_warning(), and the unit is built. Thread-safe.
class CompileCache {
public:
  // `executable`: as of bundle_key.
  CompileCache(clbin::cache::CacheSettings settings, std::string executable);

  [[nodiscard]] bool is_on() const noexcept { return m_cache.is_on(); }
  // Why it is not on, for people.
  [[nodiscard]] const std::string& why_off() const noexcept { return m_cache.settings().why_off; }

  // An entry that is no good is removed: a miss.
  [[nodiscard]] CacheAnswer look_up(const CacheUnit& unit);
  // The result of `build`, which is stored if it succeeded; or that of another process which was
  // building the same. Waits for such a one as long as the settings say, then builds all the same.
  // `note` as CacheAnswer::note, where there is something to add to it.
  [[nodiscard]] worker::UnitResult
  build(const CacheUnit& unit, const std::function<worker::UnitResult()>& build, std::string& note);
  // Hands `sink` the bytes that write_bundle gives for `input`: kept ones, else written and kept.
  // Writing takes long: bundles are compressed as well as can be. One that would take more than a
  // quarter of the cache, or 64 MiB, is not kept, so that it pushes out no units and stays out of
  // memory. `spill` as WriteOptions has it. What there is to say with -v; errors of write_bundle.
  [[nodiscard]] clbin::base::Result<std::string>
  finish_bundle(const clbin::format::BundleInput& input,
                std::shared_ptr<clbin::base::SpillFile> spill,
                const std::function<clbin::base::Result<void>(clbin::base::ByteView)>& sink);
  // The first that went wrong, once; empty if none did. One fault has many units complain.
  [[nodiscard]] std::string take_warning();

private:
  [[nodiscard]] std::optional<worker::UnitResult> read_hit(const CacheUnit& unit,
                                                           clbin::cache::CacheHit hit) const;
  [[nodiscard]] std::string why_missed(const CacheUnit& unit,
                                       const clbin::cache::LookUp& found) const;
  void store(const CacheUnit& unit, const worker::BuildReply& reply);
  void warn(const std::string& warning);

  clbin::cache::UserCache m_cache;
  std::string m_executable;
  std::mutex m_mutex;
  std::string m_warning;
  bool m_is_told = false; // take_warning() gave it out
};

} // namespace oclcc

// A cache that several machines share, as the compile cache uses it.
#pragma once

#include "cache/cache_unit.hpp"
#include "cache/keyed_store.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

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
  virtual void offer(const CacheUnit& unit, clbin::format::EntryInput entry) = 0;
  // Waits for what is still to be stored, as long as the settings allow. Call it once, at the end.
  virtual void finish() = 0;
  // Returns the only warning, once; otherwise an empty string.
  [[nodiscard]] virtual std::string take_warning() = 0;
};

} // namespace oclcc

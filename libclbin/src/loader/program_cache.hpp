// What the loads of one bundle remember on disk.
#pragma once

#include "cache/quarantine.hpp"
#include "cache/store_queue.hpp"
#include "cache/user_cache.hpp"

namespace clbin::loader {

// Thread-safe. Destroying it waits for what is still being written.
struct ProgramCache {
  // CacheSettings() is off: no user cache and no quarantine.
  explicit ProgramCache(const cache::CacheSettings& settings)
      : programs(settings, cache::CacheKind::user), quarantine(settings), stores(programs) {}

  cache::UserCache programs;
  cache::Quarantine quarantine;
  cache::StoreQueue stores;
};

} // namespace clbin::loader

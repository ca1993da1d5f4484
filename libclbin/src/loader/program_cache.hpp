// What the loads of one bundle store on disk.
#pragma once

#include "cache/keyed_store.hpp"
#include "cache/quarantine.hpp"

namespace clbin::loader {

// Thread-safe. The destructor blocks until pending entries are written.
struct ProgramCache {
  // CacheSettings() disables both the user cache and the quarantine.
  explicit ProgramCache(const cache::CacheSettings& settings)
      : programs(settings, cache::CacheKind::user), quarantine(settings), stores(programs) {}

  // With separate settings for what executes, and for the record of what crashed.
  ProgramCache(const cache::CacheSettings& of_programs, const cache::CacheSettings& of_quarantine)
      : programs(of_programs, cache::CacheKind::user), quarantine(of_quarantine), stores(programs) {
  }

  cache::KeyedStore programs;
  cache::Quarantine quarantine;
  cache::StoreQueue stores;
};

} // namespace clbin::loader

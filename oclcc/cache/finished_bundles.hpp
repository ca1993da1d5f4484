// Stores finished bundles in the directory of the compile cache, beside the units' entries.
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"

#include <optional>
#include <string>
#include <utility>

namespace oclcc {

// A finished bundle from the cache.
struct KeptBundle {
  std::optional<clbin::base::Bytes> bytes; // std::nullopt: a miss
  std::string reason; // of a miss, unless there simply is no such bundle; a sentence
};

// Finished bundles count in the sizes of the cache and in CacheCounters::healed, but in no other
// counter. No problem is fatal, as in clbin::cache::KeyedStore. Thread-safe, also between
// processes.
class FinishedBundles {
public:
  explicit FinishedBundles(clbin::cache::CacheSettings settings)
      : m_settings(std::move(settings)) {}

  // Returns the bundle that `store` stored under `key`, after checking every byte. Removes one that
  // is damaged or has another key. Always misses if the cache is off.
  [[nodiscard]] KeptBundle look_up(const clbin::base::Digest& key) const;
  // Stores the bytes of a finished bundle and makes room for them, unless they exceed the limit of
  // the cache. Returns a warning; empty if there is none.
  [[nodiscard]] std::string store(const clbin::base::Digest& key,
                                  clbin::base::ByteView bundle) const;

private:
  [[nodiscard]] clbin::base::Result<void> store_in(const clbin::cache::CacheFolder& folder,
                                                   const clbin::base::Digest& key,
                                                   clbin::base::ByteView bundle) const;

  clbin::cache::CacheSettings m_settings;
};

} // namespace oclcc

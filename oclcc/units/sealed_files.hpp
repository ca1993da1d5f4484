// Stores files in the directory of the compile cache, beside the units' entries.
#pragma once

#include "cache/cache_folder.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

enum class SealedKind : std::uint8_t {
  bundle,      // a finished bundle
  preparation, // what the tools of an offline target make before its first unit
  content,     // the digest of a file that oclcc depends on, such as a compiler
};

// A file from the cache.
struct SealedFile {
  std::optional<base::Bytes> bytes; // std::nullopt: a miss
  std::string reason;               // of a miss, unless there simply is no such file; a sentence
};

// The files count in the sizes of the cache and in CacheCounters::healed, but in no other counter.
// No problem is fatal, as in clbin::cache::KeyedStore. Thread-safe, also between processes.
class SealedFiles {
public:
  SealedFiles(clbin::cache::CacheSettings settings, SealedKind kind)
      : m_settings(std::move(settings)), m_kind(kind) {}

  // Returns the bytes that `store` stored under `key`, after checking every one. Removes a file
  // that is damaged or has another key. Always misses if the cache is off.
  [[nodiscard]] SealedFile look_up(const base::Digest& key) const;
  // Stores bytes, of which there is at least one, and makes room for them, unless they exceed the
  // limit of the cache. Returns a warning; empty if there is none.
  [[nodiscard]] std::string store(const base::Digest& key, base::ByteView bytes) const;

private:
  [[nodiscard]] std::string name_of(const base::Digest& key) const;
  [[nodiscard]] Result<void> store_in(const clbin::cache::CacheFolder& folder,
                                      const base::Digest& key, base::ByteView bytes) const;

  clbin::cache::CacheSettings m_settings;
  SealedKind m_kind;
};

} // namespace oclcc

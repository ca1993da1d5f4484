// What a cache counts of itself, in a small file beside its entries.
#pragma once

#include "cache/cache_folder.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace clbin::cache {

inline constexpr std::string_view k_counters_name = "counters";

struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t stores = 0;
  std::uint64_t healed = 0;  // entries removed because they were damaged or refused
  std::uint64_t evicted = 0; // entries removed to make room
  // Of all entries. An estimate: what happens while the file is held by another process is not
  // counted; absent until somebody has looked.
  std::optional<std::uint64_t> stored_bytes;
  std::uint64_t scanned_at = 0; // seconds since 1970: when somebody last looked

  friend bool operator==(const CacheCounters&, const CacheCounters&) = default;
};

[[nodiscard]] base::Bytes encode_counters(const CacheCounters& counters);
// All zero, and no size, for anything that encode_counters did not write.
[[nodiscard]] CacheCounters decode_counters(base::ByteView bytes);

[[nodiscard]] CacheCounters read_counters(const CacheFolder& folder);
// Reads, changes and writes under the file's lock. Given up after a short while: a number less is
// better than a load that waits.
void update_counters(const CacheFolder& folder, const CacheSettings& settings,
                     const std::function<void(CacheCounters&)>& change);

} // namespace clbin::cache

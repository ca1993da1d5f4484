// Statistics of a cache, in a small file next to its entries.
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
  // Total size of all entries. An estimate: changes are not counted while another process has
  // locked the file. std::nullopt until the directory has been scanned.
  std::optional<std::uint64_t> stored_bytes;
  std::uint64_t scanned_at = 0; // time of the last scan, in seconds since 1970

  friend bool operator==(const CacheCounters&, const CacheCounters&) = default;
};

[[nodiscard]] base::Bytes encode_counters(const CacheCounters& counters);
// Returns zeros and no size for any bytes that encode_counters did not write.
[[nodiscard]] CacheCounters decode_counters(base::ByteView bytes);

[[nodiscard]] CacheCounters read_counters(const CacheFolder& folder);
// Reads, changes and writes the counters while the file is locked. Gives up after a short time: a
// lost count is better than a load that waits.
void update_counters(const CacheFolder& folder, const CacheSettings& settings,
                     const std::function<void(CacheCounters&)>& change);

} // namespace clbin::cache

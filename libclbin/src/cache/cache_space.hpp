// Keeps the files of a cache within its size.
#pragma once

#include "cache/cache_counters.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_settings.hpp"

#include <cstdint>

namespace clbin::cache {

// Removes files, least recently used first, until `incoming_bytes` more fit. Once a day, also
// removes what killed processes left behind. `incoming_bytes` must not exceed settings.max_bytes.
void make_room(const CacheFolder& folder, const CacheSettings& settings,
               std::uint64_t incoming_bytes);

// Adds the size of a stored file, less that of the file that it replaced.
void add_stored_bytes(CacheCounters& counters, std::uint64_t added, std::uint64_t replaced);

// Returns whether the bytes of a file are invalid, and not merely unreadable at the moment.
[[nodiscard]] bool is_invalid(base::ErrorCode code) noexcept;

} // namespace clbin::cache

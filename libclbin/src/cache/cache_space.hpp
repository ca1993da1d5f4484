// The files of a cache: which belong to it, statistics of them in a small file beside them, and
// which to remove when the cache is full.
#pragma once

#include "cache/cache_folder.hpp"

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

[[nodiscard]] Bytes encode_counters(const CacheCounters& counters);
// Returns zeros and no size for any bytes that encode_counters did not write.
[[nodiscard]] CacheCounters decode_counters(ByteView bytes);

[[nodiscard]] CacheCounters read_counters(const CacheFolder& folder);
// Reads, changes and writes the counters while the file is locked. Gives up after a short time: a
// lost count is better than a load that waits.
void update_counters(const CacheFolder& folder, const CacheSettings& settings,
                     const std::function<void(CacheCounters&)>& change);

inline constexpr std::string_view k_entry_suffix = ".clbin";
inline constexpr std::string_view k_bundle_suffix = ".bundle"; // a finished bundle with its seal
// What compilers make before the first unit of a run, with its seal.
inline constexpr std::string_view k_preparation_suffix = ".prepared";
inline constexpr std::string_view k_recipe_suffix = ".recipe";
inline constexpr std::string_view k_lock_suffix = ".lock";
// The digest of a file that oclcc depends on, such as a compiler; 96 bytes.
inline constexpr std::string_view k_content_suffix = ".content";

// Returns the rows of files that a cache created, by their names: 64 hexadecimal digits and a
// suffix, temporary files and counters. Other files are never counted, evicted or cleared.
[[nodiscard]] std::vector<FileRow> keep_own(std::vector<FileRow> rows);

// Returns the total size of entries, finished bundles, preparations and recipes. As the functions
// below, expects rows from keep_own().
[[nodiscard]] std::uint64_t stored_bytes(const std::vector<FileRow>& rows) noexcept;

// Returns the entries, finished bundles, preparations and recipes to remove, least recently used
// first, so that at most `most_bytes` remain. Files whose time is after `now` (the clock was set
// back) come first, because their last use is unknown. Files with equal times are ordered by name.
[[nodiscard]] std::vector<FileRow> choose_victims(std::vector<FileRow> rows,
                                                  std::uint64_t most_bytes, TimePoint now);

// Returns temporary files that no living process can still be writing to, and lock files that look
// unused. Lock each of the latter before removing it.
[[nodiscard]] std::vector<FileRow> find_left_behind(const std::vector<FileRow>& rows,
                                                    TimePoint now);

// Removes files, least recently used first, until `incoming_bytes` more fit. Once a day, also
// removes what killed processes left behind. `incoming_bytes` must not exceed settings.max_bytes.
void make_room(const CacheFolder& folder, const CacheSettings& settings,
               std::uint64_t incoming_bytes);

// Adds the size of a stored file, less that of the file that it replaced.
void add_stored_bytes(CacheCounters& counters, std::uint64_t added, std::uint64_t replaced);

// Returns whether the bytes of a file are invalid, and not merely unreadable at the moment.
[[nodiscard]] constexpr bool is_invalid(ErrorCode code) noexcept {
  return code >= ErrorCode::not_a_bundle && code < ErrorCode::no_such_program;
}

} // namespace clbin::cache

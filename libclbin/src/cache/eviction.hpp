// Which files of a cache are its own, and which go when it is full. Pure: tells names, removes
// nothing.
#pragma once

#include "cache/cache_folder.hpp"

namespace clbin::cache {

inline constexpr std::string_view k_entry_suffix = ".clbin";
inline constexpr std::string_view k_bundle_suffix = ".bundle"; // a finished one, with its seal
inline constexpr std::string_view k_recipe_suffix = ".recipe";
inline constexpr std::string_view k_lock_suffix = ".lock";

// The rows of files that a cache made, by their names: entries, finished bundles, recipes and locks
// (64 hexadecimal digits and a suffix), temporary files and counters. What else somebody keeps in a
// folder that was named as the cache's is never counted, evicted or cleared.
[[nodiscard]] std::vector<FileRow> keep_own(std::vector<FileRow> rows);

// Of keep_own() rows, as all below. The total of entries, finished bundles and recipes.
[[nodiscard]] std::uint64_t stored_bytes(const std::vector<FileRow>& rows) noexcept;

// Which entries, finished bundles and recipes to remove, least recently used first, until no more
// than `most_bytes` stay. A file whose time is ahead of `now` (the clock was set back) goes first:
// nothing is known of it. Files of one time go by name.
[[nodiscard]] std::vector<FileRow> choose_victims(std::vector<FileRow> rows,
                                                  std::uint64_t most_bytes, TimePoint now);

// Temporary files that no living process can still be writing to.
[[nodiscard]] std::vector<FileRow> find_left_behind(const std::vector<FileRow>& rows,
                                                    TimePoint now);
// Lock files that look unused; whoever removes one must hold it.
[[nodiscard]] std::vector<FileRow> find_old_locks(const std::vector<FileRow>& rows, TimePoint now);

} // namespace clbin::cache

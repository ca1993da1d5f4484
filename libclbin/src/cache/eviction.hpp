// Decides which files belong to a cache, and which to remove when it is full. Pure functions, which
// return names and remove nothing.
#pragma once

#include "cache/cache_folder.hpp"

namespace clbin::cache {

inline constexpr std::string_view k_entry_suffix = ".clbin";
inline constexpr std::string_view k_bundle_suffix = ".bundle"; // a finished bundle with its seal
// What compilers make before the first unit of a run, with its seal.
inline constexpr std::string_view k_preparation_suffix = ".prepared";
inline constexpr std::string_view k_recipe_suffix = ".recipe";
inline constexpr std::string_view k_lock_suffix = ".lock";
// The digest of a file that oclcc depends on, such as a compiler; 96 bytes.
inline constexpr std::string_view k_content_suffix = ".content";

// Returns the rows of files that a cache created, by their names: entries, finished bundles,
// preparations, recipes, locks and digests of files (64 hexadecimal digits and a suffix), temporary
// files and counters. Other files in the directory are never counted, evicted or cleared.
[[nodiscard]] std::vector<FileRow> keep_own(std::vector<FileRow> rows);

// Returns the total size of entries, finished bundles, preparations and recipes. This function and
// those below expect rows from keep_own().
[[nodiscard]] std::uint64_t stored_bytes(const std::vector<FileRow>& rows) noexcept;

// Returns the entries, finished bundles, preparations and recipes to remove, least recently used
// first, so that at most `most_bytes` remain. Files whose time is after `now` (the clock was set
// back) come first, because their last use is unknown. Files with equal times are ordered by name.
[[nodiscard]] std::vector<FileRow> choose_victims(std::vector<FileRow> rows,
                                                  std::uint64_t most_bytes, TimePoint now);

// Returns temporary files that no living process can still be writing to.
[[nodiscard]] std::vector<FileRow> find_left_behind(const std::vector<FileRow>& rows,
                                                    TimePoint now);
// Returns lock files that look unused. Lock each one before removing it.
[[nodiscard]] std::vector<FileRow> find_old_locks(const std::vector<FileRow>& rows, TimePoint now);

} // namespace clbin::cache

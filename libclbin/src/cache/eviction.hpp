// Which files go when the cache is full. Pure: tells names, removes nothing.
#pragma once

#include "cache/cache_folder.hpp"

namespace clbin::cache {

inline constexpr std::string_view k_entry_suffix = ".clbin";
inline constexpr std::string_view k_recipe_suffix = ".recipe";
inline constexpr std::string_view k_lock_suffix = ".lock";

// The total of entries and recipes.
[[nodiscard]] std::uint64_t stored_bytes(const std::vector<FileRow>& rows) noexcept;

// Entries and recipes to remove, least recently used first, until no more than `most_bytes` stay.
// A file whose time is ahead of `now` (the clock was set back) goes first: nothing is known of it.
// Files of one time go by name.
[[nodiscard]] std::vector<FileRow> choose_victims(std::vector<FileRow> rows,
                                                  std::uint64_t most_bytes, TimePoint now);

// Temporary files that no living process can still be writing to.
[[nodiscard]] std::vector<FileRow> find_left_behind(const std::vector<FileRow>& rows,
                                                    TimePoint now);
// Lock files that look unused; whoever removes one must hold it.
[[nodiscard]] std::vector<FileRow> find_old_locks(const std::vector<FileRow>& rows, TimePoint now);

} // namespace clbin::cache

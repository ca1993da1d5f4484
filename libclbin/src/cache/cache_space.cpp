#include "cache/cache_space.hpp"

#include "cache/eviction.hpp"

#include <algorithm>

namespace clbin::cache {

namespace {

std::uint64_t to_seconds(TimePoint time) {
  const auto count = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

// Returns whether a day has passed since the last scan, which finds what killed processes left
// behind and what was not counted.
bool is_scan_due(const CacheCounters& counters, TimePoint now) {
  constexpr std::uint64_t k_day = 86'400;
  const std::uint64_t seconds = to_seconds(now);
  return counters.scanned_at > seconds || seconds - counters.scanned_at >= k_day;
}

// Removes temporary files and locks that are no longer in use.
void sweep(const CacheFolder& folder, const std::vector<FileRow>& rows, TimePoint now) {
  for (const FileRow& row : find_left_behind(rows, now)) {
    folder.remove(row.name);
  }
  for (const FileRow& row : find_old_locks(rows, now)) {
    auto lock = folder.try_lock(row.name);
    if (lock.has_value() && lock->has_value()) {
      (*lock)->remove();
    }
  }
}

} // namespace

void add_stored_bytes(CacheCounters& counters, std::uint64_t added, std::uint64_t replaced) {
  if (counters.stored_bytes.has_value()) {
    const std::uint64_t sum = *counters.stored_bytes + added;
    counters.stored_bytes = sum - std::min(sum, replaced);
  }
}

void make_room(const CacheFolder& folder, const CacheSettings& settings,
               std::uint64_t incoming_bytes) {
  const TimePoint now = settings.now();
  const std::uint64_t most_before = settings.max_bytes - incoming_bytes;
  const CacheCounters counters = read_counters(folder);
  if (counters.stored_bytes.has_value() && *counters.stored_bytes <= most_before &&
      !is_scan_due(counters, now)) {
    return;
  }
  const auto rows = keep_own(folder.list());
  sweep(folder, rows, now);
  std::uint64_t total = stored_bytes(rows);
  std::vector<FileRow> victims;
  if (total > most_before) {
    // Removes a tenth of the limit more than necessary, so that not every store has to scan the
    // directory.
    const std::uint64_t spare = std::min(most_before, settings.max_bytes / 10);
    victims = choose_victims(rows, most_before - spare, now);
  }
  std::uint64_t evicted_entries = 0;
  for (const FileRow& victim : victims) {
    folder.remove(victim.name);
    total -= victim.size_bytes;
    evicted_entries += victim.name.ends_with(k_entry_suffix) ? 1 : 0;
  }
  update_counters(folder, settings, [&](CacheCounters& updated) {
    updated.stored_bytes = total;
    updated.scanned_at = to_seconds(now);
    updated.evicted += evicted_entries;
  });
}

bool is_invalid(base::ErrorCode code) noexcept {
  return code >= base::ErrorCode::not_a_bundle && code < base::ErrorCode::no_such_program;
}

} // namespace clbin::cache

#include "cache/cache_space.hpp"

#include <algorithm>
#include <tuple>

namespace clbin::cache {

namespace {

constexpr std::string_view k_label = "clbin-cache-counters-1";
constexpr std::size_t k_max_bytes = 256;
constexpr std::uint64_t k_no_size = ~0ULL;
constexpr std::array k_events{&CacheCounters::hits, &CacheCounters::misses, &CacheCounters::stores,
                              &CacheCounters::healed, &CacheCounters::evicted};
constexpr int k_max_tries = 100;
constexpr std::chrono::milliseconds k_pause{1};

Digest seal(ByteView bytes) {
  return base::Hasher().add_field(k_label).add_field(bytes).finish();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(k_temporary_suffix)) {
    return false;
  }
  name.remove_suffix(k_temporary_suffix.size());
  const auto dash = name.find('-');
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

bool is_own_name(std::string_view name) {
  for (const std::string_view suffix : {k_entry_suffix, k_bundle_suffix, k_preparation_suffix,
                                        k_recipe_suffix, k_lock_suffix, k_content_suffix}) {
    if (name.ends_with(suffix)) {
      return base::digest_from_hex(name.substr(0, name.size() - suffix.size())).has_value();
    }
  }
  return name == k_counters_name || is_temporary_name(name);
}

bool is_stored(const FileRow& row) {
  return row.name.ends_with(k_entry_suffix) || row.name.ends_with(k_bundle_suffix) ||
         row.name.ends_with(k_preparation_suffix) || row.name.ends_with(k_recipe_suffix);
}

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
    if (row.name.ends_with(k_temporary_suffix)) {
      folder.remove(row.name);
    } else if (auto lock = folder.try_lock(row.name); lock.has_value() && lock->has_value()) {
      (*lock)->remove();
    }
  }
}

} // namespace

Bytes encode_counters(const CacheCounters& counters) {
  base::ByteWriter writer;
  for (const auto number : k_events) {
    writer.write_u64(counters.*number);
  }
  writer.write_u64(counters.stored_bytes.value_or(k_no_size));
  writer.write_u64(counters.scanned_at);
  const Digest digest = seal(writer.view());
  writer.write_bytes(digest.bytes);
  return std::move(writer).take();
}

CacheCounters decode_counters(ByteView bytes) {
  constexpr std::size_t k_sealed_bytes = sizeof(std::uint64_t) * (k_events.size() + 2);
  if (bytes.size() < k_sealed_bytes ||
      !std::ranges::equal(bytes.subspan(k_sealed_bytes), seal(bytes.first(k_sealed_bytes)).bytes)) {
    return {};
  }
  base::ByteReader reader(bytes, "cache counters");
  const auto next = [&reader] { return reader.read_u64("number").value(); };
  CacheCounters counters;
  for (const auto number : k_events) {
    counters.*number = next();
  }
  if (const std::uint64_t size = next(); size != k_no_size) {
    counters.stored_bytes = size;
  }
  counters.scanned_at = next();
  return counters;
}

CacheCounters read_counters(const CacheFolder& folder) {
  const auto file = folder.read(std::string(k_counters_name), k_max_bytes);
  return file.has_value() ? decode_counters(file->bytes) : CacheCounters();
}

void update_counters(const CacheFolder& folder, const CacheSettings& settings,
                     const std::function<void(CacheCounters&)>& change) {
  for (int attempt = 0; attempt < k_max_tries; ++attempt) {
    auto file = folder.try_lock(std::string(k_counters_name));
    if (!file.has_value()) {
      return; // the directory is not writable
    }
    if (!file->has_value()) {
      settings.pause(k_pause);
      continue;
    }
    CacheCounters counters = decode_counters((*file)->read(k_max_bytes).value_or(Bytes()));
    change(counters);
    (void)(*file)->write(encode_counters(counters));
    return;
  }
}

std::vector<FileRow> keep_own(std::vector<FileRow> rows) {
  std::erase_if(rows, [](const FileRow& row) { return !is_own_name(row.name); });
  return rows;
}

std::uint64_t stored_bytes(const std::vector<FileRow>& rows) noexcept {
  std::uint64_t total = 0;
  for (const FileRow& row : rows) {
    total += is_stored(row) ? row.size_bytes : 0;
  }
  return total;
}

std::vector<FileRow> choose_victims(std::vector<FileRow> rows, std::uint64_t most_bytes,
                                    TimePoint now) {
  std::erase_if(rows, [](const FileRow& row) { return !is_stored(row); });
  std::uint64_t left = stored_bytes(rows);
  std::ranges::sort(rows, {}, [now](const FileRow& row) {
    return std::tuple(row.modified <= now, row.modified, std::string_view(row.name));
  });
  std::size_t count = 0;
  while (count < rows.size() && left > most_bytes) {
    left -= rows[count].size_bytes;
    ++count;
  }
  rows.resize(count);
  return rows;
}

std::vector<FileRow> find_left_behind(const std::vector<FileRow>& rows, TimePoint now) {
  std::vector<FileRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found), [now](const FileRow& row) {
    const bool is_temporary = row.name.ends_with(k_temporary_suffix);
    const std::chrono::hours age{is_temporary ? 1 : 24}; // a build takes longer than a write
    // A modification time in the future does not show when the file was last used.
    return (is_temporary || row.name.ends_with(k_lock_suffix)) &&
           (row.modified > now + age || row.modified < now - age);
  });
  return found;
}

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

} // namespace clbin::cache

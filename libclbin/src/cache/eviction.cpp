#include "cache/eviction.hpp"

#include "base/digest.hpp"
#include "cache/cache_counters.hpp"

#include <algorithm>
#include <tuple>

namespace clbin::cache {

namespace {

constexpr std::chrono::hours k_time_to_write{1};
constexpr std::chrono::hours k_time_to_build{24};

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

// A modification time in the future does not show when the file was last used.
bool is_older(const FileRow& row, TimePoint now, std::chrono::hours age) {
  return row.modified > now + age || row.modified < now - age;
}

std::vector<FileRow> find_old(const std::vector<FileRow>& rows, std::string_view suffix,
                              TimePoint now, std::chrono::hours age) {
  std::vector<FileRow> found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found), [&](const FileRow& row) {
    return row.name.ends_with(suffix) && is_older(row, now, age);
  });
  return found;
}

} // namespace

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
  std::sort(rows.begin(), rows.end(), [now](const FileRow& a, const FileRow& b) {
    const bool a_is_known = a.modified <= now;
    const bool b_is_known = b.modified <= now;
    return std::tie(a_is_known, a.modified, a.name) < std::tie(b_is_known, b.modified, b.name);
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
  return find_old(rows, k_temporary_suffix, now, k_time_to_write);
}

std::vector<FileRow> find_old_locks(const std::vector<FileRow>& rows, TimePoint now) {
  return find_old(rows, k_lock_suffix, now, k_time_to_build);
}

} // namespace clbin::cache

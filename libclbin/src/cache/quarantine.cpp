#include "cache/quarantine.hpp"

#include <algorithm>
#include <exception>

namespace clbin::cache {

using std::chrono::seconds;

namespace {

constexpr std::chrono::hours k_day{24};
constexpr std::chrono::hours k_quarantine_time{30 * 24};
constexpr std::size_t k_deaths_that_count = 2;
constexpr std::size_t k_max_marker_bytes = 8 * (1 + k_deaths_that_count);

// The contents of a marker, as a sequence of times in seconds: the start of the current attempt, or
// 0, followed by the deaths of the process, oldest first.
struct MarkerRecord {
  std::optional<TimePoint> begun;
  std::vector<TimePoint> deaths;
};

std::uint64_t to_number(TimePoint time) {
  const auto count = std::chrono::floor<seconds>(time).time_since_epoch().count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
}

// Treats a time in the future as now. The clock was set back, or the time is damaged, and a
// quarantine must not last longer than the rules state.
TimePoint to_past(std::uint64_t number, TimePoint now) {
  const std::uint64_t present = to_number(now);
  return TimePoint(seconds(static_cast<std::int64_t>(std::min(number, present))));
}

// Returns an empty record if the bytes are not a record, because the file may have been truncated
// when the machine went down.
MarkerRecord decode_marker(ByteView bytes, TimePoint now) {
  MarkerRecord record;
  base::ByteReader reader(bytes, "attempt marker");
  const auto begun = reader.read_u64("begin");
  if (!begun.has_value() || reader.remaining() % sizeof(std::uint64_t) != 0) {
    return {};
  }
  if (*begun != 0) {
    record.begun = to_past(*begun, now);
  }
  while (reader.remaining() != 0) {
    record.deaths.push_back(to_past(reader.read_u64("death").value_or(0), now));
  }
  return record;
}

Bytes encode_marker(const MarkerRecord& record) {
  base::ByteWriter writer;
  writer.write_u64(record.begun.has_value() ? to_number(*record.begun) : 0);
  for (const TimePoint death : record.deaths) {
    writer.write_u64(to_number(death));
  }
  return std::move(writer).take();
}

// Turns an unfinished attempt into a death, and discards old deaths.
void settle(MarkerRecord& record, TimePoint now) {
  if (record.begun.has_value()) {
    record.deaths.push_back(*record.begun);
    record.begun.reset();
  }
  std::ranges::sort(record.deaths);
  if (!record.deaths.empty() && now - record.deaths.back() >= k_quarantine_time) {
    record.deaths.clear();
  }
  if (record.deaths.size() > k_deaths_that_count) {
    record.deaths.erase(record.deaths.begin(), record.deaths.end() - k_deaths_that_count);
  }
}

bool is_digest_name(std::string_view name) {
  return base::digest_from_hex(name).has_value();
}

// Returns whether `name` is PAYLOAD-IDENTITY; see begin().
bool is_marker_name(std::string_view name) {
  constexpr std::size_t k_digits = 64;
  return name.size() == 2 * k_digits + 1 && name[k_digits] == '-' &&
         is_digest_name(name.substr(0, k_digits)) && is_digest_name(name.substr(k_digits + 1));
}

// Removes the files of payloads and drivers that are no longer in use.
void remove_old_files(const CacheFolder& folder, bool (*is_name)(std::string_view), TimePoint now) {
  for (const FileRow& row : folder.list()) {
    if (!is_name(row.name) || now - row.modified < k_quarantine_time) {
      continue;
    }
    auto file = folder.try_lock(row.name);
    if (file.has_value() && file->has_value()) {
      (*file)->remove();
    }
  }
}

// A new file triggers the removal of old ones, but not every time, because there may be many.
bool is_chosen(const Digest& name) {
  return std::to_integer<unsigned>(name.bytes.front()) % 16 == 0;
}

} // namespace

void AttemptMarker::Finish::operator()(Attempt* attempt) const noexcept {
  // The file remains for the next attempt: on ext4, an existing file costs 6 us, and a file that is
  // created and removed costs 44 us. The process may survive a C++ exception such as bad_alloc.
  if (!attempt->is_with_driver || std::uncaught_exceptions() > 0) {
    (void)attempt->file.write(encode_marker({std::nullopt, attempt->deaths}));
  }
  delete attempt;
}

AttemptPermit Quarantine::begin_holding(const CacheFolder& folder, LockedFile file,
                                        IfNew if_new) const {
  const TimePoint now = m_settings.now();
  const Bytes marker = file.read(k_max_marker_bytes).value_or(Bytes());
  MarkerRecord record = decode_marker(marker, now);
  const bool has_died = record.begun.has_value();
  settle(record, now);
  AttemptPermit permit;
  if (record.deaths.size() == k_deaths_that_count &&
      record.deaths.back() - record.deaths.front() <= k_day) {
    permit.verdict = AttemptVerdict::quarantined;
    permit.reason = fmt::format(
        "it ended the process twice within 24 hours; libclbin tries it again in {} hours",
        std::chrono::ceil<std::chrono::hours>(record.deaths.back() + k_quarantine_time - now)
            .count());
  } else {
    record.begun = now;
  }
  if (const auto written = file.write(encode_marker(record)); !written.has_value()) {
    permit.warning = fmt::format("the quarantine has no marker: {}", written.error().message);
  }
  permit.is_marked = permit.warning.empty();
  if (permit.verdict == AttemptVerdict::go) {
    permit.marker = AttemptMarker(std::move(file), std::move(record.deaths));
  }
  if (has_died || (marker.empty() && if_new == IfNew::remove_old)) {
    remove_old_files(folder, is_marker_name, now);
  }
  return permit;
}

AttemptPermit Quarantine::begin(const Digest& payload, const Digest& identity) const {
  AttemptPermit permit;
  if (m_settings.use == CacheUse::off) {
    permit.warning = m_settings.warning;
    return permit;
  }
  const std::string name = base::to_hex(payload) + "-" + base::to_hex(identity);
  const auto begun = with_part(m_settings, k_attempts_part, [&](const CacheFolder& folder) {
    auto file = folder.try_lock(name);
    if (!file.has_value()) {
      return Result<void>(tl::unexpected(file.error()));
    }
    permit.is_marked = true;
    if (file->has_value()) { // otherwise another process makes the attempt and has locked the
                             // marker
      permit = begin_holding(folder, **std::move(file),
                             is_chosen(payload) ? IfNew::remove_old : IfNew::go_on);
    }
    return Result<void>();
  });
  if (!begun.has_value()) {
    permit.warning = begun.error().message;
  }
  return permit;
}

std::optional<std::string> Verdicts::find(const Digest& key) const {
  if (m_settings.use == CacheUse::off) {
    return std::nullopt;
  }
  const auto folder = open_part(m_settings, k_answers_part, IfMissing::leave);
  const auto found = folder ? folder->read(base::to_hex(key), k_max_bytes)
                            : Result<FoundFile>(tl::unexpected(folder.error()));
  if (!found) {
    return std::nullopt;
  }
  folder->touch(base::to_hex(key), m_settings.now());
  return std::string(base::as_text(found->bytes));
}

std::string Verdicts::remember(const Digest& key, std::string_view verdict) const {
  if (m_settings.use == CacheUse::off) {
    return m_settings.warning;
  }
  const auto written = with_part(m_settings, k_answers_part, [&](const CacheFolder& folder) {
    if (is_chosen(key)) {
      remove_old_files(folder, is_digest_name, m_settings.now());
    }
    return folder.replace(base::to_hex(key), base::as_bytes(verdict.substr(0, k_max_bytes)),
                          m_settings.now());
  });
  return written ? std::string() : written.error().message;
}

Result<void> Verdicts::clear() const {
  const auto folder = open_part(m_settings, k_answers_part, IfMissing::leave);
  if (!folder) {
    return folder.error().code == ErrorCode::file_not_found ? Result<void>()
                                                            : tl::unexpected(folder.error());
  }
  for (const FileRow& row : folder->list()) {
    if (is_digest_name(row.name)) {
      folder->remove(row.name);
    }
  }
  return {};
}

} // namespace clbin::cache

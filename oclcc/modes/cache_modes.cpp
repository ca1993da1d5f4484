#include "command_line/modes.hpp"

#include "cache/keyed_store.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc {

using base::JsonValue;
using clbin::cache::CacheKind;
using clbin::cache::CacheSettings;

namespace {

constexpr CacheKind k_kinds[] = {CacheKind::user, CacheKind::compile};

struct CacheRow {
  CacheKind kind;
  clbin::cache::CacheStatistics statistics;
};

// Labels and values in the order of output, and the keys of the JSON.
struct NumberRow {
  std::string_view label;
  const char* key;
  std::uint64_t value;
};

std::vector<NumberRow> numbers_of(const CacheRow& row) {
  const auto& [kind, statistics] = row;
  std::vector<NumberRow> numbers{{"entries", "entries", statistics.entries}};
  if (kind == CacheKind::compile) {
    numbers.push_back({"finished bundles", "bundles", statistics.bundles});
  }
  const auto& counters = statistics.counters;
  numbers.insert(numbers.end(),
                 {{"bytes", "bytes", statistics.bytes},
                  {"hits", "hits", counters.hits},
                  {"misses", "misses", counters.misses},
                  {"stored", "stored", counters.stores},
                  {"evicted to make room", "evicted", counters.evicted},
                  {"removed because damaged or rejected", "removed", counters.healed}});
  return numbers;
}

std::string text_of(const CacheSettings& folder, const std::string& why_off,
                    const std::vector<CacheRow>& rows) {
  std::string text = fmt::format(
      "directory: {}\n", folder.folder.empty() ? "none" : printable(folder.folder.string()));
  text += fmt::format("at most {} bytes each\n", folder.max_bytes);
  if (!why_off.empty()) {
    text += fmt::format("off: {}\n", why_off);
  }
  for (const CacheRow& row : rows) {
    text += fmt::format("\n{}: {}\n", clbin::cache::to_string(row.kind),
                        row.kind == CacheKind::user ? "programs that libclbin built"
                                                    : "binaries that oclcc built");
    for (const NumberRow& number : numbers_of(row)) {
      text += fmt::format("  {:<29}  {}\n", number.label, number.value);
    }
  }
  return text;
}

std::string json_of(const CacheSettings& folder, const std::string& why_off,
                    const std::vector<CacheRow>& rows) {
  base::JsonArray caches;
  for (const CacheRow& row : rows) {
    base::JsonObject members{{"cache", {std::string(clbin::cache::to_string(row.kind))}}};
    for (const NumberRow& number : numbers_of(row)) {
      members.emplace(number.key, JsonValue{number.value});
    }
    caches.push_back({std::move(members)});
  }
  return report_json({{"caches", {std::move(caches)}},
                      {"folder", {folder.folder.string()}},
                      {"max_bytes", {folder.max_bytes}},
                      {"off", why_off.empty() ? JsonValue{nullptr} : JsonValue{why_off}}});
}

void warn_of(const CacheSettings& settings, Reporter& reporter) {
  if (!settings.warning.empty()) {
    reporter.warning(settings.warning);
  }
}

} // namespace

Result<ExitCode> cache_stats(const Options& options, const ModeContext& context) {
  const CacheSettings settings = CacheSettings::of_folder(context.environment);
  const std::string why_off = CacheSettings::from_environment(context.environment).why_off;
  warn_of(settings, context.reporter);
  std::vector<CacheRow> rows;
  for (const CacheKind kind : k_kinds) {
    auto statistics = clbin::cache::KeyedStore(settings, kind).statistics();
    if (!statistics) {
      context.reporter.error(statistics.error());
      return ExitCode::file;
    }
    rows.push_back({kind, *std::move(statistics)});
  }
  const std::string text = options.list_format == ListFormat::json
                               ? json_of(settings, why_off, rows)
                               : text_of(settings, why_off, rows);
  return print_result(text, context.reporter);
}

Result<ExitCode> clear_cache(const Options&, const ModeContext& context) {
  const CacheSettings settings = CacheSettings::of_folder(context.environment);
  warn_of(settings, context.reporter);
  std::string told;
  for (const CacheKind kind : k_kinds) {
    const auto cleared = clbin::cache::KeyedStore(settings, kind).clear();
    if (!cleared && cleared.error().message != told) { // once for the shared directory
      told = cleared.error().message;
      context.reporter.error(told);
    }
  }
  return told.empty() ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc

#include "cache/compile_cache.hpp"

namespace oclcc {

namespace {

constexpr std::size_t k_changes_told = 3;   // a driver update changes many ingredients
constexpr std::uint64_t k_bundle_share = 4; // a bundle may use 1/4 of the cache
constexpr const char* k_own_tool = "oclcc";
constexpr std::uint64_t k_max_cached_bundle_bytes = 64U << 20U;

// Returns std::nullopt if the entry is invalid.
std::optional<UnitResult> result_of(clbin::cache::CacheHit hit) {
  auto manifest = hit.bundle.read_manifest(hit.group);
  if (!manifest || manifest->entries.size() != 1) {
    return std::nullopt;
  }
  BuildReply reply;
  reply.log = std::move(manifest->entries.front().build_log);
  reply.kernels = std::move(manifest->entries.front().kernels);
  reply.binary = std::move(hit.payload);
  reply.tools = std::move(manifest->entries.front().tools);
  reply.tools.erase(std::string(k_own_tool));
  return UnitResult{std::move(reply), {}, {}};
}

// Names every member of a reply, so that adding a member is a compile error until its storage is
// decided here and in result_of(). `stage` has no information for a built unit.
format::EntryInput entry_of(const CacheUnit& unit, const BuildReply& reply) {
  const auto& [cl_code, stage, log, error, binary, kernels, tools] = reply;
  format::EntryInput entry;
  entry.target = unit.target;
  entry.options = unit.options;
  entry.payload = binary;
  entry.kernels = kernels;
  entry.build_log = log;
  entry.tools = tools;
  entry.tools.emplace(k_own_tool, OCLCC_VERSION);
  return entry;
}

} // namespace

CompileCache::CompileCache(clbin::cache::CacheSettings settings, std::string executable,
                           std::unique_ptr<RemoteStore> remote)
    : m_cache(settings, clbin::cache::CacheKind::compile), m_remote(std::move(remote)),
      m_bundles(std::move(settings), SealedKind::bundle), m_executable(std::move(executable)) {
  warn(m_cache.settings().warning);
}

std::string CompileCache::why_missed(const CacheUnit& unit,
                                     const clbin::cache::LookUp& found) const {
  if (found.cause != clbin::cache::MissCause::absent) {
    return found.reason;
  }
  const auto changes = m_cache.explain_miss(unit.recipe);
  if (changes.empty()) {
    return "never built, or no longer stored";
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), k_changes_told); ++i) {
    text += (i == 0 ? "" : ", ") + describe_change(changes[i]);
  }
  if (changes.size() > k_changes_told) {
    text += fmt::format(", and {} more", changes.size() - k_changes_told);
  }
  return text;
}

CacheAnswer CompileCache::look_up(const CacheUnit& unit) {
  clbin::cache::LookUp found = m_cache.look_up(unit.key);
  warn(found.warning);
  if (!found.hit) {
    return {std::nullopt, "miss: " + why_missed(unit, found)};
  }
  auto result = result_of(*std::move(found.hit));
  if (!result) {
    m_cache.remove(unit.key);
    return {std::nullopt, "miss: its entry was damaged and has been removed"};
  }
  m_cache.remember(unit.recipe);
  return {std::move(result), "hit"};
}

void CompileCache::look_up_remotely(
    const std::vector<const CacheUnit*>& units,
    const std::function<void(std::size_t unit, CacheAnswer answer)>& on_answer) {
  if (m_remote == nullptr) {
    return;
  }
  m_remote->fetch(units, [&](std::size_t unit, RemoteAnswer remote) {
    CacheAnswer answer{std::nullopt, std::move(remote.note)};
    if (remote.hit) {
      answer.result = result_of(*std::move(remote.hit));
    }
    if (answer.result) {
      store(*units[unit], *answer.result->reply);
    }
    on_answer(unit, std::move(answer));
  });
}

UnitResult CompileCache::build(const CacheUnit& unit, const std::function<UnitResult()>& build,
                               std::string& note) {
  const clbin::cache::BuildClaim claim = m_cache.claim_build(unit.key);
  warn(claim.warning);
  if (claim.turn == clbin::cache::Turn::look_again) {
    CacheAnswer answer = look_up(unit);
    if (answer.result) {
      note += ", then a hit: another process has built it meanwhile";
      return *std::move(answer.result);
    }
  }
  UnitResult result = build();
  if (is_built(result)) {
    store(unit, *result.reply);
    if (m_remote != nullptr) {
      m_remote->offer(unit, entry_of(unit, *result.reply));
    }
  }
  return result;
}

void CompileCache::store(const CacheUnit& unit, const BuildReply& reply) {
  warn(m_cache.store(unit.recipe, unit.program, entry_of(unit, reply)));
}

Result<std::string>
CompileCache::finish_bundle(const BundleOfUnits& bundle, const format::WriteOptions& options,
                            const std::function<Result<void>(base::ByteView)>& sink) {
  if (!is_on() || options.encryption) {
    CLBIN_TRY(format::write_bundle(bundle.input, options, sink));
    return std::string();
  }
  CLBIN_TRY_ASSIGN(const base::Digest key, bundle_key(bundle, options, m_executable));
  const SealedFile kept = m_bundles.look_up(key);
  if (kept.bytes) {
    CLBIN_TRY(sink(*kept.bytes));
    return std::string("from the compile cache");
  }
  const std::uint64_t limit =
      std::min(m_cache.settings().max_bytes / k_bundle_share, k_max_cached_bundle_bytes);
  base::Bytes bytes;
  bool is_small = true;
  CLBIN_TRY(format::write_bundle(bundle.input, options, [&](base::ByteView part) {
    is_small = is_small && part.size() <= limit - bytes.size();
    if (is_small) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    } else {
      bytes = {};
    }
    return sink(part);
  }));
  if (is_small) {
    warn(m_bundles.store(key, bytes));
  }
  return kept.reason;
}

void CompileCache::warn(const std::string& warning) {
  const std::lock_guard lock(m_mutex);
  if (m_warning.empty() && !m_is_told) {
    m_warning = warning;
  }
}

void CompileCache::finish() {
  if (m_remote != nullptr) {
    m_remote->finish();
  }
}

std::string CompileCache::take_warning() {
  const std::lock_guard lock(m_mutex);
  m_is_told = m_is_told || !m_warning.empty();
  std::string own = std::exchange(m_warning, {});
  return own.empty() && m_remote != nullptr ? m_remote->take_warning() : own;
}

} // namespace oclcc

#include "units/compile_cache.hpp"

namespace oclcc {

namespace {

constexpr std::size_t k_changes_told = 3;   // a driver update changes many ingredients
constexpr std::uint64_t k_bundle_share = 4; // a bundle may use 1/4 of the cache
constexpr const char* k_own_tool = "oclcc";
constexpr std::uint64_t k_max_cached_bundle_bytes = 64U << 20U;

} // namespace

// Names every member of a reply, so that adding a member is a compile error until its storage is
// decided here and in result_of(). `stage` has no information for a built unit.
format::EntryInput entry_of(const format::Target& target, std::string options, BuildReply reply) {
  auto [cl_code, stage, log, error, binary, kernels, tools] = std::move(reply);
  tools.emplace(k_own_tool, OCLCC_VERSION);
  return {
      {{}, target, std::move(options), {}, std::move(kernels), std::move(log), std::move(tools)},
      std::move(binary)};
}

std::optional<UnitResult> result_of(clbin::cache::CacheHit hit) {
  auto manifest = hit.bundle.read_manifest(hit.group);
  if (!manifest || manifest->entries.size() != 1) {
    return std::nullopt;
  }
  auto& entry = manifest->entries.front();
  entry.tools.erase(std::string(k_own_tool));
  UnitResult result;
  BuildReply& reply = result.reply.emplace();
  reply.log = std::move(entry.build_log);
  reply.binary = std::move(hit.payload);
  reply.kernels = std::move(entry.kernels);
  reply.tools = std::move(entry.tools);
  return result;
}

CompileCache::CompileCache(clbin::cache::CacheSettings settings, std::string executable)
    : m_cache(settings, clbin::cache::CacheKind::compile, clbin::format::compress_alone),
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
  }
  return result;
}

void CompileCache::store(const CacheUnit& unit, const BuildReply& reply) {
  warn(m_cache.store(unit.recipe, unit.program, entry_of(unit.target, unit.options, reply)));
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

std::string CompileCache::take_warning() {
  const std::lock_guard lock(m_mutex);
  m_is_told = m_is_told || !m_warning.empty();
  return std::exchange(m_warning, {});
}

} // namespace oclcc

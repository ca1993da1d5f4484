#include "units/sealed_files.hpp"

#include "cache/cache_space.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace oclcc {

using base::Digest;

namespace {

constexpr std::uint64_t k_max_kept_bytes = 1ULL << 30U;
constexpr std::string_view k_seal_label = "clbin-cache-bundle-1";

// Returns the digest that precedes the bytes in the cache. It covers every byte and the key, so
// that a file under the name of another key is detected.
Digest seal_of(const Digest& key, ByteView bytes) {
  return base::Hasher().add_field(k_seal_label).add(key.bytes).add(bytes).finish();
}

bool is_sealed(const Digest& key, ByteView kept) {
  const std::size_t seal_bytes = sizeof(Digest::bytes);
  return kept.size() > seal_bytes &&
         std::ranges::equal(kept.first(seal_bytes), seal_of(key, kept.subspan(seal_bytes)).bytes);
}

} // namespace

std::string SealedFiles::name_of(const Digest& key) const {
  constexpr std::array k_suffixes = {clbin::cache::k_bundle_suffix,
                                     clbin::cache::k_preparation_suffix,
                                     clbin::cache::k_content_suffix};
  return base::to_hex(key) + std::string(k_suffixes[static_cast<std::size_t>(m_kind)]);
}

SealedFile SealedFiles::look_up(const Digest& key) const {
  if (m_settings.use != clbin::cache::CacheUse::on) {
    return {};
  }
  const auto folder = clbin::cache::open_part(m_settings, clbin::cache::k_compilations_part,
                                              clbin::cache::IfMissing::leave);
  if (!folder.has_value()) {
    return {}; // KeyedStore::look_up() reports problems of the directory
  }
  const std::string name = name_of(key);
  auto file = folder->read(name, k_max_kept_bytes);
  if (!file.has_value() && !clbin::cache::is_invalid(file.error().code)) {
    return {};
  }
  if (file.has_value() && is_sealed(key, file->bytes)) {
    folder->touch(name, m_settings.now());
    file->bytes.erase(file->bytes.begin(), file->bytes.begin() + sizeof(Digest::bytes));
    return {std::move(file->bytes), {}};
  }
  if (file.has_value()) {
    folder->remove_if_same(name, file->identity);
  } else {
    folder->remove(name); // not created by a cache
  }
  clbin::cache::update_counters(*folder, m_settings,
                                [](clbin::cache::CacheCounters& counters) { ++counters.healed; });
  return {std::nullopt, fmt::format("the {}'s cache entry was damaged and has been removed",
                                    m_kind == SealedKind::bundle ? "bundle" : "preparation")};
}

Result<void> SealedFiles::store_in(const clbin::cache::CacheFolder& folder, const Digest& key,
                                   ByteView bytes) const {
  base::ByteWriter kept;
  kept.write_bytes(seal_of(key, bytes).bytes);
  kept.write_bytes(bytes);
  if (kept.size() > m_settings.max_bytes) {
    return {};
  }
  clbin::cache::make_room(folder, m_settings, kept.size());
  const std::string name = name_of(key);
  const std::uint64_t replaced_bytes = folder.size_of(name).value_or(0);
  CLBIN_TRY(folder.replace(name, kept.view(), m_settings.now()));
  clbin::cache::update_counters(folder, m_settings, [&](clbin::cache::CacheCounters& counters) {
    clbin::cache::add_stored_bytes(counters, kept.size(), replaced_bytes);
  });
  return {};
}

std::string SealedFiles::store(const Digest& key, ByteView bytes) const {
  if (m_settings.use != clbin::cache::CacheUse::on) {
    return {};
  }
  const auto stored = clbin::cache::with_part(
      m_settings, clbin::cache::k_compilations_part,
      [&](const clbin::cache::CacheFolder& folder) { return store_in(folder, key, bytes); });
  return stored.has_value() ? std::string() : stored.error().message;
}

} // namespace oclcc

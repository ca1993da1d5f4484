#include "cache/cache_counters.hpp"

#include "base/digest.hpp"

#include <algorithm>

namespace clbin::cache {

using base::Bytes;
using base::ByteView;
using base::Result;

namespace {

constexpr std::string_view k_label = "clbin-cache-counters-1";
constexpr std::size_t k_max_bytes = 256;
constexpr std::uint64_t k_no_size = ~0ULL;
constexpr int k_max_tries = 100;
constexpr std::chrono::milliseconds k_pause{1};

base::Digest seal(ByteView bytes) {
  base::Hasher hasher;
  hasher.add_field(k_label);
  hasher.add_field(bytes);
  return hasher.finish();
}

Result<CacheCounters> decode(ByteView bytes) {
  base::ByteReader reader(bytes, "cache counters");
  CacheCounters counters;
  CLBIN_TRY_ASSIGN(counters.hits, reader.read_u64("hits"));
  CLBIN_TRY_ASSIGN(counters.misses, reader.read_u64("misses"));
  CLBIN_TRY_ASSIGN(counters.stores, reader.read_u64("stores"));
  CLBIN_TRY_ASSIGN(counters.healed, reader.read_u64("healed"));
  CLBIN_TRY_ASSIGN(counters.evicted, reader.read_u64("evicted"));
  CLBIN_TRY_ASSIGN(const std::uint64_t stored_bytes, reader.read_u64("stored bytes"));
  CLBIN_TRY_ASSIGN(counters.scanned_at, reader.read_u64("scanned at"));
  if (stored_bytes != k_no_size) {
    counters.stored_bytes = stored_bytes;
  }
  const base::Digest expected = seal(bytes.first(reader.offset()));
  CLBIN_TRY_ASSIGN(const ByteView found, reader.read_bytes(expected.bytes.size(), "digest"));
  CLBIN_TRY(reader.require_end());
  if (!std::equal(found.begin(), found.end(), expected.bytes.begin())) {
    return base::fail(base::ErrorCode::digest_mismatch, "cache counters: partially written");
  }
  return counters;
}

} // namespace

Bytes encode_counters(const CacheCounters& counters) {
  base::ByteWriter writer;
  writer.write_u64(counters.hits);
  writer.write_u64(counters.misses);
  writer.write_u64(counters.stores);
  writer.write_u64(counters.healed);
  writer.write_u64(counters.evicted);
  writer.write_u64(counters.stored_bytes.value_or(k_no_size));
  writer.write_u64(counters.scanned_at);
  const base::Digest digest = seal(writer.view());
  writer.write_bytes(digest.bytes);
  return std::move(writer).take();
}

CacheCounters decode_counters(ByteView bytes) {
  return decode(bytes).value_or(CacheCounters());
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

} // namespace clbin::cache

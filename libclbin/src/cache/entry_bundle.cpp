#include "cache/entry_bundle.hpp"

#include "format/bundle/bundle_writer.hpp"

namespace clbin::cache {

using base::Bytes;
using base::Digest;
using base::ErrorCode;
using base::Result;

namespace {

constexpr int k_compression_level = 3; // low, because somebody waits for the entry
// Creating a context of zstd takes some 40 us, a third of a warm clbin_build. Compression would
// save some blocks of the file system, and as much of what a remote cache transfers.
constexpr std::uint64_t k_max_stored_bytes = 16ULL << 10U;

Result<CacheHit> read_entry(format::BundleReader bundle, const Digest& key) {
  if (bundle.group_count() != 1 || bundle.entry_count() != 1) {
    return base::fail(ErrorCode::damaged, "not a cache entry");
  }
  CLBIN_TRY_ASSIGN(auto group, bundle.group(0));
  if (group.variant != base::to_hex(key)) {
    return base::fail(ErrorCode::damaged, "an entry with another key");
  }
  CLBIN_TRY_ASSIGN(auto entry, bundle.entry(0));
  CLBIN_TRY_ASSIGN(auto payload, bundle.read_blob(entry.blob));
  return CacheHit{std::move(bundle), std::move(group), std::move(entry), std::move(payload)};
}

} // namespace

Result<Bytes> encode_entry(const Digest& key, const std::string& program,
                           format::EntryInput entry) {
  entry.variant = base::to_hex(key);
  format::ProgramInput input;
  input.name = program;
  input.variants.push_back({entry.variant, entry.options});
  input.entries.push_back(std::move(entry));
  format::BundleInput bundle;
  bundle.producer = "clbin cache";
  bundle.programs.push_back(std::move(input));
  return format::write_bundle(
      bundle, {.compression_level = k_compression_level, .max_stored_bytes = k_max_stored_bytes});
}

Result<CacheHit> open_entry(Bytes bytes, const std::string& name, const Digest& key,
                            const EntryRequirements& required) {
  auto source = base::owning_source(std::move(bytes), name);
  auto bundle =
      required.signatures == nullptr
          ? format::BundleReader::open(std::move(source), required.limits,
                                       format::TrailingBytes::refuse)
          : format::BundleReader::open(std::move(source), required.limits,
                                       format::TrailingBytes::refuse, *required.signatures);
  if (!bundle) {
    return tl::unexpected(std::move(bundle.error()));
  }
  return read_entry(*std::move(bundle), key);
}

} // namespace clbin::cache

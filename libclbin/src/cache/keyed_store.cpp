#include "cache/keyed_store.hpp"

#include "cache/quarantine.hpp"

namespace clbin::cache {

namespace {

constexpr int k_compression_level = 3; // low, because somebody waits for the entry
// Creating a context of zstd takes some 40 us. Compression would save some blocks of the file
// system, and as much of what a remote cache transfers.
constexpr std::uint64_t k_max_stored_bytes = 16ULL << 10U;

constexpr std::uint64_t k_max_entry_bytes = 1ULL << 30U;
constexpr std::uint64_t k_max_recipe_bytes = 1ULL << 20U;
constexpr std::chrono::milliseconds k_first_pause{2};
constexpr std::chrono::milliseconds k_longest_pause{50};

std::string entry_name(const Digest& key) {
  return base::to_hex(key) + std::string(k_entry_suffix);
}

std::string recipe_name(const Recipe& recipe) {
  return base::to_hex(subject_key(recipe)) + std::string(k_recipe_suffix);
}

void count(std::uint64_t CacheCounters::*number, const CacheFolder& folder,
           const CacheSettings& settings) {
  update_counters(folder, settings, [number](CacheCounters& counters) { ++(counters.*number); });
}

} // namespace

Result<Bytes> encode_entry(const Digest& key, const std::string& program, format::EntryInput entry,
                           Compressor compress) {
  entry.variant = base::to_hex(key);
  CLBIN_TRY_ASSIGN(format::EntryDraft row, format::draft_of(program, entry));
  CLBIN_TRY_ASSIGN(const base::ByteRegion payload, entry.payload.read());
  format::BundleDraft bundle;
  format::ProgramDraft& only = bundle.programs[program];
  only.producer = "clbin cache";
  only.variants[entry.variant] = {entry.variant, entry.options};
  Result<format::FrameDraft> frame =
      compress == nullptr || payload.view().size() <= k_max_stored_bytes
          ? format::store_alone(payload.view())
          : compress(payload.view(), k_compression_level);
  CLBIN_TRY(frame);
  format::add_frame(bundle, row.raw_digest, *std::move(frame));
  CLBIN_TRY(format::add_entry(bundle, program, std::move(row)));
  return format::assemble_entry(std::move(bundle));
}

Result<CacheHit> open_entry(Bytes bytes, const std::string& name, const Digest& key,
                            const EntryRequirements& required) {
  std::optional<format::SignaturePolicy> signatures;
  if (required.signatures != nullptr) {
    signatures = *required.signatures;
  }
  CLBIN_TRY_ASSIGN(auto bundle, format::BundleReader::open(
                                    base::owning_source(std::move(bytes), name), required.limits,
                                    format::TrailingBytes::refuse, signatures));
  if (bundle.group_count() != 1 || bundle.entry_count() != 1) {
    return fail(ErrorCode::damaged, "not a cache entry");
  }
  CLBIN_TRY_ASSIGN(auto group, bundle.group(0));
  if (group.variant != base::to_hex(key)) {
    return fail(ErrorCode::damaged, "an entry with another key");
  }
  CLBIN_TRY_ASSIGN(auto entry, bundle.entry(0));
  CLBIN_TRY_ASSIGN(auto payload, bundle.read_blob(entry.blob));
  return CacheHit{std::move(bundle), std::move(group), std::move(entry), std::move(payload)};
}

BuildClaim::~BuildClaim() {
  if (lock.has_value()) {
    lock->remove();
  }
}

Result<CacheHit> KeyedStore::read_entry(const CacheFolder& folder, const Digest& key,
                                        std::optional<FileIdentity>& identity) const {
  const std::string name = entry_name(key);
  CLBIN_TRY_ASSIGN(auto file, folder.read(name, k_max_entry_bytes));
  identity = file.identity;
  const std::string path = folder.path() + "/" + name;
  return base::in_context(open_entry(std::move(file.bytes), path, key), path);
}

LookUp KeyedStore::missed(const CacheFolder& folder, const Digest& key, const Error& error,
                          const std::optional<FileIdentity>& identity, AbsentEntry absent) const {
  if (!is_invalid(error.code)) {
    const bool is_absent = error.code == ErrorCode::file_not_found;
    if (!is_absent || absent == AbsentEntry::is_miss) {
      count(&CacheCounters::misses, folder, m_settings);
    }
    return is_absent ? LookUp{std::nullopt, not_there(), m_settings.warning}
                     : LookUp{std::nullopt, error.message, error.message, MissCause::unusable};
  }
  if (identity.has_value()) {
    folder.remove_if_same(entry_name(key), *identity);
  } else {
    folder.remove(entry_name(key)); // not created by a cache
  }
  update_counters(folder, m_settings, [](CacheCounters& counters) {
    ++counters.healed;
    ++counters.misses;
  });
  return {std::nullopt,
          fmt::format("removed a damaged entry of the {}: {}", to_string(m_kind), error.message),
          m_settings.warning, MissCause::damaged};
}

LookUp KeyedStore::look_up(const Digest& key, AbsentEntry absent) const {
  if (!is_on()) {
    return {std::nullopt, fmt::format("the {} is off: {}", to_string(m_kind), m_settings.why_off),
            m_settings.warning, MissCause::unusable};
  }
  // Creates the directory, so that the first miss can be counted. If that fails, store() reports
  // why.
  const auto folder = open_part(m_settings, part(), IfMissing::create);
  if (!folder.has_value() && folder.error().code != ErrorCode::file_read) {
    return {std::nullopt, not_there(), m_settings.warning};
  }
  if (!folder.has_value()) {
    return {std::nullopt, folder.error().message, folder.error().message, MissCause::unusable};
  }
  std::optional<FileIdentity> identity;
  auto hit = read_entry(*folder, key, identity);
  if (!hit.has_value()) {
    return missed(*folder, key, hit.error(), identity, absent);
  }
  folder->touch(entry_name(key), m_settings.now());
  count(&CacheCounters::hits, *folder, m_settings);
  return {*std::move(hit), {}, m_settings.warning};
}

Result<std::optional<CacheFolder>> KeyedStore::usable_folder() const {
  auto folder = is_on() ? open_part(m_settings, part(), IfMissing::leave)
                        : Result<CacheFolder>(fail(ErrorCode::file_not_found, "off"));
  if (!folder.has_value() && folder.error().code == ErrorCode::file_not_found) {
    return std::nullopt;
  }
  return folder;
}

void KeyedStore::count_miss() const {
  if (const auto folder = existing_folder(); folder.has_value()) {
    count(&CacheCounters::misses, *folder, m_settings);
  }
}

bool KeyedStore::contains(const Digest& key) const {
  const auto folder = existing_folder();
  return folder.has_value() && folder->size_of(entry_name(key)).has_value();
}

std::vector<IngredientChange> KeyedStore::explain_miss(const Recipe& recipe) const {
  const auto folder = existing_folder();
  if (!folder.has_value()) {
    return {};
  }
  const auto stored = folder->read(recipe_name(recipe), k_max_recipe_bytes);
  if (!stored.has_value()) {
    return {};
  }
  return compare_with_stored(recipe, stored->bytes).value_or(std::vector<IngredientChange>());
}

BuildClaim KeyedStore::claim_build(const Digest& key, Patience patience) const {
  BuildClaim claim;
  if (!is_on()) {
    claim.warning = m_settings.warning;
    return claim;
  }
  std::chrono::milliseconds waited{0};
  std::chrono::milliseconds pause = k_first_pause;
  while (true) {
    const auto locked =
        with_part(m_settings, part(), [&](const CacheFolder& folder) -> Result<void> {
          CLBIN_TRY_ASSIGN(claim.lock,
                           folder.try_lock(base::to_hex(key) + std::string(k_lock_suffix)));
          claim.turn = folder.size_of(entry_name(key)).has_value() ? Turn::look_again : Turn::build;
          return Result<void>();
        });
    if (!locked.has_value()) {
      claim.turn = Turn::build_alone;
      claim.warning = locked.error().message;
      return claim;
    }
    if (claim.lock.has_value() || claim.turn == Turn::look_again) {
      return claim;
    }
    if (patience == Patience::none || waited >= m_settings.wait_limit) {
      claim.turn = Turn::build_alone;
      claim.warning =
          patience == Patience::none
              ? std::string()
              : fmt::format("the {}: stopped waiting for another process that has been building "
                            "the same for {} ms",
                            to_string(m_kind), waited.count());
      return claim;
    }
    pause = std::min({pause, k_longest_pause, m_settings.wait_limit - waited});
    m_settings.pause(pause);
    waited += pause;
    pause *= 2;
  }
}

Result<void> KeyedStore::store_in(const CacheFolder& folder, const Recipe& recipe,
                                  ByteView bundle) const {
  const Bytes record = encode_recipe(recipe);
  const std::string name = entry_name(recipe_key(recipe));
  const std::uint64_t incoming_bytes = bundle.size() + record.size();
  if (incoming_bytes > m_settings.max_bytes) {
    return {};
  }
  make_room(folder, m_settings, incoming_bytes);
  const std::uint64_t replaced_bytes =
      folder.size_of(name).value_or(0) + folder.size_of(recipe_name(recipe)).value_or(0);
  CLBIN_TRY(folder.replace(name, bundle, m_settings.now()));
  CLBIN_TRY(folder.replace(recipe_name(recipe), record, m_settings.now()));
  update_counters(folder, m_settings, [&](CacheCounters& counters) {
    ++counters.stores;
    add_stored_bytes(counters, incoming_bytes, replaced_bytes);
  });
  return {};
}

std::string KeyedStore::store(const Recipe& recipe, const std::string& program,
                              format::EntryInput entry) const {
  if (!is_on()) {
    return m_settings.warning;
  }
  const auto bundle = encode_entry(recipe_key(recipe), program, std::move(entry), m_compress);
  if (!bundle.has_value()) {
    return bundle.error().message;
  }
  const auto stored = with_part(m_settings, part(), [&](const CacheFolder& folder) {
    return store_in(folder, recipe, *bundle);
  });
  return stored.has_value() ? m_settings.warning : stored.error().message;
}

void KeyedStore::remember(const Recipe& recipe) const {
  const auto folder = existing_folder();
  if (!folder.has_value()) {
    return;
  }
  const Bytes record = encode_recipe(recipe);
  const std::string name = recipe_name(recipe);
  const auto stored = folder->read(name, k_max_recipe_bytes);
  if (stored.has_value() && stored->bytes == record) {
    folder->touch(name, m_settings.now()); // as recent as its entry
    return;
  }
  const std::uint64_t replaced_bytes = folder->size_of(name).value_or(0);
  if (folder->replace(name, record, m_settings.now()).has_value()) {
    update_counters(*folder, m_settings, [&](CacheCounters& counters) {
      add_stored_bytes(counters, record.size(), replaced_bytes);
    });
  }
}

void KeyedStore::remove(const Digest& key) const {
  const auto folder = existing_folder();
  if (folder.has_value() && folder->size_of(entry_name(key)).has_value()) {
    folder->remove(entry_name(key));
    count(&CacheCounters::healed, *folder, m_settings);
  }
}

Result<CacheStatistics> KeyedStore::statistics() const {
  CacheStatistics statistics;
  CLBIN_TRY_ASSIGN(const auto folder, usable_folder());
  if (!folder.has_value()) {
    return statistics;
  }
  const auto rows = keep_own(folder->list());
  statistics.counters = read_counters(*folder);
  statistics.bytes = stored_bytes(rows);
  for (const FileRow& row : rows) {
    statistics.entries += row.name.ends_with(k_entry_suffix) ? 1 : 0;
    statistics.bundles += row.name.ends_with(k_bundle_suffix) ? 1 : 0;
  }
  return statistics;
}

Result<void> KeyedStore::clear() const {
  if (m_kind == CacheKind::user) {
    CLBIN_TRY(Verdicts(m_settings).clear());
  }
  CLBIN_TRY_ASSIGN(const auto folder, usable_folder());
  if (!folder.has_value()) {
    return {};
  }
  for (const FileRow& row : keep_own(folder->list())) {
    // A lock may belong to a running build, and a temporary file may be about to be renamed.
    if (!row.name.ends_with(k_lock_suffix) && !row.name.ends_with(k_temporary_suffix)) {
      folder->remove(row.name);
    }
  }
  const auto left = keep_own(folder->list());
  const auto kept = std::ranges::find_if(left, [](const FileRow& row) {
    return row.name.ends_with(k_entry_suffix) || row.name.ends_with(k_bundle_suffix) ||
           row.name.ends_with(k_preparation_suffix);
  });
  if (kept != left.end()) {
    return fail(ErrorCode::file_write, "cannot remove '{}/{}'", folder->path(), kept->name);
  }
  return {};
}

} // namespace clbin::cache

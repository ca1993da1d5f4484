// Stores what was built, by the digest of what it was built from: libclbin's user cache and oclcc's
// compile cache. An entry is a bundle with one program, one variant and one entry, which is read by
// the same reader as any other bundle. The key of the entry is in the place of the variant's name,
// so that an entry under the name of another key is detected.
//
// No problem is fatal: a `warning` for the report describes it, and the caller continues without
// the cache. No directory is kept open between calls, so that one that is removed, replaced or
// planted at any time costs at most a miss. Every method may be called from several threads and
// processes at once.
#pragma once

#include "cache/cache_recipe.hpp"
#include "cache/cache_space.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"

namespace clbin::cache {

struct CacheHit {
  format::BundleReader bundle; // one program, one variant, one entry; reads its manifest on demand
  format::GroupView group;
  format::EntryView entry;
  Bytes payload; // its digest was checked
};

// How payloads of more than 16 KiB are stored; null: as they are. A program that loads bundles
// keeps few binaries, and the compressor would be a quarter of it.
using Compressor = Result<format::FrameDraft> (*)(ByteView raw, int level);

// Ignores the variant of `entry`. Errors of draft_of, of compress, and of assemble_entry.
[[nodiscard]] Result<Bytes> encode_entry(const Digest& key, const std::string& program,
                                         format::EntryInput entry, Compressor compress);

// What is required of an entry besides its key.
struct EntryRequirements {
  format::ReadLimits limits{};
  const format::SignaturePolicy* signatures = nullptr; // null: none; they cover the key
};
// `name` names the bytes in messages. Safe on untrusted input. Errors: those of BundleReader; of
// check_signatures, if signatures are required; damaged, if it is not an entry or has another key.
[[nodiscard]] Result<CacheHit> open_entry(Bytes bytes, const std::string& name, const Digest& key,
                                          const EntryRequirements& required = {});

enum class CacheKind : std::uint8_t { user, compile };
// "user cache", "compile cache"
[[nodiscard]] constexpr std::string_view to_string(CacheKind kind) noexcept {
  return kind == CacheKind::user ? "user cache" : "compile cache";
}

enum class MissCause : std::uint8_t {
  absent,
  damaged,  // the entry was invalid, and has been removed
  unusable, // the cache is off, or cannot be read
};

struct LookUp {
  std::optional<CacheHit> hit;
  std::string reason; // of a miss, a sentence for the report
  std::string warning;
  MissCause cause = MissCause::absent; // of a miss
};

// Whether the statistics count the look-up of an absent entry as a miss.
enum class AbsentEntry : std::uint8_t { is_miss, is_not_counted };

enum class Turn : std::uint8_t {
  build,       // nobody else builds it: build and store it while the claim exists
  look_again,  // an entry was stored in the meantime: look up again, and build after a miss. The
               // claim may have no lock, because those who waited load the entry at the same time.
  build_alone, // the wait timed out, or no lock can be created: build; others may, too
};

enum class Patience : std::uint8_t { wait, none };

// The right to build, until it is destroyed. The kernel releases it if the process dies.
struct BuildClaim {
  Turn turn = Turn::build_alone;
  std::string warning;
  std::optional<LockedFile> lock;

  BuildClaim() = default;
  BuildClaim(BuildClaim&&) = default;
  BuildClaim& operator=(BuildClaim&&) = default;
  ~BuildClaim();
};

struct CacheStatistics {
  CacheCounters counters;
  std::uint64_t entries = 0;
  std::uint64_t bundles = 0; // finished bundles
  std::uint64_t bytes = 0;   // of entries, their recipes, finished bundles and preparations
};

class KeyedStore {
public:
  KeyedStore(CacheSettings settings, CacheKind kind, Compressor compress = nullptr)
      : m_settings(std::move(settings)), m_kind(kind), m_compress(compress) {}

  [[nodiscard]] const CacheSettings& settings() const noexcept { return m_settings; }
  [[nodiscard]] bool is_on() const noexcept { return m_settings.use == CacheUse::on; }

  // Looks up an entry. Removes one that is damaged or has another key: it is a miss.
  [[nodiscard]] LookUp look_up(const Digest& key, AbsentEntry absent = AbsentEntry::is_miss) const;
  // Counts a miss that look_up did not.
  void count_miss() const;
  // Whether there is an entry, which may prove to be damaged. Much faster than a look-up, and not
  // counted as one.
  [[nodiscard]] bool contains(const Digest& key) const;
  // Returns how `recipe` differs from what was last stored or remembered for its subject; empty if
  // nothing was.
  [[nodiscard]] std::vector<IngredientChange> explain_miss(const Recipe& recipe) const;
  // Claims the build of `key`. Waits for another process that builds it, up to
  // CacheSettings::wait_limit, or not at all: a caller that already has a claim must not wait for
  // the next one.
  [[nodiscard]] BuildClaim claim_build(const Digest& key, Patience patience = Patience::wait) const;
  // Stores `entry`, whose variant is ignored, under recipe_key(recipe), and makes room for it. Does
  // not store an entry that is larger than the limit of the cache. Returns a warning; empty if
  // there is none.
  [[nodiscard]] std::string store(const Recipe& recipe, const std::string& program,
                                  format::EntryInput entry) const;
  // Call it after a hit, so that the next miss of the subject is compared with this recipe.
  void remember(const Recipe& recipe) const;
  // Removes an entry that has proved invalid, for example because a driver rejected it.
  void remove(const Digest& key) const;

  // Returns zeros if there is no cache yet, or it is off. file_read: the directory cannot be used.
  [[nodiscard]] Result<CacheStatistics> statistics() const;
  // Removes all entries, finished bundles, preparations and recipes, and the counters; of the user
  // cache also the verdicts. file_write: one cannot be removed. file_read: the directory cannot be
  // used.
  [[nodiscard]] Result<void> clear() const;

private:
  [[nodiscard]] Result<CacheHit> read_entry(const CacheFolder& folder, const Digest& key,
                                            std::optional<FileIdentity>& identity) const;
  [[nodiscard]] LookUp missed(const CacheFolder& folder, const Digest& key, const Error& error,
                              const std::optional<FileIdentity>& identity,
                              AbsentEntry absent) const;
  [[nodiscard]] std::string not_there() const {
    return fmt::format("not in the {}", to_string(m_kind));
  }
  // std::nullopt: the cache is off, or its directory is missing. file_read: it cannot be used.
  [[nodiscard]] Result<std::optional<CacheFolder>> usable_folder() const;
  // std::nullopt for each of these.
  [[nodiscard]] std::optional<CacheFolder> existing_folder() const {
    return usable_folder().value_or(std::nullopt);
  }
  [[nodiscard]] Result<void> store_in(const CacheFolder& folder, const Recipe& recipe,
                                      ByteView bundle) const;
  [[nodiscard]] std::string_view part() const noexcept {
    return m_kind == CacheKind::user ? k_programs_part : k_compilations_part;
  }

  CacheSettings m_settings;
  CacheKind m_kind;
  Compressor m_compress;
};

struct StoreJob {
  Recipe recipe;
  std::string program;
  format::EntryInput entry;
  BuildClaim claim; // released after the entry is stored, for those who wait
};

// Uses one thread, which runs while there are entries to write, receives no signals, and does not
// call OpenCL. If the process exits without destroying the queue, entries that have not been
// written yet are lost, and nothing else. A forked child has no such thread: there, add() writes
// before it returns. Thread-safe.
class StoreQueue {
public:
  explicit StoreQueue(KeyedStore cache);
  // Blocks until all entries are written.
  ~StoreQueue();
  StoreQueue(StoreQueue&&) = delete; // and no copies

  // If no thread can be created, writes before it returns.
  void add(StoreJob job);
  // Blocks until the entries that were added before are written.
  void drain();
  // Returns the warning of a finished store, once; empty if there is none.
  [[nodiscard]] std::string take_warning();

private:
  struct Writer;
  [[nodiscard]] bool is_forked_child() const noexcept;

  KeyedStore m_cache;
  std::int64_t m_owner; // process id
  std::unique_ptr<Writer> m_writer;
};

} // namespace clbin::cache

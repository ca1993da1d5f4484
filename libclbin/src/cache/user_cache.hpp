// Programs that were built from source or IL, kept for the next start: libclbin's user cache and
// oclcc's compile cache. An entry is a one-entry bundle, read by the same reader as any other.
//
// Nothing here is fatal: what cannot be done is said in a `warning` for the report, and the caller
// goes on without the cache. Nothing is held between calls, so that a folder which is removed,
// replaced or planted at any moment costs a miss at most. Every method may be called from many
// threads and processes at once.
#pragma once

#include "cache/cache_counters.hpp"
#include "cache/cache_recipe.hpp"
#include "cache/cache_settings.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbin::cache {

enum class CacheKind : std::uint8_t { user, compile };
// "user cache", "compile cache"
[[nodiscard]] std::string_view to_string(CacheKind kind) noexcept;

struct CacheHit {
  format::BundleReader bundle; // one program, one variant, one entry; its manifest on demand
  format::GroupView group;
  format::EntryView entry;
  base::Bytes payload; // its digest was checked
};

enum class MissCause : std::uint8_t {
  absent,
  damaged,  // an entry that was no good, and is removed
  unusable, // the cache is off, or cannot be read
};

struct LookUp {
  std::optional<CacheHit> hit;
  std::string reason; // of a miss, a sentence for the report
  std::string warning;
  MissCause cause = MissCause::absent; // of a miss
};

enum class Turn : std::uint8_t {
  build,       // nobody else builds it: build and store while the claim lives
  look_again,  // an entry has come meanwhile: look up again, and build if that is a miss. The claim
               // may be without a lock: those who waited for the entry load it at the same time.
  build_alone, // waited long enough, or no lock can be had: build, others may do the same
};

enum class Patience : std::uint8_t { wait, none };

// The right to build, until it is destroyed. The kernel takes it from a process that dies.
struct BuildClaim {
  Turn turn = Turn::build_alone;
  std::string warning;
  std::optional<LockedFile> lock;

  BuildClaim() = default;
  BuildClaim(BuildClaim&&) = default;
  BuildClaim& operator=(BuildClaim&&) = default;
  ~BuildClaim();
};

// A finished bundle that was kept.
struct KeptBundle {
  std::optional<base::Bytes> bytes; // none: a miss
  std::string reason;               // of a miss that is no plain absence, a sentence
};

struct CacheStatistics {
  CacheCounters counters;
  std::uint64_t entries = 0;
  std::uint64_t bundles = 0; // finished ones
  std::uint64_t bytes = 0;   // of entries, finished bundles and what belongs to them
};

class UserCache {
public:
  UserCache(CacheSettings settings, CacheKind kind);

  [[nodiscard]] const CacheSettings& settings() const noexcept { return m_settings; }
  [[nodiscard]] bool is_on() const noexcept { return m_settings.use == CacheUse::on; }

  // A damaged entry, or one that is not of this key, is removed: it is a miss.
  [[nodiscard]] LookUp look_up(const base::Digest& key) const;
  // What is different from what was last stored or remembered for the subject; empty where nothing
  // was.
  [[nodiscard]] std::vector<IngredientChange> explain_miss(const Recipe& recipe) const;
  // Waits for another process that builds the same, as long as the settings say, or not at all: who
  // holds a claim already must not wait for the next.
  [[nodiscard]] BuildClaim claim_build(const base::Digest& key,
                                       Patience patience = Patience::wait) const;
  // Stores `entry` (its variant counts for nothing) under recipe_key(recipe), and makes room for
  // it. The warning, empty if none. An entry larger than the cache may be is not stored.
  [[nodiscard]] std::string store(const Recipe& recipe, const std::string& program,
                                  format::EntryInput entry) const;
  // After a hit: compares the next miss of the subject with this recipe. store() does it itself.
  void remember(const Recipe& recipe) const;
  // Removes an entry that turned out to be no good: a driver refused it.
  void heal(const base::Digest& key) const;

  // What store_bundle kept under `key`, every byte checked. One that is damaged, or of another key,
  // is removed. Finished bundles count in sizes and in CacheCounters::healed, nowhere else there.
  [[nodiscard]] KeptBundle look_up_bundle(const base::Digest& key) const;
  // Keeps the bytes of a finished bundle, and makes room for them; not where they are larger than
  // the cache may be. The warning, empty if none.
  [[nodiscard]] std::string store_bundle(const base::Digest& key, base::ByteView bundle) const;

  // All zero where there is no cache yet, or it is off. file_read: a folder that is not used.
  [[nodiscard]] base::Result<CacheStatistics> statistics() const;
  // Removes all entries, and the counters. file_write; file_read: a folder that is not used.
  [[nodiscard]] base::Result<void> clear() const;

private:
  [[nodiscard]] base::Result<CacheHit> read_entry(const CacheFolder& folder,
                                                  const base::Digest& key,
                                                  std::optional<FileIdentity>& identity) const;
  [[nodiscard]] LookUp missed(const CacheFolder& folder, const base::Digest& key,
                              const base::Error& error,
                              const std::optional<FileIdentity>& identity) const;
  [[nodiscard]] std::string not_there() const;
  [[nodiscard]] base::Result<void> store_in(const CacheFolder& folder, const Recipe& recipe,
                                            base::ByteView bundle) const;
  [[nodiscard]] base::Result<void>
  store_bundle_in(const CacheFolder& folder, const base::Digest& key, base::ByteView bundle) const;
  void make_room(const CacheFolder& folder, std::uint64_t incoming_bytes) const;
  [[nodiscard]] std::string_view part() const noexcept;

  CacheSettings m_settings;
  CacheKind m_kind;
};

} // namespace clbin::cache

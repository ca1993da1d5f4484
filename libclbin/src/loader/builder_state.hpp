// What the builds of run-time source share.
#pragma once

#include "base/digest.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "loader/program_cache.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace clbin::loader {

// The group of a bundle that was made from a source.
struct BundleGroup {
  std::shared_ptr<const format::BundleReader> bundle;
  format::GroupView group;
};

// What the bundles of a builder contain of a source.
struct SourceMatches {
  std::vector<BundleGroup> groups; // with these options: one a bundle
  // A bundle that contains the source encrypted, with any options, so that the user cache must not
  // contain what is built of it, or that cannot be searched; null if there is none.
  std::shared_ptr<const format::BundleReader> encrypted;
};

// Whether the user cache, which is not encrypted, may contain what is built of the source of an
// encrypted bundle, and serve it.
enum class DecryptedBuilds : std::uint8_t { refused, kept };

// Whether a builder may build source and IL, which nobody signed.
enum class UnsignedSource : std::uint8_t { refused, built };

// Thread-safe. The destructor blocks until pending cache entries are written.
class BuilderState {
public:
  // Settings are those at the time of the call: BuilderState never reads the environment.
  explicit BuilderState(const cache::CacheSettings& settings);
  // With separate settings for the user cache and the quarantine.
  BuilderState(const cache::CacheSettings& of_user_cache, const cache::CacheSettings& of_quarantine,
               UnsignedSource unsigned_source);
  ~BuilderState();

  [[nodiscard]] ProgramCache& cache() noexcept { return m_cache; }
  [[nodiscard]] cache::CacheOnPocl on_pocl() const noexcept { return m_on_pocl; }
  [[nodiscard]] UnsignedSource unsigned_source() const noexcept { return m_unsigned_source; }

  // Later builds use the entries of the bundle, in the order in which bundles were added.
  // `decrypted_builds` concerns an encrypted bundle only, which must be unlocked.
  void add_bundle(std::shared_ptr<const format::BundleReader> bundle,
                  DecryptedBuilds decrypted_builds = DecryptedBuilds::refused);
  // Returns true if the builder has no bundles, so that no name of a program is needed.
  [[nodiscard]] bool has_no_bundles() const;
  // Returns whether there are programs of which nothing may be stored: find_groups tells which.
  [[nodiscard]] bool has_secret_bundles() const;

  // Returns the groups whose source and options are these. Looks for the recorded name of the
  // program first, then for a group whose source in the bundle has the digest. The first such
  // search of a bundle reads all its sources. Damaged bundles yield warnings.
  [[nodiscard]] SourceMatches find_groups(const base::Digest& source,
                                          const std::string& normalized_options,
                                          std::vector<std::string>& warnings) const;

private:
  class IndexedBundle;
  ProgramCache m_cache;
  cache::CacheOnPocl m_on_pocl;
  UnsignedSource m_unsigned_source = UnsignedSource::built;
  mutable std::mutex m_mutex; // guards m_bundles
  std::vector<std::shared_ptr<IndexedBundle>> m_bundles;
};

} // namespace clbin::loader

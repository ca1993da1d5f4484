// Every rule of clbin(5), checked on every byte: what BundleReader::verify does.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/table_pages.hpp"

namespace clbin::format {

// The rows of a manifest against the table, for the groups of its program one after another.
// Borrows both.
class ManifestCheck {
public:
  ManifestCheck(const BundleReader& reader, const Manifest& manifest)
      : m_reader(reader), m_manifest(manifest), m_is_named(manifest.entries.size()) {}

  // Variant, target with what TARGET has of it, options, kernels and raw digest of each row that an
  // entry of `group` names; that no entry before names it, so that all checks together take time
  // linear in table and manifest. manifest_invalid.
  [[nodiscard]] base::Result<void> check(const GroupView& group);

private:
  const BundleReader& m_reader;
  const Manifest& m_manifest;
  std::vector<bool> m_is_named; // by row
};

// For a program of one variant, or where the variants are looked at one by one.
[[nodiscard]] base::Result<void> check_manifest(const BundleReader& reader, const GroupView& group,
                                                const Manifest& manifest);

// The errors of BundleReader::verify.
[[nodiscard]] base::Result<void> verify_bundle(const BundleReader& reader,
                                               const TablePages& tables);

} // namespace clbin::format

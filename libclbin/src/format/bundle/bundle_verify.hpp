// Checks every rule of clbin(5) on every byte; implements BundleReader::verify.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/table_pages.hpp"

namespace clbin::format {

// Checks the rows of a manifest against the table, for one group of its program after the other.
// Reader and manifest must outlive it.
class ManifestCheck {
public:
  ManifestCheck(const BundleReader& reader, const Manifest& manifest)
      : m_reader(reader), m_manifest(manifest), m_is_named(manifest.entries.size()) {}

  // For each row that an entry of `group` names, checks variant, target with its fields in TARGET,
  // options, kernels and raw digest, and that no earlier entry names the row. The time of all
  // checks together is therefore linear in table and manifest. Error: manifest_invalid.
  [[nodiscard]] base::Result<void> check(const GroupView& group);

private:
  const BundleReader& m_reader;
  const Manifest& m_manifest;
  std::vector<bool> m_is_named; // by row
};

// Checks a program with one variant, or a single variant of a program.
[[nodiscard]] base::Result<void> check_manifest(const BundleReader& reader, const GroupView& group,
                                                const Manifest& manifest);

// Errors as for BundleReader::verify.
[[nodiscard]] base::Result<void> verify_bundle(const BundleReader& reader,
                                               const TablePages& tables);

} // namespace clbin::format

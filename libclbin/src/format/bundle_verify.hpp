// Every rule of clbin(5), checked on every byte: what BundleReader::verify does.
#pragma once

#include "format/bundle_reader.hpp"
#include "format/table_pages.hpp"

namespace clbin::format {

// The rows of `manifest` that the entries of `group` name, against the table: variant, target,
// options, kernels, raw digest. manifest_invalid.
[[nodiscard]] base::Result<void> check_manifest(const BundleReader& reader, const GroupView& group,
                                                const Manifest& manifest);

// The errors of BundleReader::verify.
[[nodiscard]] base::Result<void> verify_bundle(const BundleReader& reader,
                                               const TablePages& tables);

} // namespace clbin::format

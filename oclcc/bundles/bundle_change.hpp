// What a compile of bundles makes of them.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/encryption.hpp"

namespace oclcc {

// Returns the bytes of `bundle` with the entries of `newer`, which has no source. An entry of
// `newer` replaces the entry of the same program, variant, target and kind. All other entries are
// copied without compressing them again. `newer` is plain, and the contents of `bundle` can be
// read; `encryption` is that of the result (null: plain). Errors: those of the reader, of
// strip_bundle and of merge_bundles.
[[nodiscard]] Result<base::Bytes> replace_entries(const format::BundleReader& bundle,
                                                  const base::Bytes& newer, SourcePolicy source,
                                                  const format::Encryption* encryption);

} // namespace oclcc

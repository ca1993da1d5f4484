// A bundle whose programs were built anew.
#pragma once

#include "command_line/options.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/encryption.hpp"

namespace oclcc {

// Returns the bytes of `bundle` with the entries of `newer`, which has no source. An entry of
// `newer` replaces the entry of the same program, variant, target and kind. All other entries are
// copied without compressing them again. `newer` is plain, and the contents of `bundle` can be
// read; `encryption` is that of the result (null: plain). Errors: those of the reader, of
// strip_bundle and of merge_bundles.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
replace_entries(const clbin::format::BundleReader& bundle, const clbin::base::Bytes& newer,
                SourcePolicy source, const clbin::format::Encryption* encryption);

} // namespace oclcc

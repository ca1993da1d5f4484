// Computes the key of a finished bundle in the compile cache.
#pragma once

#include "base/digest.hpp"
#include "format/bundle/bundle.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <string_view>

namespace oclcc {

// If two keys are equal, write_bundle returns the same bytes. The key covers `input`, `options`,
// the versions of the format, of libzstd and of oclcc, and `executable`, the file_stamp of the
// writing oclcc. The same input in a different order has a different key. Returns errors of reading
// payloads.
[[nodiscard]] clbin::base::Result<clbin::base::Digest>
bundle_key(const clbin::format::BundleInput& input, const clbin::format::WriteOptions& options,
           std::string_view executable);

} // namespace oclcc

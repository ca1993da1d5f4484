// What the bytes of a finished bundle depend on: the key under which the compile cache keeps them.
#pragma once

#include "base/digest.hpp"
#include "format/bundle.hpp"
#include "format/bundle_writer.hpp"

#include <string_view>

namespace oclcc {

// Equal keys, equal results of write_bundle: over all of `input` and `options`, the versions of the
// format, of libzstd and of oclcc, and `executable`, the file_stamp of the oclcc that writes. Two
// orders of one input are two keys. Errors of reading payloads.
[[nodiscard]] clbin::base::Result<clbin::base::Digest>
bundle_key(const clbin::format::BundleInput& input, const clbin::format::WriteOptions& options,
           std::string_view executable);

} // namespace oclcc

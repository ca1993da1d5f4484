#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle.hpp"

namespace clbin::format {

struct WriteOptions {
  int compression_level = 19;
};

// The bytes of a bundle, as a function of `input` alone: not of the order of programs, variants or
// entries in it, nor of anything of this machine but libzstd's version. invalid_argument: a name
// empty or twice, an empty payload, an entry of a variant that its program does not list, two
// different payloads for one program, variant, target and binary kind.
[[nodiscard]] base::Result<base::Bytes> write_bundle(const BundleInput& input,
                                                     const WriteOptions& options);

} // namespace clbin::format

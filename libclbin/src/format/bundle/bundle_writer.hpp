#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/bundle.hpp"

#include <functional>
#include <memory>

namespace clbin::format {

struct WriteOptions {
  int compression_level = 19;
  // Where compressed bytes wait until the whole bundle is written; empty: in memory.
  std::shared_ptr<base::SpillFile> spill{};
};

// The bytes of a bundle, as a function of `input` alone: not of the order of programs, variants or
// entries in it, nor of anything of this machine but libzstd's version. invalid_argument: a name
// empty or twice, an empty payload, an entry of a variant that its program does not list, two
// different payloads for one program, variant, target and binary kind.
[[nodiscard]] base::Result<base::Bytes> write_bundle(const BundleInput& input,
                                                     const WriteOptions& options);
// The same bytes, in order and in parts. Payloads are read where they are kept, one or two at once.
// Also any error of `sink`, and of reading payloads. Nothing is written before all else is done.
[[nodiscard]] base::Result<void>
write_bundle(const BundleInput& input, const WriteOptions& options,
             const std::function<base::Result<void>(base::ByteView)>& sink);

} // namespace clbin::format

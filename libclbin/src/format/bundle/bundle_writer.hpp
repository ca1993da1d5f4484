#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/bundle_draft.hpp"
#include "format/bundle/encryption.hpp"
#include "model/bundle.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace clbin::format {

// Frames of sources that were compressed before the rest of their bundle is known.
struct SourceFrames {
  int compression_level = 0;
  std::map<base::Digest, FrameDraft> frames; // by raw digest
};

// Adds the frame of a source. Errors of compression.
[[nodiscard]] base::Result<void> compress_source(const SourcePackage& source, SourceFrames& frames);

struct WriteOptions {
  int compression_level = 19;
  // Contains compressed bytes until the whole bundle is written; if null, they are kept in memory.
  std::shared_ptr<base::SpillFile> spill{};
  // Encrypts the contents with this key, for these slots.
  std::optional<Encryption> encryption{};
  // Payloads of at most this size are stored without compression, so that they are read faster.
  std::uint64_t max_stored_bytes = 0;
  // Called once if the bundle is written. Its frames are used if they have the same compression
  // level, and do not change the bytes. May be empty, and return null.
  std::function<std::shared_ptr<const SourceFrames>()> sources{};
};

// Returns the bytes of a bundle. They depend only on `input`, the compression level and
// max_stored_bytes, libzstd's version, and the key and slots of the encryption. They do not depend
// on the order of programs, variants, entries or slots, or on other properties of this machine.
// Error: invalid_argument for an empty or duplicate name, an empty payload, an entry whose variant
// its program does not list, two different payloads for one program, variant, target and binary
// kind, and slots that are not those of the key.
[[nodiscard]] base::Result<base::Bytes> write_bundle(const BundleInput& input,
                                                     const WriteOptions& options);
// Passes the same bytes to `sink`, in order and in parts, after all other work is done. Payloads
// are read from where they are kept, one or two at a time. Errors: also any error of `sink`, and of
// reading payloads.
[[nodiscard]] base::Result<void>
write_bundle(const BundleInput& input, const WriteOptions& options,
             const std::function<base::Result<void>(base::ByteView)>& sink);

} // namespace clbin::format

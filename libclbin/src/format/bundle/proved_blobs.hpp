// Raw bytes that were compared with their raw digest: what new bundles and extracted files are made
// of.
#pragma once

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace clbin::format {

// Holds the raw bytes of one reference, and decompresses it once for all consecutive calls for
// blobs that are compressed against it. `reader` must outlive it. Not thread-safe.
class ProvedBlobs {
public:
  explicit ProvedBlobs(const BundleReader& reader);

  // The raw bytes of a blob. digest_mismatch unless raw_digest is theirs; limit_exceeded if all
  // calls together read more than raw_bytes_limit(); the errors of BundleReader::read_blob.
  [[nodiscard]] base::Result<base::Bytes> read(std::uint32_t index);
  // Whether the raw bytes are those of raw_digest, where the caller has the frame. The same errors.
  [[nodiscard]] base::Result<void> check(std::uint32_t index, base::ByteView frame);

  // Sorts blobs so that each frame is decompressed once. Any error of BundleReader::blob.
  [[nodiscard]] static base::Result<void> sort_by_reference(const BundleReader& reader,
                                                            std::vector<std::uint32_t>& blobs);

private:
  [[nodiscard]] base::Result<base::Bytes> decompress(std::uint32_t index, const BlobView& blob,
                                                     base::ByteView frame);
  [[nodiscard]] base::Result<void> hold_reference(std::uint32_t index);
  [[nodiscard]] base::Result<void> charge(std::uint64_t raw_bytes);

  const BundleReader& m_reader;
  base::ZstdDecompressor m_decompressor;
  std::optional<std::uint32_t> m_held; // the blob whose proved raw bytes m_reference holds
  base::Bytes m_reference;
  std::uint64_t m_raw_bytes = 0;
};

// How many raw bytes of a bundle of `total_bytes` are read to prove digests: more than real device
// binaries can have, but linear in the size of the file.
[[nodiscard]] std::uint64_t raw_bytes_limit(std::uint64_t total_bytes) noexcept;

} // namespace clbin::format

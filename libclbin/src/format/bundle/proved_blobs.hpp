// Raw bytes that were compared with their raw digest, from which new bundles and extracted files
// are made.
#pragma once

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_reader.hpp"

namespace clbin::format {

// Keeps the raw bytes of one reference, which is decompressed only once for consecutive calls for
// blobs compressed against it. `reader` must outlive this object. Not thread-safe.
class ProvedBlobs {
public:
  explicit ProvedBlobs(const BundleReader& reader) : m_reader(reader) {}

  // Returns the raw bytes of a blob. Errors: digest_mismatch if raw_digest is not theirs,
  // limit_exceeded if all calls together read more than raw_bytes_limit(), and those of
  // BundleReader::read_blob.
  [[nodiscard]] Result<Bytes> read(std::uint32_t index);
  // Checks that raw_digest is that of the raw bytes. The caller provides the frame. Returns the
  // digest of the raw bytes, which is not the one in BLOB if the bundle is encrypted. Errors as for
  // read().
  [[nodiscard]] Result<Digest> check(std::uint32_t index, ByteView frame);
  // Returns the same for a blob that was read or checked, or whose dependent was.
  [[nodiscard]] const Digest& digest(std::uint32_t index) const { return m_digests.at(index); }

  // Sorts blobs so that each frame is decompressed once. Errors: any error of BundleReader::blob.
  [[nodiscard]] static Result<void> sort_by_reference(const BundleReader& reader,
                                                      std::vector<std::uint32_t>& blobs);

private:
  [[nodiscard]] Result<Bytes> decompress(std::uint32_t index, const BlobView& blob, ByteView frame);
  [[nodiscard]] Result<void> hold_reference(std::uint32_t index);
  [[nodiscard]] Result<void> prove(std::uint32_t index, const BlobView& blob, ByteView raw);
  [[nodiscard]] Result<void> charge(std::uint64_t raw_bytes);

  const BundleReader& m_reader;
  base::ZstdDecompressor m_decompressor;
  std::optional<std::uint32_t> m_held; // the blob whose proved raw bytes are in m_reference
  Bytes m_reference;
  std::map<std::uint32_t, Digest> m_digests; // of raw bytes
  std::uint64_t m_raw_bytes = 0;
};

// Returns how many raw bytes of a bundle of `total_bytes` are read to prove digests: more than real
// device binaries can have, but linear in the size of the file.
[[nodiscard]] std::uint64_t raw_bytes_limit(std::uint64_t total_bytes) noexcept;

} // namespace clbin::format

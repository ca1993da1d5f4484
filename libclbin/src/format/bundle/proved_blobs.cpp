#include "format/bundle/proved_blobs.hpp"

namespace clbin::format {

using base::ByteRegion;

Result<Bytes> ProvedBlobs::read(std::uint32_t index) {
  if (m_held == index) {
    CLBIN_TRY(charge(m_reference.size())); // the caller writes each copy
    return m_reference;
  }
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  CLBIN_TRY_ASSIGN(const ByteRegion frame, m_reader.read_frame(index));
  return decompress(index, blob, frame.view());
}

Result<Digest> ProvedBlobs::check(std::uint32_t index, ByteView frame) {
  if (m_held == index) {
    return digest(index);
  }
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  if (content_codec(blob) == BlobCodec::stored) {
    CLBIN_TRY(prove(index, blob, frame)); // without a copy
  } else {
    CLBIN_TRY(decompress(index, blob, frame));
  }
  return digest(index);
}

Result<void> ProvedBlobs::prove(std::uint32_t index, const BlobView& blob, ByteView raw) {
  // The reader has checked the stored digest, which is over the same bytes if they are stored.
  const Digest raw_digest = static_cast<BlobCodec>(blob.codec) == BlobCodec::stored
                                ? blob.stored_digest
                                : base::digest_of(raw);
  if (m_reader.table_digest(raw_digest) != blob.raw_digest) {
    return fail(ErrorCode::digest_mismatch, "blob {}: raw_digest does not match its raw bytes",
                index);
  }
  m_digests.insert_or_assign(index, raw_digest);
  return {};
}

Result<Bytes> ProvedBlobs::decompress(std::uint32_t index, const BlobView& blob, ByteView frame) {
  CLBIN_TRY(charge(blob.raw_bytes));
  if (blob.has_reference() && m_held != blob.reference) {
    CLBIN_TRY(hold_reference(blob.reference));
  }
  CLBIN_TRY_ASSIGN(Bytes raw, m_reader.decompress(index, frame, m_reference, m_decompressor));
  CLBIN_TRY(prove(index, blob, raw));
  return raw;
}

Result<void> ProvedBlobs::hold_reference(std::uint32_t index) {
  m_held.reset();
  m_reference = {};
  CLBIN_TRY_ASSIGN(const BlobView blob, m_reader.blob(index));
  if (blob.has_reference()) {
    return {}; // BundleReader::decompress rejects the blob that refers to it
  }
  CLBIN_TRY(charge(blob.raw_bytes));
  CLBIN_TRY_ASSIGN(const ByteRegion frame, m_reader.read_frame(index));
  CLBIN_TRY_ASSIGN(m_reference, m_reader.decompress(index, frame.view(), {}, m_decompressor));
  CLBIN_TRY(prove(index, blob, m_reference));
  m_held = index;
  return {};
}

Result<void> ProvedBlobs::charge(std::uint64_t raw_bytes) {
  const std::uint64_t limit = raw_bytes_limit(m_reader.total_bytes());
  if (raw_bytes > limit - m_raw_bytes) {
    return fail(ErrorCode::limit_exceeded, "its payloads have more than {} raw bytes", limit);
  }
  m_raw_bytes += raw_bytes;
  return {};
}

Result<void> ProvedBlobs::sort_by_reference(const BundleReader& reader,
                                            std::vector<std::uint32_t>& blobs) {
  // Places a reference directly after the blobs compressed against it, when its raw bytes are in
  // memory.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed;
  keyed.reserve(blobs.size());
  for (const std::uint32_t index : blobs) {
    CLBIN_TRY_ASSIGN(const BlobView blob, reader.blob(index));
    const bool alone = !blob.has_reference();
    const std::uint64_t family = alone ? index : blob.reference;
    keyed.emplace_back(2 * family + (alone ? 1 : 0), index);
  }
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), blobs.begin(),
                 [](const auto& one) { return one.second; });
  return {};
}

std::uint64_t raw_bytes_limit(std::uint64_t total_bytes) noexcept {
  constexpr std::uint64_t k_always = 1ULL << 30U; // the maximum of one payload
  return limit_for_file(total_bytes, k_always, 256);
}

} // namespace clbin::format

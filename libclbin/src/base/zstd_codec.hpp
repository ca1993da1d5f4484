// zstd frames, alone or against a prefix (a "reference").
#pragma once

#include "base/byte_codec.hpp"

#include <memory>

namespace clbin::base {

// One frame. It depends on raw, reference, level and the libzstd version only. `reference` may be
// empty; the window covers reference and raw. ErrorCode::out_of_memory, internal.
[[nodiscard]] Result<Bytes> zstd_compress(ByteView raw, ByteView reference, int level);

// Decompresses one frame into exactly `raw_bytes` bytes; safe on untrusted input. The caller has
// checked `raw_bytes` against its limits: that much is allocated, and nothing beyond it but zstd's
// own context (about 160 KiB). ErrorCode::damaged when the frame is not one as clbin(5) wants it,
// is followed by anything, or yields another size; out_of_memory.
[[nodiscard]] Result<Bytes> zstd_decompress(ByteView frame, ByteView reference,
                                            std::uint64_t raw_bytes);

// Decompresses many frames with one context, which saves a third of the time of small ones. Not
// thread-safe.
class ZstdDecompressor {
public:
  ZstdDecompressor();
  ~ZstdDecompressor();
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  // As zstd_decompress.
  [[nodiscard]] Result<Bytes> decompress(ByteView frame, ByteView reference,
                                         std::uint64_t raw_bytes);

private:
  struct State;
  std::unique_ptr<State> m_state;
};

// "1.5.4"
[[nodiscard]] std::string_view zstd_version() noexcept;

} // namespace clbin::base

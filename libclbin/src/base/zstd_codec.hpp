// zstd frames, independent or with a prefix (a "reference").
#pragma once

#include "base/byte_codec.hpp"

struct ZSTD_DCtx_s; // of zstd

namespace clbin::base {

// Returns one frame, which depends only on raw, reference, level and the libzstd version.
// `reference` may be empty; the window covers reference and raw. Errors: ErrorCode::out_of_memory,
// internal.
[[nodiscard]] Result<Bytes> zstd_compress(ByteView raw, ByteView reference, int level);

// Decompresses many frames with one context, which saves a third of the time for small frames. Not
// thread-safe.
class ZstdDecompressor {
public:
  // Decompresses one frame into exactly `raw_bytes` bytes. Safe on untrusted input. The caller must
  // check `raw_bytes` against its limits first: this function allocates that many bytes, and
  // otherwise only zstd's context (about 160 KiB). Errors: ErrorCode::damaged if the frame violates
  // clbin(5), is followed by other bytes, or has another size; out_of_memory.
  [[nodiscard]] Result<Bytes> decompress(ByteView frame, ByteView reference,
                                         std::uint64_t raw_bytes);

private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> m_context;
};

// "1.5.4"
[[nodiscard]] std::string_view zstd_version() noexcept;

} // namespace clbin::base

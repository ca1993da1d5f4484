// zstd frames, alone or against a prefix (a "reference").
#pragma once

#include "base/byte_codec.hpp"

#include <memory>

namespace clbin::base {

// One compression context, reused; not thread-safe. The frame depends on raw, reference, level and
// the libzstd version only.
class ZstdCompressor {
public:
  ZstdCompressor();
  ~ZstdCompressor();
  ZstdCompressor(ZstdCompressor&&) noexcept;
  ZstdCompressor& operator=(ZstdCompressor&&) noexcept;

  // `reference` may be empty. The window covers reference and raw. ErrorCode::out_of_memory.
  [[nodiscard]] Result<Bytes> compress(ByteView raw, ByteView reference, int level);

private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Decompresses one frame into exactly `raw_bytes` bytes; safe on untrusted input. The caller has
// checked `raw_bytes` against its limits: that much is allocated, and nothing beyond it but zstd's
// own context (about 160 KiB). ErrorCode::damaged when the frame is not one, is followed by
// anything, or yields another size; out_of_memory.
[[nodiscard]] Result<Bytes> zstd_decompress(ByteView frame, ByteView reference,
                                            std::uint64_t raw_bytes);

// "1.5.4"
[[nodiscard]] std::string_view zstd_version() noexcept;

} // namespace clbin::base

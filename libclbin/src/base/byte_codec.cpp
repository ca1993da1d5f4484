#include "base/byte_codec.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace clbin::base {

Result<Bytes> allocate_bytes(std::uint64_t size_bytes, std::string_view purpose) {
  try {
    if (size_bytes <= Bytes().max_size()) {
      return Bytes(static_cast<std::size_t>(size_bytes));
    }
  } catch (const std::bad_alloc&) {
  }
  return fail(ErrorCode::out_of_memory, "no memory for {} bytes of {}", size_bytes, purpose);
}

Result<ByteView> ByteReader::read_bytes(std::size_t size_bytes, std::string_view field) {
  if (size_bytes > remaining()) {
    return fail(ErrorCode::truncated, "{}: {} at offset {} needs {} bytes, {} are left", m_origin,
                field, m_offset, size_bytes, remaining());
  }
  const ByteView bytes = m_bytes.subspan(m_offset, size_bytes);
  m_offset += size_bytes;
  return bytes;
}

Result<std::string_view> ByteReader::read_text(std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::uint32_t size_bytes, read_u32(field));
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(size_bytes, field));
  return as_text(bytes);
}

Result<void> ByteReader::require_zero(std::size_t size_bytes, std::string_view field) {
  const std::size_t start = m_offset;
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(size_bytes, field));
  const auto wrong =
      std::ranges::find_if(bytes, [](std::byte value) { return value != std::byte{0}; });
  if (wrong != bytes.end()) {
    const std::size_t offset = start + static_cast<std::size_t>(wrong - bytes.begin());
    return fail(ErrorCode::damaged, "{}: {} at offset {} is 0x{:02x} and not zero", m_origin, field,
                offset, std::to_integer<unsigned>(*wrong));
  }
  return {};
}

Result<void> ByteReader::require_end() const {
  if (remaining() != 0) {
    return fail(ErrorCode::damaged, "{}: {} unknown bytes at offset {}", m_origin, remaining(),
                m_offset);
  }
  return {};
}

void ByteWriter::write_bytes(ByteView bytes) {
  m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

void ByteWriter::write_text(std::string_view text) {
  assert(text.size() <= 0xffffffffU);
  write_u32(static_cast<std::uint32_t>(text.size()));
  write_bytes(as_bytes(text));
}

void ByteWriter::align(std::size_t alignment) {
  assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
  write_zeros((alignment - (m_bytes.size() & (alignment - 1))) & (alignment - 1));
}

} // namespace clbin::base

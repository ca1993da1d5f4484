#include "base/byte_codec.hpp"

#include <algorithm>
#include <cassert>

namespace clbin::base {

namespace {

template <typename Unsigned>
Unsigned from_little_endian(ByteView bytes) noexcept {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    value = static_cast<Unsigned>(
        value | static_cast<Unsigned>(std::to_integer<Unsigned>(bytes[i]) << (8U * i)));
  }
  return value;
}

template <typename Unsigned>
void append_little_endian(Bytes& bytes, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    bytes.push_back(static_cast<std::byte>((value >> (8U * i)) & 0xffU));
  }
}

} // namespace

ByteView as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteReader::ByteReader(ByteView bytes, std::string_view origin) noexcept
    : m_bytes(bytes), m_origin(origin) {}

Result<std::uint8_t> ByteReader::read_u8(std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(sizeof(std::uint8_t), field));
  return from_little_endian<std::uint8_t>(bytes);
}

Result<std::uint16_t> ByteReader::read_u16(std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(sizeof(std::uint16_t), field));
  return from_little_endian<std::uint16_t>(bytes);
}

Result<std::uint32_t> ByteReader::read_u32(std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(sizeof(std::uint32_t), field));
  return from_little_endian<std::uint32_t>(bytes);
}

Result<std::uint64_t> ByteReader::read_u64(std::string_view field) {
  CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(sizeof(std::uint64_t), field));
  return from_little_endian<std::uint64_t>(bytes);
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
  const auto wrong = std::find_if(bytes.begin(), bytes.end(),
                                  [](std::byte value) { return value != std::byte{0}; });
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

void ByteWriter::write_u8(std::uint8_t value) {
  append_little_endian(m_bytes, value);
}

void ByteWriter::write_u16(std::uint16_t value) {
  append_little_endian(m_bytes, value);
}

void ByteWriter::write_u32(std::uint32_t value) {
  append_little_endian(m_bytes, value);
}

void ByteWriter::write_u64(std::uint64_t value) {
  append_little_endian(m_bytes, value);
}

void ByteWriter::write_bytes(ByteView bytes) {
  m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

void ByteWriter::write_text(std::string_view text) {
  assert(text.size() <= 0xffffffffU);
  write_u32(static_cast<std::uint32_t>(text.size()));
  write_bytes(as_bytes(text));
}

void ByteWriter::write_zeros(std::size_t count) {
  m_bytes.resize(m_bytes.size() + count);
}

void ByteWriter::align(std::size_t alignment) {
  assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
  write_zeros((alignment - (m_bytes.size() & (alignment - 1))) & (alignment - 1));
}

void ByteWriter::patch_u64(std::size_t offset, std::uint64_t value) {
  assert(offset <= m_bytes.size() && m_bytes.size() - offset >= sizeof value);
  for (std::size_t i = 0; i < sizeof value; ++i) {
    m_bytes[offset + i] = static_cast<std::byte>((value >> (8U * i)) & 0xffU);
  }
}

} // namespace clbin::base

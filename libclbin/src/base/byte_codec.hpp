// Reads and writes little-endian bytes. Every read names its field, and error messages contain that
// name.
#pragma once

#include "base/result.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace clbin::base {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

[[nodiscard]] inline ByteView as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
// Error: out_of_memory, which names the purpose.
[[nodiscard]] Result<Bytes> allocate_bytes(std::uint64_t size_bytes, std::string_view purpose);

template <std::unsigned_integral Unsigned>
[[nodiscard]] constexpr std::array<std::byte, sizeof(Unsigned)> little_endian(Unsigned value) {
  std::array<std::byte, sizeof(Unsigned)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((value >> (8U * i)) & 0xffU);
  }
  return bytes;
}
// `bytes` has as many bytes as the number.
template <std::unsigned_integral Unsigned>
[[nodiscard]] constexpr Unsigned from_little_endian(ByteView bytes) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    value = static_cast<Unsigned>(value | (std::to_integer<std::uint64_t>(bytes[i]) << (8U * i)));
  }
  return value;
}

// Consumes a view from the front and never reads outside it. A read beyond the end returns
// ErrorCode::truncated with the field, the offset, the bytes required and the bytes left. Returned
// views are valid as long as the bytes passed to the constructor.
class ByteReader {
public:
  // `origin` names the input in messages ("prefix", "directory of 'a.clbin'") and must outlive the
  // reader.
  ByteReader(ByteView bytes, std::string_view origin) noexcept : m_bytes(bytes), m_origin(origin) {}

  [[nodiscard]] Result<std::uint8_t> read_u8(std::string_view field) {
    return read_number<std::uint8_t>(field);
  }
  [[nodiscard]] Result<std::uint16_t> read_u16(std::string_view field) {
    return read_number<std::uint16_t>(field);
  }
  [[nodiscard]] Result<std::uint32_t> read_u32(std::string_view field) {
    return read_number<std::uint32_t>(field);
  }
  [[nodiscard]] Result<std::uint64_t> read_u64(std::string_view field) {
    return read_number<std::uint64_t>(field);
  }
  [[nodiscard]] Result<ByteView> read_bytes(std::size_t size_bytes, std::string_view field);
  // Reads a u32 length and that many bytes.
  [[nodiscard]] Result<std::string_view> read_text(std::string_view field);
  // Returns ErrorCode::damaged unless the next `size_bytes` bytes are zero.
  [[nodiscard]] Result<void> require_zero(std::size_t size_bytes, std::string_view field);
  // Returns ErrorCode::damaged unless every byte was read.
  [[nodiscard]] Result<void> require_end() const;

  [[nodiscard]] std::size_t offset() const noexcept { return m_offset; }
  [[nodiscard]] std::size_t remaining() const noexcept { return m_bytes.size() - m_offset; }

private:
  template <typename Unsigned>
  [[nodiscard]] Result<Unsigned> read_number(std::string_view field) {
    CLBIN_TRY_ASSIGN(const ByteView bytes, read_bytes(sizeof(Unsigned), field));
    return from_little_endian<Unsigned>(bytes);
  }

  ByteView m_bytes;
  std::string_view m_origin;
  std::size_t m_offset = 0;
};

// Appends to a vector that it owns.
class ByteWriter {
public:
  void write_u8(std::uint8_t value) { write_bytes(little_endian(value)); }
  void write_u16(std::uint16_t value) { write_bytes(little_endian(value)); }
  void write_u32(std::uint32_t value) { write_bytes(little_endian(value)); }
  void write_u64(std::uint64_t value) { write_bytes(little_endian(value)); }
  // Not inline: gcc 12 with -O3 warns of an overflow in std::vector<std::byte>::insert that
  // cannot happen, for a caller that begins with two numbers.
  void write_bytes(ByteView bytes);
  // Writes a u32 length and the bytes. `text` must be shorter than 4 GiB.
  void write_text(std::string_view text);
  void write_zeros(std::size_t count) { m_bytes.resize(m_bytes.size() + count); }
  // Writes zeros up to the next multiple of `alignment`, a power of two.
  void align(std::size_t alignment);

  [[nodiscard]] std::size_t size() const noexcept { return m_bytes.size(); }
  [[nodiscard]] ByteView view() const noexcept { return m_bytes; }
  [[nodiscard]] Bytes take() && noexcept { return std::move(m_bytes); }

private:
  Bytes m_bytes;
};

} // namespace clbin::base

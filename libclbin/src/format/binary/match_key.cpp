#include "format/binary/binary_kind.hpp"

#include <algorithm>

// clbin(5), MATCH KEYS, specifies the layout.
namespace clbin::format {
namespace {

constexpr unsigned k_kind_shift = 56;
constexpr std::uint16_t k_last_kind = 13;
constexpr std::size_t k_digest_bytes = 7;

// Writes the 56 bits below the kind, from the top.
class KeyWriter {
public:
  void add(std::uint64_t value, unsigned bits) {
    m_left -= bits;
    m_key |= (value & ((std::uint64_t{1} << bits) - 1)) << m_left;
  }
  // Writes numbers above 255 as 255, which preserves the order.
  void add_number(std::uint16_t value) { add(std::min<std::uint16_t>(value, 0xff), 8); }
  [[nodiscard]] std::uint64_t key() const { return m_key; }

private:
  std::uint64_t m_key = 0;
  unsigned m_left = k_kind_shift;
};

class KeyReader {
public:
  explicit KeyReader(std::uint64_t key) : m_key(key) {}

  std::uint16_t take(unsigned bits) {
    m_left -= bits;
    return static_cast<std::uint16_t>((m_key >> m_left) & ((std::uint64_t{1} << bits) - 1));
  }

private:
  std::uint64_t m_key;
  unsigned m_left = k_kind_shift;
};

bool has_fields(BinaryKind kind) {
  return kind >= BinaryKind::ptx && kind <= BinaryKind::spirv;
}

std::uint64_t field_bits(const BinaryInfo& info) {
  KeyWriter writer;
  writer.add_number(info.arch_major);
  writer.add_number(info.arch_minor);
  writer.add_number(info.arch_stepping);
  if (info.kind == BinaryKind::intel_zebin) {
    writer.add(info.product_family, 16);
  } else {
    writer.add_number(info.format_major);
    writer.add_number(info.format_minor);
  }
  writer.add(static_cast<unsigned char>(info.arch_suffix), 8);
  writer.add(0, 1);
  writer.add(static_cast<std::uint64_t>(info.ptx_flavour), 1);
  writer.add(info.address_bits / 32U, 2);
  writer.add(static_cast<std::uint64_t>(info.sramecc), 2);
  writer.add(static_cast<std::uint64_t>(info.xnack), 2);
  return writer.key();
}

std::uint64_t digest_bits(const base::Digest& digest) {
  KeyWriter writer;
  for (std::size_t index = 0; index < k_digest_bytes; ++index) {
    writer.add(std::to_integer<std::uint64_t>(digest.bytes[index]), 8);
  }
  return writer.key();
}

} // namespace

std::uint64_t match_key(const BinaryInfo& info, const base::Digest& target) noexcept {
  const std::uint64_t kind = (static_cast<std::uint64_t>(info.kind) & 0xffU) << k_kind_shift;
  return kind | (has_fields(info.kind) ? field_bits(info) : digest_bits(target));
}

BinaryInfo info_from_match_key(std::uint64_t key) noexcept {
  const auto kind = static_cast<std::uint16_t>(key >> k_kind_shift);
  BinaryInfo info;
  info.kind = kind > k_last_kind ? BinaryKind::unknown : static_cast<BinaryKind>(kind);
  if (!has_fields(info.kind)) {
    return info;
  }
  KeyReader reader(key);
  info.arch_major = reader.take(8);
  info.arch_minor = reader.take(8);
  info.arch_stepping = reader.take(8);
  if (info.kind == BinaryKind::intel_zebin) {
    info.product_family = reader.take(16);
  } else {
    info.format_major = reader.take(8);
    info.format_minor = reader.take(8);
  }
  info.arch_suffix = static_cast<char>(reader.take(8));
  reader.take(1);
  info.ptx_flavour = reader.take(1) == 0 ? PtxFlavour::nvcl : PtxFlavour::cuda;
  info.address_bits = static_cast<std::uint8_t>(reader.take(2) * 32U);
  info.sramecc = static_cast<AmdFeature>(reader.take(2));
  info.xnack = static_cast<AmdFeature>(reader.take(2));
  return info;
}

} // namespace clbin::format

#include "format/binary/cubin_header.hpp"

namespace clbin::format {
namespace {

// Two layouts, both determined from cubins that ptxas made (12.4.131 and 13.0.88). Names are those
// of LLVM's llvm/include/llvm/BinaryFormat/ELF.h:
//
//   EI_OSABI 0x33, EI_ABIVERSION 7 (to CUDA 12): bits 0..7 of e_flags are the sm number
//   (EF_CUDA_SM), bit 11 the suffix 'a' (EF_CUDA_ACCELERATORS_V1), bits 16..23 the virtual sm.
//       sm_50 0x00320532   sm_80 0x00500550   sm_90 0x005a055a   sm_90a 0x005a0d5a
//
//   EI_OSABI 0x41, EI_ABIVERSION 8 (CUDA 13): bits 8..15 are the sm number (EF_CUDA_SM_MASK).
//       sm_75 0x06004b04   sm_80 0x06005004   sm_90 and sm_90a 0x06005a04
//       sm_100, sm_100a and sm_100f 0x06006402   sm_121 and sm_121a 0x06007902
//   None of them sets EF_CUDA_ACCELERATORS (bit 3). Attribute 9 of the section .nv.compat (type
//   0x70000086, for sm_90 and above) contains the suffix: 1 for 'a', 0 for none and for 'f'. The
//   cubins of sm_100 and sm_100f differ only in the note of ptxas's command line.
constexpr std::uint8_t k_abi_version_2 = 8;
constexpr std::uint32_t k_sm_mask = 0xffU;
constexpr std::uint32_t k_sm_shift_2 = 8;
constexpr std::uint32_t k_accelerators_1 = 0x800U;
constexpr std::uint32_t k_accelerators_2 = 0x8U;
constexpr std::uint32_t k_section_compat = 0x70000086U;
constexpr std::uint8_t k_attribute_accelerator_target = 9;
constexpr std::uint8_t k_format_sized = 4;

struct CompatAttribute {
  std::uint8_t number = 0;
  std::uint16_t value = 0;
};

// Attributes of .nv.compat: format 1, number 1, value 2; format 4 is followed by `value` bytes.
base::Result<CompatAttribute> read_attribute(base::ByteReader& reader) {
  CompatAttribute attribute;
  CLBIN_TRY_ASSIGN(const std::uint8_t format, reader.read_u8("format"));
  CLBIN_TRY_ASSIGN(attribute.number, reader.read_u8("attribute"));
  CLBIN_TRY_ASSIGN(attribute.value, reader.read_u16("value"));
  if (format == k_format_sized) {
    CLBIN_TRY(reader.read_bytes(attribute.value, "payload"));
  }
  return attribute;
}

bool has_accelerator_attribute(base::ByteView section) {
  base::ByteReader reader(section, ".nv.compat");
  while (reader.remaining() != 0) {
    const auto attribute = read_attribute(reader);
    if (!attribute) {
      return false;
    }
    if (attribute->number == k_attribute_accelerator_target) {
      return (attribute->value & 0xffU) != 0;
    }
  }
  return false;
}

bool is_accelerated(const ElfObject& object) {
  if (object.abi_version < k_abi_version_2) {
    return (object.flags & k_accelerators_1) != 0;
  }
  if ((object.flags & k_accelerators_2) != 0) {
    return true;
  }
  for (const ElfSection& section : object.sections) {
    if (section.type == k_section_compat) {
      return has_accelerator_attribute(section.bytes);
    }
  }
  return false;
}

} // namespace

BinaryInfo read_cubin(const ElfObject& object) {
  const std::uint32_t shift = object.abi_version < k_abi_version_2 ? 0 : k_sm_shift_2;
  const auto sm = static_cast<std::uint16_t>((object.flags >> shift) & k_sm_mask);
  BinaryInfo info;
  info.kind = BinaryKind::cubin;
  info.address_bits = object.address_bits;
  info.arch_major = sm / 10;
  info.arch_minor = sm % 10;
  info.arch_suffix = is_accelerated(object) ? 'a' : '\0';
  return info;
}

} // namespace clbin::format

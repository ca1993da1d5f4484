#include "format/binary/binary_kind.hpp"

#include "format/binary/binary_kernels.hpp"
#include "format/binary/elf_object.hpp"

namespace clbin::format {
namespace {

using Classifier = Result<BinaryInfo> (*)(ByteView);

constexpr std::uint32_t k_spirv_magic = 0x07230203U;
constexpr std::string_view k_bitcode_magic = "BC\xC0\xDE";

BinaryInfo info_of(BinaryKind kind) {
  BinaryInfo info;
  info.kind = kind;
  return info;
}

Result<BinaryInfo> not_recognised() {
  return fail(ErrorCode::damaged, "not recognised");
}

Result<BinaryInfo> classify_elf(ByteView bytes) {
  const auto object = parse_elf(bytes);
  if (!object) {
    return not_recognised();
  }
  if (is_zebin(*object)) {
    return read_intel_zebin(*object);
  }
  if (object->machine == k_elf_machine_cuda) {
    return read_cubin(*object);
  }
  if (object->machine == k_elf_machine_amdgpu) {
    return read_amd_code_object(*object);
  }
  return not_recognised();
}

template <BinaryKind kind>
Result<BinaryInfo> classify_by_magic(ByteView /*bytes*/) {
  return info_of(kind);
}

// LLVM's wrapper: magic, version, offset, size, CPU type; the bitcode is at `offset`.
Result<BinaryInfo> classify_wrapped_bitcode(ByteView bytes) {
  ByteReader reader(bytes, "bitcode wrapper");
  CLBIN_TRY(reader.read_u32("magic"));
  CLBIN_TRY(reader.read_u32("version"));
  CLBIN_TRY_ASSIGN(const std::uint32_t offset, reader.read_u32("offset"));
  CLBIN_TRY_ASSIGN(const std::uint32_t size_bytes, reader.read_u32("size"));
  CLBIN_TRY(reader.read_u32("CPU type"));
  if (offset > bytes.size() || size_bytes > bytes.size() - offset ||
      !base::as_text(bytes.subspan(offset, size_bytes)).starts_with(k_bitcode_magic)) {
    return not_recognised();
  }
  return info_of(BinaryKind::llvm_bitcode);
}

// Reads a u32 format version after `at` bytes.
template <BinaryKind kind, std::size_t at>
Result<BinaryInfo> classify_versioned(ByteView bytes) {
  ByteReader reader(bytes, "header");
  CLBIN_TRY(reader.read_bytes(at, "magic"));
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
  if (version > 0xffffU) {
    return not_recognised();
  }
  BinaryInfo info = info_of(kind);
  info.format_major = static_cast<std::uint16_t>(version);
  return info;
}

// Header: "CCOB", u16 version.
Result<BinaryInfo> classify_compressed_bundle(ByteView bytes) {
  ByteReader reader(bytes, "header");
  CLBIN_TRY(reader.read_u32("magic"));
  BinaryInfo info = info_of(BinaryKind::offload_bundle);
  CLBIN_TRY_ASSIGN(info.format_major, reader.read_u16("version"));
  return info;
}

// The format of Mesa 22.3's rusticl, from a real binary: version 1, size of the SPIR-V in bytes,
// CL_PROGRAM_BINARY_TYPE (1, 2 or 4), and the SPIR-V, followed by nothing. Later versions of Mesa
// begin with the magic "rusticl".
Result<BinaryInfo> classify_old_rusticl(ByteView bytes) {
  ByteReader reader(bytes, "header");
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
  CLBIN_TRY_ASSIGN(const std::uint32_t spirv_bytes, reader.read_u32("SPIR-V bytes"));
  CLBIN_TRY_ASSIGN(const std::uint32_t type, reader.read_u32("binary type"));
  const bool is_type_known = type == 1 || type == 2 || type == 4;
  if (version != 1 || !is_type_known || spirv_bytes != reader.remaining()) {
    return not_recognised();
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("SPIR-V magic"));
  if (magic != k_spirv_magic) {
    return not_recognised();
  }
  BinaryInfo info = info_of(BinaryKind::rusticl);
  info.format_major = 1;
  return info;
}

struct Magic {
  std::string_view bytes;
  Classifier classify;
};

using namespace std::string_view_literals;

constexpr std::array k_magics{
    Magic{"\x7f"
          "ELF"sv,
          classify_elf},
    Magic{"\x03\x02\x23\x07"sv, read_spirv_header},
    Magic{"\x07\x23\x02\x03"sv, read_spirv_header},
    Magic{k_bitcode_magic, classify_by_magic<BinaryKind::llvm_bitcode>},
    Magic{"\xDE\xC0\x17\x0B"sv, classify_wrapped_bitcode},
    Magic{"poclbin\0"sv, classify_versioned<BinaryKind::poclbin, 16>}, // after the device's hash
    Magic{"rusticl\0"sv, classify_versioned<BinaryKind::rusticl, 8>},
    Magic{"clvk"sv, classify_versioned<BinaryKind::clvk, 4>},
    Magic{"!<arch>\n"sv, classify_by_magic<BinaryKind::ar_archive>},
    Magic{"\x50\xED\x55\xBA"sv, classify_by_magic<BinaryKind::nvidia_fatbin>},
    Magic{"__CLANG_OFFLOAD_BUNDLE__"sv, classify_by_magic<BinaryKind::offload_bundle>},
    Magic{"CCOB"sv, classify_compressed_bundle},
    Magic{"\x10\xFF\x10\xAD"sv, classify_versioned<BinaryKind::offload_binary, 4>},
    Magic{"\x01\0\0\0"sv, classify_old_rusticl},
};

struct KindName {
  std::string_view name;
  std::string_view description; // without the fields of BinaryInfo
};

// By number.
constexpr std::array k_kinds{
    KindName{"unknown", "unknown binary"},
    KindName{"ptx", ""},
    KindName{"cubin", ""},
    KindName{"amd-code-object", "AMD code object of an unknown processor"},
    KindName{"intel-zebin", "Intel zebin"},
    KindName{"spirv", ""},
    KindName{"llvm-bitcode", "LLVM bitcode"},
    KindName{"poclbin", "PoCL binary"},
    KindName{"rusticl", "rusticl binary"},
    KindName{"clvk", "clvk binary"},
    KindName{"ar-archive", "ar archive"},
    KindName{"nvidia-fatbin", "NVIDIA fat binary"},
    KindName{"offload-bundle", "Clang offload bundle"},
    KindName{"offload-binary", "LLVM offload binary"},
};

const KindName& names_of_kind(BinaryKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  return k_kinds[number < k_kinds.size() ? number : 0];
}

// Match keys: clbin(5), MATCH KEYS. ---------------------------------------------------------------

constexpr unsigned k_kind_shift = 56;

bool has_fields(BinaryKind kind) {
  return kind >= BinaryKind::ptx && kind <= BinaryKind::spirv;
}

// Calls `field(member, bits, unit)` for each field below the kind, from the top. The key contains
// `member` divided by `unit`.
void visit_key(auto& info, const auto& field) {
  field(info.arch_major, 8U, 1U);
  field(info.arch_minor, 8U, 1U);
  field(info.arch_stepping, 8U, 1U);
  if (info.kind == BinaryKind::intel_zebin) {
    field(info.product_family, 16U, 1U);
  } else {
    field(info.format_major, 8U, 1U);
    field(info.format_minor, 8U, 1U);
  }
  field(info.arch_suffix, 8U, 1U);
  field(info.ptx_flavour, 2U, 1U); // below a bit that is 0
  field(info.address_bits, 2U, 32U);
  field(info.sramecc, 2U, 1U);
  field(info.xnack, 2U, 1U);
}

std::uint64_t field_bits(const BinaryInfo& info) {
  std::uint64_t key = 0;
  visit_key(info, [&key](auto member, unsigned bits, unsigned unit) {
    // Numbers that are too large become the largest one, which preserves the order.
    const std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    using Member =
        std::conditional_t<std::is_same_v<decltype(member), char>, unsigned char, decltype(member)>;
    const auto value = static_cast<std::uint64_t>(static_cast<Member>(member)) / unit;
    key = (key << bits) | std::min(value, most);
  });
  return key;
}

std::uint64_t digest_bits(const Digest& digest) {
  std::uint64_t key = 0;
  for (std::size_t index = 0; index < k_kind_shift / 8; ++index) {
    key = (key << 8U) | std::to_integer<std::uint64_t>(digest.bytes[index]);
  }
  return key;
}

} // namespace

std::string_view to_string(BinaryKind kind) noexcept {
  return names_of_kind(kind).name;
}

std::string sm_name(const BinaryInfo& info) {
  return fmt::format("sm_{}{}{}", info.arch_major, info.arch_minor,
                     info.arch_suffix == '\0' ? "" : std::string(1, info.arch_suffix));
}

BinaryInfo classify_binary(ByteView bytes) {
  const std::string_view text = base::as_text(bytes);
  for (const Magic& magic : k_magics) {
    if (text.starts_with(magic.bytes)) {
      return magic.classify(bytes).value_or(BinaryInfo{});
    }
  }
  return read_ptx_header(text).value_or(BinaryInfo{});
}

// llama.cpp, ggml/src/ggml-opencl/cl-program-cache.cpp: the magic, u32 version, u32 0, the binary.
std::string_view name_of_foreign_file(ByteView start) noexcept {
  return base::as_text(start).starts_with("GGMLCLBC")
             ? "a file of llama.cpp's cache of OpenCL programs"
             : "";
}

std::string describe(const BinaryInfo& info) {
  std::string name(names_of_kind(info.kind).description);
  switch (info.kind) {
  case BinaryKind::ptx:
    return fmt::format("PTX {}.{} for {}{}", info.format_major, info.format_minor, sm_name(info),
                       info.ptx_flavour == PtxFlavour::cuda ? " (CUDA flavour)" : "");
  case BinaryKind::cubin:
    return fmt::format("cubin {}", sm_name(info));
  case BinaryKind::amd_code_object:
    return info.has_architecture() ? fmt::format("AMD code object {}", amd_target_name(info))
                                   : name;
  case BinaryKind::intel_zebin:
    if (info.has_architecture()) {
      return fmt::format("{} {}.{}.{}", name, info.arch_major, info.arch_minor, info.arch_stepping);
    }
    return info.product_family == 0
               ? name
               : fmt::format("{} of product family {}", name, info.product_family);
  case BinaryKind::spirv:
    return fmt::format("SPIR-V {}.{}", info.arch_major, info.arch_minor);
  case BinaryKind::poclbin:
  case BinaryKind::rusticl:
  case BinaryKind::clvk: // match keys do not contain the format version, which is 0 for them
    return info.format_major == 0 ? name : fmt::format("{}, format {}", name, info.format_major);
  default:
    return name;
  }
}

std::string describe(const BinaryInfo& info, std::string_view platform) {
  const bool is_named = info.kind == BinaryKind::unknown && !platform.empty();
  return is_named ? fmt::format("{} binary", platform) : describe(info);
}

std::uint64_t match_key(const BinaryInfo& info, const Digest& target) noexcept {
  const std::uint64_t kind = (static_cast<std::uint64_t>(info.kind) & 0xffU) << k_kind_shift;
  return kind | (has_fields(info.kind) ? field_bits(info) : digest_bits(target));
}

BinaryInfo info_from_match_key(std::uint64_t key) noexcept {
  const std::uint64_t kind = key >> k_kind_shift;
  BinaryInfo info;
  info.kind = kind < k_kinds.size() ? static_cast<BinaryKind>(kind) : BinaryKind::unknown;
  if (has_fields(info.kind)) {
    unsigned left = k_kind_shift;
    visit_key(info, [&](auto& member, unsigned bits, unsigned unit) {
      left -= bits;
      const std::uint64_t value = (key >> left) & ((std::uint64_t{1} << bits) - 1);
      member = static_cast<std::remove_reference_t<decltype(member)>>(value * unit);
    });
    info.ptx_flavour = static_cast<PtxFlavour>(static_cast<unsigned>(info.ptx_flavour) & 1U);
  }
  return info;
}

} // namespace clbin::format

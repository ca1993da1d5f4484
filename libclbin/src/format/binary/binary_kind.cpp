#include "format/binary/binary_kind.hpp"

#include "format/binary/amd_code_object.hpp"
#include "format/binary/cubin_header.hpp"
#include "format/binary/intel_zebin.hpp"
#include "format/binary/ptx_header.hpp"

#include <array>
#include <utility>

namespace clbin::format {
namespace {

using base::ByteReader;
using base::ByteView;

using Classifier = base::Result<BinaryInfo> (*)(ByteView);

constexpr std::string_view k_spirv_little = "\x03\x02\x23\x07";
constexpr std::string_view k_spirv_big = "\x07\x23\x02\x03";
constexpr std::uint32_t k_spirv_magic = 0x07230203U;
constexpr std::string_view k_bitcode_magic = "BC\xC0\xDE";

BinaryInfo info_of(BinaryKind kind) {
  BinaryInfo info;
  info.kind = kind;
  return info;
}

base::Result<BinaryInfo> not_recognised() {
  return base::fail(base::ErrorCode::damaged, "not recognised");
}

base::Result<BinaryInfo> classify_elf(ByteView bytes) {
  const auto object = parse_elf(bytes);
  if (!object) {
    return not_recognised();
  }
  if (is_zebin_type(object->type) || object->machine == k_elf_machine_intel_gt) {
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

std::uint32_t swap_bytes(std::uint32_t word) {
  return (word >> 24U) | ((word >> 8U) & 0xff00U) | ((word << 8U) & 0xff0000U) | (word << 24U);
}

// Reads words of a SPIR-V module in either byte order.
class SpirvReader {
public:
  explicit SpirvReader(ByteView bytes)
      : m_reader(bytes, "SPIR-V module"),
        m_is_swapped(base::as_text(bytes.first(4)) == k_spirv_big) {}

  base::Result<std::uint32_t> word(std::string_view field) {
    CLBIN_TRY_ASSIGN(const std::uint32_t value, m_reader.read_u32(field));
    return m_is_swapped ? swap_bytes(value) : value;
  }
  base::Result<void> skip(std::size_t words) {
    if (words > m_reader.remaining() / sizeof(std::uint32_t)) {
      return base::fail(base::ErrorCode::truncated, "instruction is not inside the module");
    }
    CLBIN_TRY(m_reader.read_bytes(words * sizeof(std::uint32_t), "operands"));
    return {};
  }

private:
  ByteReader m_reader;
  bool m_is_swapped;
};

// Returns the addressing model of OpMemoryModel: Logical 0, Physical32 1, Physical64 2 (SPIR-V 1.6,
// 3.4). Only capabilities, extensions and imports precede it.
base::Result<std::uint8_t> read_addressing_model(SpirvReader& reader) {
  constexpr std::uint32_t memory_model = 14;
  while (true) {
    CLBIN_TRY_ASSIGN(const std::uint32_t head, reader.word("instruction"));
    const std::uint32_t word_count = head >> 16U;
    if (word_count == 0) {
      return base::fail(base::ErrorCode::damaged, "instruction of no words");
    }
    if ((head & 0xffffU) == memory_model && word_count == 3) {
      CLBIN_TRY_ASSIGN(const std::uint32_t model, reader.word("addressing model"));
      return static_cast<std::uint8_t>(model == 1 || model == 2 ? model * 32 : 0);
    }
    CLBIN_TRY(reader.skip(word_count - 1));
  }
}

base::Result<BinaryInfo> classify_spirv(ByteView bytes) {
  SpirvReader reader(bytes);
  CLBIN_TRY(reader.word("magic"));
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.word("version"));
  CLBIN_TRY(reader.skip(3)); // generator, bound, schema
  if ((version & 0xff0000ffU) != 0) {
    return not_recognised();
  }
  BinaryInfo info = info_of(BinaryKind::spirv);
  info.arch_major = static_cast<std::uint16_t>(version >> 16U);
  info.arch_minor = static_cast<std::uint16_t>((version >> 8U) & 0xffU);
  CLBIN_TRY_ASSIGN(info.address_bits, read_addressing_model(reader));
  return info;
}

base::Result<BinaryInfo> classify_bitcode(ByteView) {
  return info_of(BinaryKind::llvm_bitcode);
}

// LLVM's wrapper: magic, version, offset, size, CPU type; the bitcode is at `offset`.
base::Result<BinaryInfo> classify_wrapped_bitcode(ByteView bytes) {
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
base::Result<BinaryInfo> classify_versioned(BinaryKind kind, ByteView bytes, std::size_t at) {
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

base::Result<BinaryInfo> classify_poclbin(ByteView bytes) {
  return classify_versioned(BinaryKind::poclbin, bytes, 16); // after the device's hash
}

base::Result<BinaryInfo> classify_rusticl(ByteView bytes) {
  return classify_versioned(BinaryKind::rusticl, bytes, 8);
}

base::Result<BinaryInfo> classify_clvk(ByteView bytes) {
  return classify_versioned(BinaryKind::clvk, bytes, 4);
}

base::Result<BinaryInfo> classify_offload_binary(ByteView bytes) {
  return classify_versioned(BinaryKind::offload_binary, bytes, 4);
}

base::Result<BinaryInfo> classify_offload_bundle(ByteView) {
  return info_of(BinaryKind::offload_bundle);
}

// Header: "CCOB", u16 version.
base::Result<BinaryInfo> classify_compressed_bundle(ByteView bytes) {
  ByteReader reader(bytes, "header");
  CLBIN_TRY(reader.read_u32("magic"));
  BinaryInfo info = info_of(BinaryKind::offload_bundle);
  CLBIN_TRY_ASSIGN(info.format_major, reader.read_u16("version"));
  return info;
}

base::Result<BinaryInfo> classify_ar(ByteView) {
  return info_of(BinaryKind::ar_archive);
}

base::Result<BinaryInfo> classify_fatbin(ByteView) {
  return info_of(BinaryKind::nvidia_fatbin);
}

// The format of Mesa 22.3's rusticl, from a real binary: version 1, size of the SPIR-V in bytes,
// CL_PROGRAM_BINARY_TYPE (1, 2 or 4), and the SPIR-V, followed by nothing. Later versions of Mesa
// begin with the magic "rusticl".
base::Result<BinaryInfo> classify_old_rusticl(ByteView bytes) {
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
    Magic{k_spirv_little, classify_spirv},
    Magic{k_spirv_big, classify_spirv},
    Magic{k_bitcode_magic, classify_bitcode},
    Magic{"\xDE\xC0\x17\x0B"sv, classify_wrapped_bitcode},
    Magic{"poclbin\0"sv, classify_poclbin},
    Magic{"rusticl\0"sv, classify_rusticl},
    Magic{"clvk"sv, classify_clvk},
    Magic{"!<arch>\n"sv, classify_ar},
    Magic{"\x50\xED\x55\xBA"sv, classify_fatbin},
    Magic{"__CLANG_OFFLOAD_BUNDLE__"sv, classify_offload_bundle},
    Magic{"CCOB"sv, classify_compressed_bundle},
    Magic{"\x10\xFF\x10\xAD"sv, classify_offload_binary},
    Magic{"\x01\0\0\0"sv, classify_old_rusticl},
};

struct KindName {
  BinaryKind kind;
  std::string_view name;
};

constexpr std::array k_names{
    KindName{BinaryKind::ptx, "ptx"},
    KindName{BinaryKind::cubin, "cubin"},
    KindName{BinaryKind::amd_code_object, "amd-code-object"},
    KindName{BinaryKind::intel_zebin, "intel-zebin"},
    KindName{BinaryKind::spirv, "spirv"},
    KindName{BinaryKind::llvm_bitcode, "llvm-bitcode"},
    KindName{BinaryKind::poclbin, "poclbin"},
    KindName{BinaryKind::rusticl, "rusticl"},
    KindName{BinaryKind::clvk, "clvk"},
    KindName{BinaryKind::ar_archive, "ar-archive"},
    KindName{BinaryKind::nvidia_fatbin, "nvidia-fatbin"},
    KindName{BinaryKind::offload_bundle, "offload-bundle"},
    KindName{BinaryKind::offload_binary, "offload-binary"},
};

bool has_architecture(const BinaryInfo& info) {
  return info.arch_major != 0 || info.arch_minor != 0 || info.arch_stepping != 0;
}

std::string sm_name(const BinaryInfo& info) {
  const std::string suffix = info.arch_suffix == '\0' ? "" : std::string(1, info.arch_suffix);
  return fmt::format("sm_{}{}{}", info.arch_major, info.arch_minor, suffix);
}

std::string describe_ptx(const BinaryInfo& info) {
  return fmt::format("PTX {}.{} for {}{}", info.format_major, info.format_minor, sm_name(info),
                     info.ptx_flavour == PtxFlavour::cuda ? " (CUDA flavour)" : "");
}

std::string describe_zebin(const BinaryInfo& info) {
  if (has_architecture(info)) {
    return fmt::format("Intel zebin {}.{}.{}", info.arch_major, info.arch_minor,
                       info.arch_stepping);
  }
  return info.product_family == 0
             ? "Intel zebin"
             : fmt::format("Intel zebin of product family {}", info.product_family);
}

// Match keys do not contain the format version, which is 0 for them.
std::string with_format_version(std::string_view name, const BinaryInfo& info) {
  return info.format_major == 0 ? std::string(name)
                                : fmt::format("{}, format {}", name, info.format_major);
}

} // namespace

std::string_view to_string(BinaryKind kind) noexcept {
  for (const KindName& entry : k_names) {
    if (entry.kind == kind) {
      return entry.name;
    }
  }
  return "unknown";
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

std::string describe(const BinaryInfo& info) {
  switch (info.kind) {
  case BinaryKind::ptx:
    return describe_ptx(info);
  case BinaryKind::cubin:
    return fmt::format("cubin {}", sm_name(info));
  case BinaryKind::amd_code_object:
    return has_architecture(info) ? fmt::format("AMD code object {}", amd_target_name(info))
                                  : "AMD code object of an unknown processor";
  case BinaryKind::intel_zebin:
    return describe_zebin(info);
  case BinaryKind::spirv:
    return fmt::format("SPIR-V {}.{}", info.arch_major, info.arch_minor);
  case BinaryKind::llvm_bitcode:
    return "LLVM bitcode";
  case BinaryKind::poclbin:
    return with_format_version("PoCL binary", info);
  case BinaryKind::rusticl:
    return with_format_version("rusticl binary", info);
  case BinaryKind::clvk:
    return with_format_version("clvk binary", info);
  case BinaryKind::ar_archive:
    return "ar archive";
  case BinaryKind::nvidia_fatbin:
    return "NVIDIA fat binary";
  case BinaryKind::offload_bundle:
    return "Clang offload bundle";
  case BinaryKind::offload_binary:
    return "LLVM offload binary";
  case BinaryKind::unknown:
    break;
  }
  return "unknown binary";
}

std::string describe(const BinaryInfo& info, std::string_view platform) {
  const bool is_named = info.kind == BinaryKind::unknown && !platform.empty();
  return is_named ? fmt::format("{} binary", platform) : describe(info);
}

} // namespace clbin::format

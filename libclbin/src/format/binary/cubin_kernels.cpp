// The kernels of a cubin. NVIDIA documents neither the sections nor their attributes; their names
// are those that cuobjdump -elf prints, and their layout was determined from cubins of ptxas 12.4
// and 13.0:
//
//   .nv.info               attributes: format 1, number 1; format 4: size 2 and so many bytes.
//                          EIATTR_REGCOUNT and EIATTR_FRAME_SIZE contain the number of a symbol in
//                          .symtab, and a number of registers or bytes.
//   .nv.info.KERNEL        EIATTR_REQNTID contains the required work-group size.
//   .nv.shared.KERNEL      as large as the local memory that the kernel declares.
#include "format/binary/binary_kernels.hpp"
#include "format/binary/elf_object.hpp"
#include "format/binary/kernel_metadata.hpp"

namespace clbin::format {
namespace {

constexpr std::uint8_t k_symbol_entry = 0x10; // STO_CUDA_ENTRY in st_other

constexpr std::uint8_t k_sized = 4;
constexpr std::uint8_t k_required_size = 0x10; // EIATTR_REQNTID
constexpr std::uint8_t k_frame_size = 0x11;    // EIATTR_FRAME_SIZE
constexpr std::uint8_t k_registers = 0x2f;     // EIATTR_REGCOUNT

struct Attribute {
  std::uint8_t number = 0;
  ByteView value; // empty unless its format is k_sized
};

Result<Attribute> read_attribute(ByteReader& reader) {
  Attribute attribute;
  CLBIN_TRY_ASSIGN(const std::uint8_t format, reader.read_u8("format"));
  CLBIN_TRY_ASSIGN(attribute.number, reader.read_u8("attribute"));
  CLBIN_TRY_ASSIGN(const std::uint16_t size_bytes, reader.read_u16("value"));
  if (format == k_sized) {
    CLBIN_TRY_ASSIGN(attribute.value, reader.read_bytes(size_bytes, "payload"));
  }
  return attribute;
}

class CubinReader {
public:
  explicit CubinReader(const ElfObject& object) : m_object(object), m_names(object.file) {}

  Result<std::vector<KernelReflection>> run() {
    CLBIN_TRY(read_symbols());
    for (const ElfSection& section : m_object.sections) {
      CLBIN_TRY_ASSIGN(const std::string_view name, m_names.at(m_object.names, section.name));
      CLBIN_TRY(read_section(section, name));
    }
    return values_of(std::move(m_kernels));
  }

private:
  // Each entry function is a kernel.
  Result<void> read_symbols() {
    for (const ElfSection& section : m_object.sections) {
      if (section.type != k_elf_section_symbols || section.link >= m_object.sections.size()) {
        continue;
      }
      ByteReader reader(section.bytes, ".symtab");
      for (std::uint32_t index = 0; reader.remaining() >= k_elf_symbol_bytes; ++index) {
        CLBIN_TRY(read_symbol(reader, index, m_object.sections[section.link].bytes));
      }
      return {};
    }
    return fail(ErrorCode::damaged, "there is no table of symbols");
  }

  Result<void> read_symbol(ByteReader& reader, std::uint32_t index, ByteView names) {
    CLBIN_TRY_ASSIGN(const ElfSymbol symbol, read_elf_symbol(reader));
    if (!symbol.is_function || (symbol.other & k_symbol_entry) == 0) {
      return {};
    }
    CLBIN_TRY_ASSIGN(const std::string_view name, m_names.at(names, symbol.name));
    if (name.empty() || !m_kernels.try_emplace(std::string(name)).second) {
      return fail(ErrorCode::damaged, "symbol {}: {}", index,
                  name.empty() ? "a kernel has no name" : "another kernel has this name");
    }
    KernelReflection& kernel = m_kernels.find(std::string(name))->second;
    kernel.name = name;
    kernel.local_bytes = 0; // without a section
    m_by_symbol[index] = &kernel;
    return {};
  }

  Result<void> read_section(const ElfSection& section, std::string_view name) {
    constexpr std::string_view k_shared = ".nv.shared.";
    constexpr std::string_view k_info = ".nv.info";
    if (name.starts_with(k_shared)) {
      if (KernelReflection* const kernel = kernel_named(name.substr(k_shared.size()))) {
        kernel->local_bytes = section.size_bytes;
      }
    } else if (name.starts_with(k_info)) {
      KernelReflection* const kernel =
          name == k_info ? nullptr : kernel_named(name.substr(k_info.size() + 1));
      ByteReader reader(section.bytes, name == k_info ? ".nv.info" : ".nv.info of a kernel");
      while (reader.remaining() != 0) {
        CLBIN_TRY_ASSIGN(const Attribute attribute, read_attribute(reader));
        CLBIN_TRY(name == k_info ? add_resource(attribute) : add_size(attribute, kernel));
      }
    }
    return {};
  }

  // Returns null if there is none.
  KernelReflection* kernel_named(std::string_view name) {
    const auto found = m_kernels.find(std::string(name));
    return found == m_kernels.end() ? nullptr : &found->second;
  }

  // Ignores functions that are not kernels.
  Result<void> add_resource(const Attribute& attribute) {
    if (attribute.number != k_registers && attribute.number != k_frame_size) {
      return {};
    }
    ByteReader reader(attribute.value, "attribute of .nv.info");
    CLBIN_TRY_ASSIGN(const std::uint32_t symbol, reader.read_u32("symbol"));
    CLBIN_TRY_ASSIGN(const std::uint32_t value, reader.read_u32("value"));
    const auto kernel = m_by_symbol.find(symbol);
    if (kernel == m_by_symbol.end()) {
      return {};
    }
    if (attribute.number == k_registers) {
      kernel->second->vendor["registers"] = value;
    } else {
      kernel->second->private_bytes = value;
    }
    return {};
  }

  static Result<void> add_size(const Attribute& attribute, KernelReflection* kernel) {
    if (attribute.number != k_required_size || kernel == nullptr) {
      return {};
    }
    ByteReader reader(attribute.value, "required size of .nv.info");
    for (std::uint64_t& items : kernel->required_work_group_size) {
      CLBIN_TRY_ASSIGN(items, reader.read_u32("work-items"));
    }
    return {};
  }

  const ElfObject& m_object;
  ElfNames m_names;
  std::map<std::string, KernelReflection> m_kernels;
  std::map<std::uint32_t, KernelReflection*> m_by_symbol;
};

} // namespace

Result<std::vector<KernelReflection>> read_cubin_kernels(ByteView cubin) {
  const auto object = parse_elf(cubin);
  if (!object || object->machine != k_elf_machine_cuda || object->address_bits != 64) {
    return fail(ErrorCode::damaged, "cubin: not a complete ELF file of 64 bits for NVIDIA");
  }
  return base::in_context(CubinReader(*object).run(), "cubin");
}

} // namespace clbin::format

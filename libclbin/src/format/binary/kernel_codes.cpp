// How much code the kernels of a device binary have: bytes of machine code, or instructions.
#include "format/binary/binary_kernels.hpp"
#include "format/binary/elf_object.hpp"

namespace clbin::format {
namespace {

// ELF. --------------------------------------------------------------------------------------------

// Returns the text between `prefix` and `suffix`; empty if `name` is another one.
std::string_view between(std::string_view prefix, std::string_view name,
                         std::string_view suffix = {}) {
  const bool fits = name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) &&
                    name.ends_with(suffix);
  return fits ? name.substr(prefix.size(), name.size() - prefix.size() - suffix.size())
              : std::string_view();
}

void add_bytes(std::optional<std::uint64_t>& sum, std::uint64_t bytes) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 62U;
  sum = std::min(sum.value_or(0) + std::min(bytes, k_most), k_most);
}

// ".text.KERNEL" and ".nv.constant0.KERNEL". Other sections of NVIDIA's constant banks, such as
// ".nv.constant3", belong to all kernels.
void add_section(const ElfSection& section, std::string_view name, KernelCodes& codes) {
  if (const std::string_view kernel = between(".text.", name); !kernel.empty()) {
    KernelCode& code = codes[std::string(kernel)];
    add_bytes(code.code_bytes, section.size_bytes);
    code.code = section.bytes;
  } else if (const std::string_view bank = between(".nv.constant", name); !bank.empty()) {
    const std::size_t dot = bank.find('.');
    if (dot != std::string_view::npos && dot + 1 < bank.size()) {
      add_bytes(codes[std::string(bank.substr(dot + 1))].constant_bytes, section.size_bytes);
    }
  }
}

// Returns an empty view if the section does not contain the whole function.
ByteView code_of(const ElfObject& object, const ElfSymbol& symbol) {
  if (symbol.section >= object.sections.size()) {
    return {};
  }
  const ElfSection& section = object.sections[symbol.section];
  // Of a file that is linked, the value is an address, otherwise it is relative to the section.
  const std::uint64_t offset =
      symbol.value >= section.address ? symbol.value - section.address : section.bytes.size();
  const bool is_inside =
      offset <= section.bytes.size() && symbol.size_bytes <= section.bytes.size() - offset;
  return is_inside ? section.bytes.subspan(static_cast<std::size_t>(offset),
                                           static_cast<std::size_t>(symbol.size_bytes))
                   : ByteView();
}

// AMD's kernels have the names of their functions. PoCL has a function for each size of
// work-groups, of which the largest counts.
Result<void> add_functions(const ElfObject& object, const ElfSection& section, ElfNames& names,
                           KernelCodes& codes) {
  const ByteView texts = object.sections[section.link].bytes;
  ByteReader reader(section.bytes, "table of symbols");
  while (reader.remaining() >= k_elf_symbol_bytes) {
    CLBIN_TRY_ASSIGN(const ElfSymbol symbol, read_elf_symbol(reader));
    if (!symbol.is_function) {
      continue;
    }
    CLBIN_TRY_ASSIGN(std::string_view name, names.at(texts, symbol.name));
    if (object.machine != k_elf_machine_amdgpu) {
      name = between("_pocl_kernel_", name, "_workgroup");
    }
    if (!name.empty()) {
      KernelCode& code = codes[std::string(name)];
      if (code.code_bytes.value_or(0) <= symbol.size_bytes) {
        code = {code_of(object, symbol), symbol.size_bytes, {}, {}};
      }
    }
  }
  return {};
}

Result<void> add_codes(const ElfObject& object, ElfNames& names, KernelCodes& codes) {
  const bool has_sections = object.machine == k_elf_machine_cuda || is_zebin(object);
  std::size_t bytes_left = object.file.size();
  for (const ElfSection& section : object.sections) {
    if (has_sections) {
      CLBIN_TRY_ASSIGN(const std::string_view name, names.at(object.names, section.name));
      add_section(section, name, codes);
    } else if ((section.type == k_elf_section_symbols ||
                section.type == k_elf_section_dynamic_symbols) &&
               section.link < object.sections.size() && object.address_bits == 64) {
      if (section.bytes.size() > bytes_left) { // each byte is read at most once
        return fail(ErrorCode::damaged, "its tables of symbols overlap");
      }
      bytes_left -= section.bytes.size();
      CLBIN_TRY(add_functions(object, section, names, codes));
    }
  }
  return {};
}

Result<KernelCodes> read_elf_codes(ByteView binary, std::span<const ElfObject> objects) {
  KernelCodes codes;
  ElfNames names(binary);
  for (const ElfObject& object : objects) {
    CLBIN_TRY(add_codes(object, names, codes));
  }
  return codes;
}

// SPIR-V. -----------------------------------------------------------------------------------------

constexpr std::uint64_t k_most_instructions = std::uint64_t{1} << 62U;

// A function: its instructions, and those of the functions that it calls.
struct FunctionBody {
  enum class State : std::uint8_t { unread, open, complete };
  std::uint64_t instructions = 0;
  std::vector<std::uint32_t> callees;
  State state = State::unread;
};

class SpirvCounter {
public:
  Result<KernelCodes> run(ByteView module) {
    constexpr std::size_t k_header_bytes = 20;
    ByteReader reader(module, "SPIR-V module");
    CLBIN_TRY(reader.read_bytes(k_header_bytes, "header"));
    while (reader.remaining() != 0) {
      CLBIN_TRY_ASSIGN(const std::uint32_t head, reader.read_u32("instruction"));
      const std::size_t words = head >> 16U;
      if (words == 0) {
        return fail(ErrorCode::damaged, "SPIR-V module: an instruction has no words");
      }
      CLBIN_TRY_ASSIGN(const ByteView operands, reader.read_bytes((words - 1) * 4, "operands"));
      CLBIN_TRY(add(static_cast<std::uint16_t>(head & 0xffffU), operands));
    }
    KernelCodes codes;
    for (const auto& [name, function] : m_entry_points) {
      codes[std::string(name)].instructions = total_of(function);
    }
    return codes;
  }

private:
  // SPIR-V specification, 3.52 "Instructions".
  static constexpr std::uint16_t k_line = 8;
  static constexpr std::uint16_t k_entry_point = 15;
  static constexpr std::uint16_t k_function = 54;
  static constexpr std::uint16_t k_function_parameter = 55;
  static constexpr std::uint16_t k_function_end = 56;
  static constexpr std::uint16_t k_function_call = 57;
  static constexpr std::uint16_t k_label = 248;
  static constexpr std::uint16_t k_no_line = 317;

  Result<void> add(std::uint16_t opcode, ByteView bytes) {
    ByteReader operands(bytes, "SPIR-V module");
    switch (opcode) {
    case k_entry_point: {
      CLBIN_TRY(operands.read_u32("execution model"));
      CLBIN_TRY_ASSIGN(const std::uint32_t id, operands.read_u32("entry point"));
      const std::string_view name = base::as_text(bytes.subspan(operands.offset()));
      m_entry_points[name.substr(0, name.find('\0'))] = id;
      return {};
    }
    case k_function: {
      CLBIN_TRY(operands.read_u32("result type"));
      CLBIN_TRY_ASSIGN(const std::uint32_t id, operands.read_u32("result id"));
      m_body = &m_bodies[id];
      return {};
    }
    case k_function_end:
      m_body = nullptr;
      return {};
    case k_function_parameter:
    case k_label:
    case k_line:
    case k_no_line:
      return {};
    default:
      return m_body == nullptr ? Result<void>() : add_instruction(opcode, operands);
    }
  }

  Result<void> add_instruction(std::uint16_t opcode, ByteReader& operands) {
    ++m_body->instructions;
    if (opcode == k_function_call) {
      CLBIN_TRY(operands.read_u64("result type, result id"));
      CLBIN_TRY_ASSIGN(const std::uint32_t callee, operands.read_u32("function"));
      m_body->callees.push_back(callee);
    }
    return {};
  }

  // Completes the callees of a function before it, without recursion. Each call is followed once.
  std::optional<std::uint64_t> total_of(std::uint32_t function) {
    if (m_bodies[function].state == FunctionBody::State::open) {
      return std::nullopt; // part of a circle that was found before
    }
    std::vector<std::uint32_t> open = {function};
    while (!open.empty()) {
      FunctionBody& body = m_bodies[open.back()];
      if (body.state == FunctionBody::State::unread) {
        if (!push_callees(body, open)) {
          return std::nullopt; // and the callers of this function stay open
        }
        continue;
      }
      if (body.state == FunctionBody::State::open) {
        complete(body);
      }
      open.pop_back();
    }
    return m_bodies[function].instructions;
  }

  // Returns false if a callee is open: it calls this function.
  bool push_callees(FunctionBody& body, std::vector<std::uint32_t>& open) {
    body.state = FunctionBody::State::open;
    for (const std::uint32_t callee : body.callees) {
      const FunctionBody::State state = m_bodies[callee].state;
      if (state == FunctionBody::State::open) {
        return false;
      }
      if (state == FunctionBody::State::unread) {
        open.push_back(callee);
      }
    }
    return true;
  }

  void complete(FunctionBody& body) {
    body.state = FunctionBody::State::complete;
    for (const std::uint32_t callee : body.callees) {
      body.instructions =
          std::min(body.instructions + m_bodies[callee].instructions, k_most_instructions);
    }
  }

  std::map<std::string_view, std::uint32_t> m_entry_points;
  std::map<std::uint32_t, FunctionBody> m_bodies; // a function of another module has none
  FunctionBody* m_body = nullptr;
};

Result<KernelCodes> read_ptx_codes(ByteView binary) {
  CLBIN_TRY_ASSIGN(const auto kernels, read_ptx_kernels(base::as_text(binary)));
  KernelCodes codes;
  for (const PtxKernel& kernel : kernels) {
    codes[kernel.reflection.name].instructions = kernel.instructions;
  }
  return codes;
}

} // namespace

Result<KernelCodes> read_kernel_codes(ByteView binary) {
  constexpr std::uint32_t k_native_magic = 0x07230203U;
  switch (classify_binary(binary).kind) {
  case BinaryKind::ptx:
    return read_ptx_codes(binary);
  case BinaryKind::spirv: {
    ByteReader reader(binary, "SPIR-V module");
    CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
    return magic == k_native_magic ? SpirvCounter().run(binary) : KernelCodes();
  }
  case BinaryKind::poclbin:
    return read_elf_codes(binary, elf_objects_inside(binary));
  default:
    const auto object = parse_elf(binary);
    return object ? read_elf_codes(binary, {&*object, 1}) : KernelCodes();
  }
}

} // namespace clbin::format

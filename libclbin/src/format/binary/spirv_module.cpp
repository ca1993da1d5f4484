#include "format/binary/binary_kernels.hpp"

#include "format/binary/kernel_metadata.hpp"
#include "format/binary/spirv_features.hpp"

#include <set>
#include <tuple>

namespace clbin::format {
namespace {

// Types. ---------------------------------------------------------------------------------------

// The numbers of the instructions: SPIR-V specification, 3.49.6 "Type-Declaration Instructions".
enum class SpirvTypeKind : std::uint16_t {
  none = 0,
  void_ = 19,
  boolean = 20,
  integer = 21,
  floating = 22,
  vector = 23,
  image = 25,
  sampler = 26,
  array = 28,
  structure = 30,
  opaque = 31,
  pointer = 32,
  event = 34,
  reserve_id = 36,
  queue = 37,
  pipe = 38,
  untyped_pointer = 4417,
};

// Operands of OpTypeImage. `dimensionality` is a number of the SPIR-V specification, 3.8 "Dim".
struct ImageShape {
  std::uint32_t dimensionality = 0;
  bool is_depth = false;
  bool is_arrayed = false;
  bool is_multisampled = false;
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

struct SpirvType {
  SpirvTypeKind kind = SpirvTypeKind::none;
  std::uint32_t element = 0;       // id of the type of a vector's components or a pointer's target
  std::uint32_t width = 0;         // bits of a number, components of a vector
  std::uint32_t storage_class = 0; // of a pointer
  bool is_signed = false;          // integers: always false in OpenCL
  ImageShape image;
  AccessQualifier access = AccessQualifier::none; // of an image or a pipe
  std::string_view opaque_name;
};

enum class IntegerSign : std::uint8_t { with_sign, without_sign };

constexpr int k_max_type_nesting = 16;

struct NamedShape {
  ImageShape shape;
  std::string_view name;
};

constexpr std::uint32_t k_1d = 0;
constexpr std::uint32_t k_2d = 1;
constexpr std::uint32_t k_3d = 2;
constexpr std::uint32_t k_buffer = 5;

constexpr std::array k_images{
    NamedShape{{k_1d, false, false, false}, "image1d_t"},
    NamedShape{{k_1d, false, true, false}, "image1d_array_t"},
    NamedShape{{k_buffer, false, false, false}, "image1d_buffer_t"},
    NamedShape{{k_2d, false, false, false}, "image2d_t"},
    NamedShape{{k_2d, false, true, false}, "image2d_array_t"},
    NamedShape{{k_2d, true, false, false}, "image2d_depth_t"},
    NamedShape{{k_2d, true, true, false}, "image2d_array_depth_t"},
    NamedShape{{k_2d, false, false, true}, "image2d_msaa_t"},
    NamedShape{{k_2d, false, true, true}, "image2d_array_msaa_t"},
    NamedShape{{k_2d, true, false, true}, "image2d_msaa_depth_t"},
    NamedShape{{k_2d, true, true, true}, "image2d_array_msaa_depth_t"},
    NamedShape{{k_3d, false, false, false}, "image3d_t"},
};

// The kinds, and their names in OpenCL C if they do not depend on operands.
constexpr std::pair<SpirvTypeKind, std::string_view> k_type_kinds[] = {
    {SpirvTypeKind::none, "void"},
    {SpirvTypeKind::void_, "void"},
    {SpirvTypeKind::boolean, "bool"},
    {SpirvTypeKind::integer, ""},
    {SpirvTypeKind::floating, ""},
    {SpirvTypeKind::vector, ""},
    {SpirvTypeKind::image, ""},
    {SpirvTypeKind::sampler, "sampler_t"},
    {SpirvTypeKind::array, "array"},
    {SpirvTypeKind::structure, ""},
    {SpirvTypeKind::opaque, ""},
    {SpirvTypeKind::pointer, ""},
    {SpirvTypeKind::event, "event_t"},
    {SpirvTypeKind::reserve_id, "reserve_id_t"},
    {SpirvTypeKind::queue, "queue_t"},
    {SpirvTypeKind::pipe, "pipe"},
    {SpirvTypeKind::untyped_pointer, "void*"},
};

// Returns the row of `none` for an instruction that declares no type.
const auto& row_of(SpirvTypeKind kind) {
  const auto* const found =
      std::ranges::find(k_type_kinds, kind, [](const auto& row) { return row.first; });
  return found == std::end(k_type_kinds) ? k_type_kinds[0] : *found;
}

std::string number_name(SpirvTypeKind kind, std::uint32_t width, bool has_sign) {
  constexpr std::tuple<SpirvTypeKind, std::uint32_t, std::string_view> k_numbers[] = {
      {SpirvTypeKind::integer, 8, "char"},    {SpirvTypeKind::integer, 16, "short"},
      {SpirvTypeKind::integer, 32, "int"},    {SpirvTypeKind::integer, 64, "long"},
      {SpirvTypeKind::floating, 16, "half"},  {SpirvTypeKind::floating, 32, "float"},
      {SpirvTypeKind::floating, 64, "double"}};
  const std::string_view prefix = has_sign ? "" : "u";
  for (const auto& [known, bits, name] : k_numbers) {
    if (known == kind && bits == width) {
      return fmt::format("{}{}", prefix, name);
    }
  }
  return fmt::format("{}{}{}_t", prefix, kind == SpirvTypeKind::integer ? "int" : "float", width);
}

// clang uses the name "struct.pair" for the structure `pair` of C.
std::string_view without_tag(std::string_view name) {
  for (const std::string_view tag : {"struct.", "union.", "class.", "opencl."}) {
    if (name.starts_with(tag)) {
      return name.substr(tag.size());
    }
  }
  return name;
}

// Returns a name such as "image2d_array_t"; "image" for a shape that OpenCL C does not have.
std::string_view image_type_name(const ImageShape& shape) {
  const auto* const found = std::ranges::find(k_images, shape, &NamedShape::shape);
  return found == k_images.end() ? "image" : found->name;
}

// Returns the value of an id, or a default one.
template <typename Value>
Value value_of(const std::map<std::uint32_t, Value>& values, std::uint32_t id) {
  const auto found = values.find(id);
  return found == values.end() ? Value{} : found->second;
}

// The module. ----------------------------------------------------------------------------------

constexpr std::uint32_t k_module_magic = 0x07230203U;
constexpr std::uint32_t k_swapped_module_magic = 0x03022307U;
constexpr std::size_t k_module_word_bytes = sizeof(std::uint32_t);
constexpr std::string_view k_type_string = "kernel_arg_type.";
constexpr std::string_view k_qualifier_string = "kernel_arg_type_qual.";

// Numbers of the SPIR-V specification: 3.49 "Instructions", 3.6 "Execution Mode", 3.7 "Storage
// Class", 3.20 "Decoration", 3.19 "Function Parameter Attribute".
namespace spirv_op {
constexpr std::uint16_t name = 5;
constexpr std::uint16_t string = 7;
constexpr std::uint16_t extension = 10;
constexpr std::uint16_t instruction_set = 11;
constexpr std::uint16_t memory_model = 14;
constexpr std::uint16_t entry_point = 15;
constexpr std::uint16_t execution_mode = 16;
constexpr std::uint16_t capability = 17;
constexpr std::uint16_t constant = 43;
constexpr std::uint16_t spec_constant_true = 48;
constexpr std::uint16_t spec_constant_false = 49;
constexpr std::uint16_t spec_constant = 50;
constexpr std::uint16_t function = 54;
constexpr std::uint16_t function_parameter = 55;
constexpr std::uint16_t decorate = 71;
constexpr std::uint16_t group_decorate = 74;
constexpr std::uint16_t execution_mode_id = 331;
} // namespace spirv_op

constexpr std::uint32_t k_model_kernel = 6;
constexpr std::uint32_t k_mode_local_size = 17;
constexpr std::uint32_t k_mode_local_size_hint = 18;
constexpr std::uint32_t k_mode_vec_type_hint = 30;
constexpr std::uint32_t k_mode_subgroup_size = 35;
constexpr std::uint32_t k_mode_local_size_id = 38;
constexpr std::uint32_t k_mode_local_size_hint_id = 39;
constexpr std::uint32_t k_decoration_spec_id = 1;
constexpr std::uint32_t k_decoration_built_in = 11;
constexpr std::uint32_t k_decoration_volatile = 21;
constexpr std::uint32_t k_decoration_parameter = 38;
constexpr std::uint32_t k_decoration_linkage = 41;
constexpr std::uint32_t k_linkage_import = 1;
constexpr std::uint32_t k_parameter_zext = 0;
constexpr std::uint32_t k_parameter_by_value = 2;
constexpr std::uint32_t k_parameter_no_alias = 4;

struct Decorations {
  bool is_volatile = false;
  bool is_restrict = false;
  bool is_by_value = false;
  bool is_unsigned = false;
  std::optional<std::uint32_t> spec_id;

  void merge(const Decorations& other) {
    is_volatile = is_volatile || other.is_volatile;
    is_restrict = is_restrict || other.is_restrict;
    is_by_value = is_by_value || other.is_by_value;
    is_unsigned = is_unsigned || other.is_unsigned;
    spec_id = other.spec_id.has_value() ? other.spec_id : spec_id;
  }
};

struct EntryPoint {
  std::uint32_t function = 0;
  std::string_view name;
};

// A size, or the ids of the three constants by which OpExecutionModeId specifies it.
struct ModeSize {
  GroupSize size{};
  bool is_by_id = false;
};

struct ExecutionModes {
  ModeSize local_size;
  ModeSize local_size_hint;
  std::string vec_type_hint;
  std::uint32_t subgroup_size = 0;
};

struct Parameter {
  std::uint32_t id = 0;
  std::uint32_t type = 0;
};

struct ConstantFacts {
  std::uint32_t type = 0;
  std::uint64_t bits = 0;
};

// The contents of the instructions, before they are combined. Views point into the module.
struct ModuleFacts {
  std::map<std::uint32_t, SpirvType> types;
  std::map<std::uint32_t, std::string_view> names; // of OpName
  std::vector<EntryPoint> entry_points;
  std::map<std::uint32_t, ExecutionModes> modes; // by the id of the function
  std::set<std::uint32_t> size_ids;              // that sizes name
  std::map<std::uint32_t, std::uint64_t> sizes;
  std::set<std::string_view> argument_strings;
  std::map<std::uint32_t, Decorations> decorations;
  std::map<std::uint32_t, ConstantFacts> spec_constants;     // by id
  std::map<std::uint32_t, std::vector<Parameter>> functions; // their parameters
  std::vector<std::pair<std::uint32_t, std::string_view>> imports;
  std::set<std::uint32_t> built_ins; // variables, which drivers define
};

struct Instruction {
  std::size_t offset = 0;
  std::uint16_t opcode = 0;
  ByteView operands;
};

struct ModuleHeader {
  std::uint16_t version_major = 0;
  std::uint16_t version_minor = 0;
  std::uint32_t bound = 0;
  std::uint32_t schema = 0;
};

Result<ModuleHeader> read_module_header(ByteReader& reader) {
  ModuleHeader header;
  CLBIN_TRY(reader.read_u32("magic"));
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
  CLBIN_TRY(reader.read_u32("generator"));
  CLBIN_TRY_ASSIGN(header.bound, reader.read_u32("bound"));
  CLBIN_TRY_ASSIGN(header.schema, reader.read_u32("schema"));
  if ((version & 0xff0000ffU) != 0) {
    return fail(ErrorCode::damaged, "SPIR-V module: version 0x{:08x} is malformed", version);
  }
  header.version_major = static_cast<std::uint16_t>(version >> 16U);
  header.version_minor = static_cast<std::uint16_t>((version >> 8U) & 0xffU);
  return header;
}

Result<Instruction> read_instruction(ByteReader& reader) {
  Instruction instruction;
  instruction.offset = reader.offset();
  CLBIN_TRY_ASSIGN(const std::uint32_t head, reader.read_u32("instruction"));
  const std::uint32_t word_count = head >> 16U;
  if (word_count == 0) {
    return fail(ErrorCode::damaged, "SPIR-V module: the instruction at offset {} has no words",
                instruction.offset);
  }
  instruction.opcode = static_cast<std::uint16_t>(head & 0xffffU);
  CLBIN_TRY_ASSIGN(instruction.operands,
                   reader.read_bytes((word_count - 1) * k_module_word_bytes, "instruction"));
  return instruction;
}

// The operands of one instruction. After the first error, which status() returns, numbers are 0 and
// texts are empty.
class Operands {
public:
  Operands(ByteView bytes, std::uint32_t bound) : m_reader(bytes, "operands"), m_bound(bound) {}

  std::uint32_t number(std::string_view field) { return value(m_reader.read_u32(field)); }
  std::uint64_t wide_number(std::string_view field) { return value(m_reader.read_u64(field)); }
  // Returns 32, 64, or 0 for logical addressing.
  std::uint8_t address_bits() {
    const std::uint32_t model = number("addressing model");
    return static_cast<std::uint8_t>(model == 1 || model == 2 ? model * 32 : 0);
  }

  std::uint32_t id(std::string_view field) {
    const std::uint32_t id = number(field);
    if (id == 0 || id >= m_bound) {
      refuse("{} is id {}, the module's bound is {}", field, id, m_bound);
    }
    return id;
  }

  // A literal string: bytes up to a NUL, padded to a whole word.
  std::string_view literal(std::string_view field) {
    ByteReader rest = m_reader;
    const std::string_view text = base::as_text(value(rest.read_bytes(rest.remaining(), field)));
    const std::size_t size = text.find('\0');
    if (size == std::string_view::npos) {
      refuse("{} has no terminating NUL", field);
      return {};
    }
    value(m_reader.read_bytes((size / k_module_word_bytes + 1) * k_module_word_bytes, field));
    return text.substr(0, size);
  }

  AccessQualifier access() {
    const std::uint32_t access = number("access qualifier");
    if (access > 2) {
      refuse("access qualifier {} does not exist", access);
    }
    return static_cast<AccessQualifier>(access + 1); // read-only, write-only, read-write
  }

  template <typename... Args>
  void refuse(fmt::format_string<Args...> reason, Args&&... args) {
    if (m_status) {
      m_status = fail(ErrorCode::damaged, reason, std::forward<Args>(args)...);
    }
  }

  [[nodiscard]] bool is_at_end() const { return !m_status || m_reader.remaining() == 0; }
  [[nodiscard]] Result<void> status() && { return std::move(m_status); }

private:
  template <typename Value>
  Value value(Result<Value> read) {
    if (m_status && !read) {
      m_status = tl::unexpected(std::move(read.error()));
    }
    return m_status ? *read : Value();
  }

  ByteReader m_reader;
  std::uint32_t m_bound;
  Result<void> m_status;
};

// Reads the operands of one instruction after the other into ModuleFacts.
class ModuleReader {
public:
  ModuleReader(ByteView bytes, SpirvModule& module) : m_bytes(bytes), m_module(module) {}

  Result<ModuleFacts> read() {
    ByteReader reader(m_bytes, "SPIR-V module");
    CLBIN_TRY_ASSIGN(const ModuleHeader header, read_module_header(reader));
    m_module.version_major = header.version_major;
    m_module.version_minor = header.version_minor;
    if (header.version_major != 1 || header.schema != 0) {
      return fail(ErrorCode::newer_version,
                  "SPIR-V module: version {}.{}, schema {} is not known to this reader",
                  header.version_major, header.version_minor, header.schema);
    }
    while (reader.remaining() != 0) {
      CLBIN_TRY_ASSIGN(const Instruction instruction, read_instruction(reader));
      Operands operands(instruction.operands, header.bound);
      read_operands(instruction.opcode, operands);
      if (auto done = std::move(operands).status(); !done) {
        return base::add_context(std::move(done.error()),
                                 fmt::format("SPIR-V module: instruction {} at offset {}",
                                             instruction.opcode, instruction.offset));
      }
    }
    if (!m_has_memory_model) {
      return fail(ErrorCode::damaged, "SPIR-V module: OpMemoryModel is missing");
    }
    return std::move(m_facts);
  }

private:
  void read_operands(std::uint16_t opcode, Operands& operands) {
    switch (opcode) {
    case spirv_op::name:
      return read_name(operands);
    case spirv_op::string:
      return read_string(operands);
    case spirv_op::memory_model:
      m_module.address_bits = operands.address_bits();
      operands.number("memory model");
      m_has_memory_model = true;
      return;
    case spirv_op::entry_point:
      return read_entry_point(operands);
    case spirv_op::execution_mode:
    case spirv_op::execution_mode_id:
      return read_execution_mode(operands);
    case spirv_op::constant:
    case spirv_op::spec_constant_true:
    case spirv_op::spec_constant_false:
    case spirv_op::spec_constant:
      return read_constant(opcode, operands);
    case spirv_op::function:
      return read_function(operands);
    case spirv_op::function_parameter:
      return read_parameter(operands);
    case spirv_op::decorate:
      return read_decoration(operands);
    case spirv_op::group_decorate:
      return read_group(operands);
    default:
      const SpirvTypeKind kind = row_of(static_cast<SpirvTypeKind>(opcode)).first;
      return kind == SpirvTypeKind::none ? void() : read_type(kind, operands);
    }
  }

  void read_name(Operands& operands) {
    const std::uint32_t id = operands.id("target");
    m_facts.names.emplace(id, operands.literal("name"));
  }

  void read_string(Operands& operands) {
    operands.id("result id");
    const std::string_view text = operands.literal("string");
    if (text.starts_with(k_type_string) || text.starts_with(k_qualifier_string)) {
      m_facts.argument_strings.insert(text);
    }
  }

  void read_entry_point(Operands& operands) {
    const std::uint32_t model = operands.number("execution model");
    const std::uint32_t function = operands.id("entry point");
    const std::string_view name = operands.literal("name of the entry point");
    if (model == k_model_kernel) {
      if (name.empty()) {
        operands.refuse("the name of the entry point is empty");
      }
      m_facts.entry_points.push_back({function, name});
    }
  }

  ModeSize read_size(Operands& operands, bool is_by_id) {
    ModeSize mode{{}, is_by_id};
    for (std::uint64_t& extent : mode.size) {
      extent = is_by_id ? operands.id("work-group size") : operands.number("work-group size");
      if (is_by_id) {
        m_facts.size_ids.insert(static_cast<std::uint32_t>(extent));
      }
    }
    return mode;
  }

  // Reads a name such as "float4". The upper 16 bits are the components, the lower ones the number
  // of a type (SPIR-V specification, 3.6, "VecTypeHint").
  static std::string read_vec_type(Operands& operands) {
    constexpr std::array<std::string_view, 7> k_scalars{"char", "short", "int",   "long",
                                                        "half", "float", "double"};
    const std::uint32_t hint = operands.number("VecTypeHint");
    const std::uint32_t components = hint >> 16U;
    const std::uint32_t type = hint & 0xffffU;
    if (type >= k_scalars.size()) {
      operands.refuse("VecTypeHint names type {}, which does not exist", type);
      return {};
    }
    return components < 2 ? std::string(k_scalars[type])
                          : fmt::format("{}{}", k_scalars[type], components);
  }

  void read_execution_mode(Operands& operands) {
    const std::uint32_t function = operands.id("entry point");
    const std::uint32_t mode = operands.number("execution mode");
    ExecutionModes& modes = m_facts.modes[function];
    switch (mode) {
    case k_mode_local_size:
    case k_mode_local_size_id:
      modes.local_size = read_size(operands, mode == k_mode_local_size_id);
      break;
    case k_mode_local_size_hint:
    case k_mode_local_size_hint_id:
      modes.local_size_hint = read_size(operands, mode == k_mode_local_size_hint_id);
      break;
    case k_mode_vec_type_hint:
      modes.vec_type_hint = read_vec_type(operands);
      break;
    case k_mode_subgroup_size:
      modes.subgroup_size = operands.number("SubgroupSize");
      break;
    default:
      break;
    }
  }

  void read_type(SpirvTypeKind kind, Operands& operands) {
    const std::uint32_t id = operands.id("result id");
    SpirvType type;
    type.kind = kind;
    switch (kind) {
    case SpirvTypeKind::integer:
      type.width = operands.number("width");
      type.is_signed = operands.number("signedness") != 0;
      break;
    case SpirvTypeKind::floating:
      type.width = operands.number("width");
      break;
    case SpirvTypeKind::vector:
      type.element = operands.id("component type");
      type.width = operands.number("component count");
      break;
    case SpirvTypeKind::image:
      read_image(operands, type);
      break;
    case SpirvTypeKind::opaque:
      type.opaque_name = operands.literal("name of the opaque type");
      break;
    case SpirvTypeKind::pointer:
      type.storage_class = operands.number("storage class");
      type.element = operands.id("pointee type");
      break;
    case SpirvTypeKind::untyped_pointer:
      type.storage_class = operands.number("storage class");
      break;
    case SpirvTypeKind::pipe:
      type.access = operands.access();
      break;
    default:
      break;
    }
    m_facts.types.emplace(id, type);
  }

  static void read_image(Operands& operands, SpirvType& type) {
    operands.id("sampled type");
    type.image.dimensionality = operands.number("dim");
    type.image.is_depth = operands.number("depth") == 1;
    type.image.is_arrayed = operands.number("arrayed") != 0;
    type.image.is_multisampled = operands.number("multisampled") != 0;
    operands.number("sampled");
    operands.number("image format");
    type.access = operands.is_at_end() ? AccessQualifier::read_only : operands.access();
  }

  void read_constant(std::uint16_t opcode, Operands& operands) {
    ConstantFacts constant;
    constant.type = operands.id("result type");
    const std::uint32_t id = operands.id("result id");
    const bool is_size = m_facts.size_ids.contains(id);
    if (opcode == spirv_op::constant && !is_size) {
      return;
    }
    if (opcode == spirv_op::spec_constant_true || opcode == spirv_op::spec_constant_false) {
      if (value_of(m_facts.types, constant.type).kind != SpirvTypeKind::boolean) {
        operands.refuse("the constant's type {} is not bool", constant.type);
      }
      constant.bits = opcode == spirv_op::spec_constant_true ? 1 : 0;
    } else {
      constant.bits = read_number(operands, constant.type);
    }
    if (is_size) {
      m_facts.sizes[id] = constant.bits;
    }
    if (opcode != spirv_op::constant) {
      m_facts.spec_constants[id] = constant;
    }
  }

  // Reads one word, or two words with the lower first if the type has more than 32 bits. A narrow
  // integer is sign-extended, so that its upper bits are discarded.
  std::uint64_t read_number(Operands& operands, std::uint32_t type_id) const {
    const SpirvType type = value_of(m_facts.types, type_id);
    const bool is_number =
        type.kind == SpirvTypeKind::integer || type.kind == SpirvTypeKind::floating;
    if (!is_number || type.width == 0 || type.width > 64) {
      operands.refuse("the constant's type {} is no number of 1 to 64 bits", type_id);
      return 0;
    }
    return type.width > 32 ? operands.wide_number("value")
                           : operands.number("value") & (~std::uint32_t{0} >> (32 - type.width));
  }

  void read_function(Operands& operands) {
    operands.id("result type");
    const std::uint32_t id = operands.id("result id");
    const auto [place, is_new] = m_facts.functions.try_emplace(id);
    if (!is_new) {
      operands.refuse("function {} is defined twice", id);
    }
    m_function = &place->second;
  }

  void read_parameter(Operands& operands) {
    Parameter parameter;
    parameter.type = operands.id("result type");
    parameter.id = operands.id("result id");
    if (m_function == nullptr) {
      return operands.refuse("parameter {} belongs to no function", parameter.id);
    }
    m_function->push_back(parameter);
  }

  void read_decoration(Operands& operands) {
    const std::uint32_t id = operands.id("target");
    const std::uint32_t decoration = operands.number("decoration");
    if (decoration == k_decoration_spec_id) {
      m_facts.decorations[id].spec_id = operands.number("SpecId");
    } else if (decoration == k_decoration_volatile) {
      m_facts.decorations[id].is_volatile = true;
    } else if (decoration == k_decoration_parameter) {
      const std::uint32_t attribute = operands.number("parameter attribute");
      Decorations& decorations = m_facts.decorations[id];
      decorations.is_unsigned = decorations.is_unsigned || attribute == k_parameter_zext;
      decorations.is_by_value = decorations.is_by_value || attribute == k_parameter_by_value;
      decorations.is_restrict = decorations.is_restrict || attribute == k_parameter_no_alias;
    } else if (decoration == k_decoration_linkage) {
      const std::string_view name = operands.literal("linkage name");
      if (operands.number("linkage type") == k_linkage_import) {
        m_facts.imports.emplace_back(id, name);
      }
    } else if (decoration == k_decoration_built_in) {
      m_facts.built_ins.insert(id);
    }
  }

  void read_group(Operands& operands) {
    const auto found = m_facts.decorations.find(operands.id("decoration group"));
    while (found != m_facts.decorations.end() && !operands.is_at_end()) {
      const Decorations decorations = found->second;
      m_facts.decorations[operands.id("target")].merge(decorations);
    }
  }

  ByteView m_bytes;
  SpirvModule& m_module;
  ModuleFacts m_facts;
  bool m_has_memory_model = false;
  std::vector<Parameter>* m_function = nullptr; // a node of m_facts.functions
};

AddressSpace address_space_of(const SpirvType& type, const Decorations& decorations) {
  constexpr std::uint32_t uniform_constant = 0;
  constexpr std::uint32_t workgroup = 4;
  constexpr std::uint32_t cross_workgroup = 5;
  constexpr std::uint32_t generic = 8;
  constexpr std::uint32_t device_only = 5936; // SPV_INTEL_usm_storage_classes
  constexpr std::uint32_t host_only = 5937;
  if (type.kind == SpirvTypeKind::image || type.kind == SpirvTypeKind::pipe) {
    return AddressSpace::global; // as in clGetKernelArgInfo
  }
  const bool is_pointer =
      type.kind == SpirvTypeKind::pointer || type.kind == SpirvTypeKind::untyped_pointer;
  if (!is_pointer || decorations.is_by_value) {
    return AddressSpace::private_;
  }
  switch (type.storage_class) {
  case uniform_constant:
    return AddressSpace::constant;
  case workgroup:
    return AddressSpace::local;
  case cross_workgroup:
  case generic:
  case device_only:
  case host_only:
    return AddressSpace::global;
  default:
    return AddressSpace::private_;
  }
}

// Combines the facts.
class ModuleAssembly {
public:
  ModuleAssembly(const ModuleFacts& facts, std::uint64_t module_bytes)
      : m_facts(facts), m_limit((16ULL << 20U) + 4 * module_bytes), m_left(m_limit) {}

  Result<std::vector<KernelReflection>> kernels() {
    for (const auto& [function, modes] : m_facts.modes) { // also those of other functions
      CLBIN_TRY(size_of(modes.local_size));
      CLBIN_TRY(size_of(modes.local_size_hint));
    }
    std::map<std::string, KernelReflection> kernels;
    for (const EntryPoint& entry : m_facts.entry_points) {
      const auto [there, is_new] = kernels.try_emplace(std::string(entry.name));
      if (!is_new) {
        return fail(ErrorCode::damaged, "two entry points have the name '{}'",
                    base::printable_excerpt(entry.name));
      }
      CLBIN_TRY_ASSIGN(there->second, kernel_of(entry));
    }
    return values_of(std::move(kernels));
  }

  Result<std::vector<SpecConstant>> spec_constants() {
    std::vector<SpecConstant> constants;
    for (const auto& [id, facts] : m_facts.spec_constants) {
      const Decorations decorations = value_of(m_facts.decorations, id);
      if (!decorations.spec_id.has_value()) {
        continue; // cannot be set
      }
      SpecConstant constant;
      constant.spec_id = *decorations.spec_id;
      constant.name = name_of(id);
      CLBIN_TRY_ASSIGN(constant.type_name, type_name(facts.type, IntegerSign::with_sign));
      const SpirvType type = type_of(facts.type);
      constant.size_bytes = type.kind == SpirvTypeKind::boolean ? 1 : (type.width + 7) / 8;
      constant.default_bits = facts.bits;
      CLBIN_TRY(take(sizeof(constant) + constant.name.size() + constant.type_name.size()));
      constants.push_back(std::move(constant));
    }
    std::ranges::stable_sort(constants, {}, &SpecConstant::spec_id);
    return constants;
  }

  [[nodiscard]] std::vector<std::string> imports() const {
    std::vector<std::string> names;
    for (const auto& [id, name] : m_facts.imports) {
      if (!m_facts.built_ins.contains(id)) {
        names.emplace_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

private:
  // Returns `none` for an id that is not a type.
  [[nodiscard]] SpirvType type_of(std::uint32_t id) const { return value_of(m_facts.types, id); }
  [[nodiscard]] std::string_view name_of(std::uint32_t id) const {
    return value_of(m_facts.names, id);
  }

  // Returns a name such as "float4*", or "pair" for the structure "struct.pair". Integers have no
  // sign in OpenCL's SPIR-V; `sign` determines it in the name. Error: damaged, if more than 16
  // pointers and vectors are nested.
  [[nodiscard]] Result<std::string> type_name(std::uint32_t id, IntegerSign sign) const {
    std::string suffix;
    for (int nesting = 0; nesting <= k_max_type_nesting; ++nesting) {
      const SpirvType type = type_of(id);
      if (type.kind == SpirvTypeKind::pointer) {
        suffix.insert(0, "*");
      } else if (type.kind == SpirvTypeKind::vector) {
        suffix.insert(0, std::to_string(type.width));
      } else {
        return plain_name(id, type, sign) + suffix;
      }
      id = type.element;
    }
    return fail(ErrorCode::damaged, "type {} contains more than {} others", id, k_max_type_nesting);
  }

  [[nodiscard]] std::string plain_name(std::uint32_t id, const SpirvType& type,
                                       IntegerSign sign) const {
    switch (type.kind) {
    case SpirvTypeKind::integer:
      return number_name(type.kind, type.width, type.is_signed || sign == IntegerSign::with_sign);
    case SpirvTypeKind::floating:
      return number_name(type.kind, type.width, true);
    case SpirvTypeKind::image:
      return std::string(image_type_name(type.image));
    case SpirvTypeKind::structure:
      return std::string(without_tag(name_of(id)));
    case SpirvTypeKind::opaque:
      return std::string(without_tag(type.opaque_name));
    default:
      return std::string(row_of(type.kind).second);
    }
  }

  Result<void> take(std::uint64_t bytes) {
    if (bytes > m_left) {
      return fail(ErrorCode::limit_exceeded, "the names of its kernels exceed {} bytes", m_limit);
    }
    m_left -= bytes;
    return {};
  }

  Result<KernelReflection> kernel_of(const EntryPoint& entry) {
    const auto function = m_facts.functions.find(entry.function);
    if (function == m_facts.functions.end()) {
      return fail(ErrorCode::damaged, "entry point '{}' names function {}, which does not exist",
                  base::printable_excerpt(entry.name), entry.function);
    }
    const std::vector<Parameter>& parameters = function->second;
    KernelReflection kernel;
    CLBIN_TRY(take(sizeof(kernel) + entry.name.size()));
    kernel.name = entry.name;
    kernel.argument_count = static_cast<std::uint32_t>(parameters.size());
    kernel.arguments.emplace();
    CLBIN_TRY_ASSIGN(const auto type_names,
                     strings_of(k_type_string, entry.name, parameters.size()));
    CLBIN_TRY_ASSIGN(const auto qualifiers,
                     strings_of(k_qualifier_string, entry.name, parameters.size()));
    for (std::size_t index = 0; index < parameters.size(); ++index) {
      CLBIN_TRY_ASSIGN(KernelArgument argument, argument_of(parameters[index]));
      CLBIN_TRY(take(sizeof(argument) + argument.name.size() + argument.type_name.size()));
      if (type_names) {
        argument.type_name = (*type_names)[index];
      }
      if (qualifiers) {
        set_type_qualifiers((*qualifiers)[index], argument);
      }
      kernel.arguments->push_back(std::move(argument));
    }
    CLBIN_TRY(set_modes(entry.function, kernel));
    return kernel;
  }

  // Returns the texts between the commas of "kernel_arg_type.KERNEL.int,float*,", one for each
  // argument; std::nullopt if there is no such string for this kernel.
  Result<std::optional<std::vector<std::string_view>>>
  strings_of(std::string_view prefix, std::string_view kernel, std::size_t count) {
    const std::string start = fmt::format("{}{}.", prefix, kernel);
    const auto found = m_facts.argument_strings.lower_bound(start);
    if (found == m_facts.argument_strings.end() || !found->starts_with(start)) {
      return std::nullopt;
    }
    CLBIN_TRY(take(found->size()));
    std::string_view rest = found->substr(start.size());
    std::vector<std::string_view> texts;
    while (!rest.empty() && texts.size() <= count) {
      const std::size_t comma = rest.find(',');
      if (comma == std::string_view::npos) {
        return std::nullopt;
      }
      texts.push_back(rest.substr(0, comma));
      rest.remove_prefix(comma + 1);
    }
    return texts.size() == count ? std::optional(std::move(texts)) : std::nullopt;
  }

  Result<KernelArgument> argument_of(const Parameter& parameter) const {
    const Decorations decorations = value_of(m_facts.decorations, parameter.id);
    const SpirvType type = type_of(parameter.type);
    KernelArgument argument;
    argument.name = name_of(parameter.id);
    argument.address_space = address_space_of(type, decorations);
    argument.access = type.access;
    argument.is_pipe = type.kind == SpirvTypeKind::pipe;
    argument.is_const = argument.address_space == AddressSpace::constant;
    argument.is_restrict = decorations.is_restrict;
    argument.is_volatile = decorations.is_volatile;
    const bool is_by_value = type.kind == SpirvTypeKind::pointer && decorations.is_by_value;
    CLBIN_TRY_ASSIGN(
        argument.type_name,
        type_name(is_by_value ? type.element : parameter.type,
                  decorations.is_unsigned ? IntegerSign::without_sign : IntegerSign::with_sign));
    return argument;
  }

  Result<GroupSize> size_of(const ModeSize& mode) const {
    GroupSize size = mode.size;
    for (std::uint64_t& extent : size) {
      const auto constant = m_facts.sizes.find(static_cast<std::uint32_t>(extent));
      if (mode.is_by_id && constant == m_facts.sizes.end()) {
        return fail(ErrorCode::damaged, "work-group size is id {}, which is no constant", extent);
      }
      extent = mode.is_by_id ? constant->second : extent;
    }
    return size;
  }

  Result<void> set_modes(std::uint32_t function, KernelReflection& kernel) const {
    const ExecutionModes modes = value_of(m_facts.modes, function);
    CLBIN_TRY_ASSIGN(kernel.required_work_group_size, size_of(modes.local_size));
    CLBIN_TRY_ASSIGN(const GroupSize hint, size_of(modes.local_size_hint));
    kernel.attributes = kernel_attributes(kernel.required_work_group_size, hint,
                                          modes.vec_type_hint, modes.subgroup_size);
    return {};
  }

  const ModuleFacts& m_facts;
  std::uint64_t m_limit; // of the copies of names that kernels and arguments may share
  std::uint64_t m_left;
};

Result<void> assemble(const ModuleFacts& facts, std::uint64_t module_bytes, SpirvModule& module) {
  ModuleAssembly assembly(facts, module_bytes);
  CLBIN_TRY_ASSIGN(module.kernels, assembly.kernels());
  CLBIN_TRY_ASSIGN(module.spec_constants, assembly.spec_constants());
  module.imports = assembly.imports();
  return {};
}

// Returns `bytes` with each word in the other byte order.
Bytes with_swapped_words(ByteView bytes) {
  Bytes words(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at + k_module_word_bytes <= words.size(); at += k_module_word_bytes) {
    std::ranges::reverse(std::span(words).subspan(at, k_module_word_bytes));
  }
  return words;
}

Result<SpirvModule> read_native(ByteView bytes) {
  SpirvModule module;
  CLBIN_TRY_ASSIGN(ModuleFacts facts, ModuleReader(bytes, module).read());
  CLBIN_TRY(base::in_context(assemble(facts, bytes.size(), module), "SPIR-V module"));
  return module;
}

} // namespace

Result<BinaryInfo> read_spirv_header(ByteView bytes) {
  ByteReader reader(bytes, "SPIR-V module");
  CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
  if (magic == k_swapped_module_magic) {
    return read_spirv_header(with_swapped_words(bytes));
  }
  reader = ByteReader(bytes, "SPIR-V module");
  CLBIN_TRY_ASSIGN(const ModuleHeader header, read_module_header(reader));
  BinaryInfo info;
  info.kind = BinaryKind::spirv;
  info.arch_major = header.version_major;
  info.arch_minor = header.version_minor;
  while (true) { // only capabilities, extensions and imports precede OpMemoryModel
    CLBIN_TRY_ASSIGN(const Instruction instruction, read_instruction(reader));
    if (instruction.opcode == spirv_op::memory_model) {
      Operands operands(instruction.operands, header.bound);
      info.address_bits = operands.address_bits();
      CLBIN_TRY(std::move(operands).status());
      return info;
    }
  }
}

Result<SpirvFeatures> read_spirv_features(ByteView module) {
  ByteReader reader(module, "SPIR-V module");
  CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
  if (magic == k_swapped_module_magic) {
    return read_spirv_features(with_swapped_words(module));
  }
  reader = ByteReader(module, "SPIR-V module");
  CLBIN_TRY_ASSIGN(const ModuleHeader header, read_module_header(reader));
  SpirvFeatures features;
  while (true) {
    CLBIN_TRY_ASSIGN(const Instruction instruction, read_instruction(reader));
    Operands operands(instruction.operands, header.bound);
    switch (instruction.opcode) {
    case spirv_op::capability:
      features.capabilities.push_back(operands.number("capability"));
      break;
    case spirv_op::extension:
      features.extensions.emplace_back(operands.literal("extension"));
      break;
    case spirv_op::instruction_set:
      operands.id("result id");
      features.instruction_sets.emplace_back(operands.literal("instruction set"));
      break;
    case spirv_op::memory_model:
      features.addressing_model = operands.number("addressing model");
      break;
    default:
      break;
    }
    CLBIN_TRY(std::move(operands).status());
    if (instruction.opcode == spirv_op::memory_model) {
      return features;
    }
  }
}

Result<SpirvModule> read_spirv_module(ByteView bytes) {
  ByteReader reader(bytes, "SPIR-V module");
  CLBIN_TRY_ASSIGN(const std::uint32_t magic, reader.read_u32("magic"));
  if (magic == k_module_magic) {
    return read_native(bytes);
  }
  if (magic == k_swapped_module_magic) {
    return read_native(with_swapped_words(bytes));
  }
  return fail(ErrorCode::damaged, "SPIR-V module: magic is 0x{:08x} and not 0x{:08x}", magic,
              k_module_magic);
}

} // namespace clbin::format

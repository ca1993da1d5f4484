#include "format/binary/binary_kernels.hpp"

#include "format/binary/kernel_metadata.hpp"

#include <set>

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

std::string integer_name(std::uint32_t width, bool has_sign) {
  const std::string_view prefix = has_sign ? "" : "u";
  for (const auto& [bits, name] :
       {std::pair{8U, "char"}, {16U, "short"}, {32U, "int"}, {64U, "long"}}) {
    if (bits == width) {
      return fmt::format("{}{}", prefix, name);
    }
  }
  return fmt::format("{}int{}_t", prefix, width);
}

std::string float_name(std::uint32_t width) {
  return width == 16   ? "half"
         : width == 32 ? "float"
         : width == 64 ? "double"
                       : fmt::format("float{}_t", width);
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

// Types by id. Texts are valid as long as the module.
class SpirvTypes {
public:
  // Adds a type. If the id already has a type, does nothing.
  void add(std::uint32_t id, const SpirvType& type) { m_types.emplace(id, type); }
  // Adds the name of an OpName.
  void add_name(std::uint32_t id, std::string_view name) { m_names.emplace(id, name); }

  // Returns `none` for an id that is not a type.
  [[nodiscard]] SpirvType find(std::uint32_t id) const {
    const auto found = m_types.find(id);
    return found == m_types.end() ? SpirvType{} : found->second;
  }
  // Returns an empty text for an id without a name.
  [[nodiscard]] std::string_view name_of(std::uint32_t id) const {
    const auto found = m_names.find(id);
    return found == m_names.end() ? std::string_view{} : found->second;
  }

  // Returns a name such as "float4*", or "pair" for the structure "struct.pair". Integers have no
  // sign in OpenCL's SPIR-V; `sign` determines it in the name. Error: damaged, if more than 16
  // pointers and vectors are nested.
  [[nodiscard]] Result<std::string> type_name(std::uint32_t id, IntegerSign sign) const {
    std::string suffix;
    for (int nesting = 0; nesting <= k_max_type_nesting; ++nesting) {
      const SpirvType type = find(id);
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

private:
  [[nodiscard]] std::string plain_name(std::uint32_t id, const SpirvType& type,
                                       IntegerSign sign) const {
    switch (type.kind) {
    case SpirvTypeKind::integer:
      return integer_name(type.width, type.is_signed || sign == IntegerSign::with_sign);
    case SpirvTypeKind::floating:
      return float_name(type.width);
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

  std::map<std::uint32_t, SpirvType> m_types;
  std::map<std::uint32_t, std::string_view> m_names;
};

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

struct ExecutionModes {
  GroupSize local_size{};
  GroupSize local_size_hint{};
  std::string vec_type_hint;
  std::uint32_t subgroup_size = 0;
};

// A size that OpExecutionModeId specifies by the ids of three constants.
struct SizeById {
  std::uint32_t function = 0;
  std::uint32_t mode = 0;
  std::array<std::uint32_t, 3> ids{};
};

struct Parameter {
  std::uint32_t id = 0;
  std::uint32_t type = 0;
};

// Parameters of a function: a range of ModuleFacts::parameters.
struct ParameterRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct ConstantFacts {
  std::uint32_t type = 0;
  std::uint64_t bits = 0;
};

// The contents of the instructions, before they are combined. Views point into the module.
struct ModuleFacts {
  SpirvTypes types;
  std::vector<EntryPoint> entry_points;
  std::map<std::uint32_t, ExecutionModes> modes; // by the id of the function
  std::vector<SizeById> sizes_by_id;
  std::set<std::uint32_t> size_ids; // that `sizes_by_id` names
  std::map<std::uint32_t, std::uint64_t> sizes;
  std::set<std::string_view> argument_strings;
  std::map<std::uint32_t, Decorations> decorations;
  std::map<std::uint32_t, ConstantFacts> spec_constants; // by id
  std::map<std::uint32_t, ParameterRange> functions;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::uint32_t, std::string_view>> imports;
  std::set<std::uint32_t> built_ins; // variables, which drivers define
};

// Returns a name such as "float4". The upper 16 bits are the components, the lower ones the number
// of a type (SPIR-V specification, 3.6, "VecTypeHint").
Result<std::string> vec_type_name(std::uint32_t hint) {
  constexpr std::array<std::string_view, 7> k_scalars{"char", "short", "int",   "long",
                                                      "half", "float", "double"};
  const std::uint32_t components = hint >> 16U;
  const std::uint32_t type = hint & 0xffffU;
  if (type >= k_scalars.size()) {
    return fail(ErrorCode::damaged, "VecTypeHint names type {}, which does not exist", type);
  }
  return components < 2 ? std::string(k_scalars[type])
                        : fmt::format("{}{}", k_scalars[type], components);
}

// Reads the operands of one instruction after the other into ModuleFacts.
class ModuleReader {
public:
  ModuleReader(ByteView bytes, SpirvModule& module) : m_bytes(bytes), m_module(module) {}

  Result<ModuleFacts> read() {
    ByteReader reader(m_bytes, "SPIR-V module");
    CLBIN_TRY(read_header(reader));
    while (reader.remaining() != 0) {
      const std::size_t offset = reader.offset();
      CLBIN_TRY_ASSIGN(const std::uint32_t head, reader.read_u32("instruction"));
      const std::uint32_t word_count = head >> 16U;
      if (word_count == 0) {
        return fail(ErrorCode::damaged, "SPIR-V module: the instruction at offset {} has no words",
                    offset);
      }
      CLBIN_TRY_ASSIGN(const ByteView operands,
                       reader.read_bytes((word_count - 1) * k_module_word_bytes, "instruction"));
      const auto opcode = static_cast<std::uint16_t>(head & 0xffffU);
      if (auto done = read_instruction(opcode, operands); !done) {
        return base::add_context(
            std::move(done.error()),
            fmt::format("SPIR-V module: instruction {} at offset {}", opcode, offset));
      }
    }
    if (!m_has_memory_model) {
      return fail(ErrorCode::damaged, "SPIR-V module: OpMemoryModel is missing");
    }
    return std::move(m_facts);
  }

private:
  Result<void> read_header(ByteReader& reader) {
    CLBIN_TRY(reader.read_u32("magic"));
    CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
    CLBIN_TRY(reader.read_u32("generator"));
    CLBIN_TRY_ASSIGN(m_bound, reader.read_u32("bound"));
    CLBIN_TRY_ASSIGN(const std::uint32_t schema, reader.read_u32("schema"));
    if ((version & 0xff0000ffU) != 0) {
      return fail(ErrorCode::damaged, "SPIR-V module: version 0x{:08x} is malformed", version);
    }
    m_module.version_major = static_cast<std::uint16_t>(version >> 16U);
    m_module.version_minor = static_cast<std::uint16_t>((version >> 8U) & 0xffU);
    if (m_module.version_major != 1 || schema != 0) {
      return fail(ErrorCode::newer_version,
                  "SPIR-V module: version {}.{}, schema {} is not known to this reader",
                  m_module.version_major, m_module.version_minor, schema);
    }
    return {};
  }

  Result<void> read_instruction(std::uint16_t opcode, ByteView operands) {
    struct Row {
      std::uint16_t opcode;
      Result<void> (ModuleReader::*read)(std::uint16_t, ByteReader&);
    };
    static constexpr std::array k_rows{
        Row{spirv_op::name, &ModuleReader::read_name},
        Row{spirv_op::string, &ModuleReader::read_string},
        Row{spirv_op::memory_model, &ModuleReader::read_memory_model},
        Row{spirv_op::entry_point, &ModuleReader::read_entry_point},
        Row{spirv_op::execution_mode, &ModuleReader::read_execution_mode},
        Row{spirv_op::capability, &ModuleReader::read_capability},
        Row{spirv_op::constant, &ModuleReader::read_constant},
        Row{spirv_op::spec_constant_true, &ModuleReader::read_constant},
        Row{spirv_op::spec_constant_false, &ModuleReader::read_constant},
        Row{spirv_op::spec_constant, &ModuleReader::read_constant},
        Row{spirv_op::function, &ModuleReader::read_function},
        Row{spirv_op::function_parameter, &ModuleReader::read_parameter},
        Row{spirv_op::decorate, &ModuleReader::read_decoration},
        Row{spirv_op::group_decorate, &ModuleReader::read_group},
        Row{spirv_op::execution_mode_id, &ModuleReader::read_execution_mode},
    };
    const auto* const row = std::ranges::find(k_rows, opcode, &Row::opcode);
    ByteReader reader(operands, "operands");
    if (row != k_rows.end()) {
      return (this->*row->read)(opcode, reader);
    }
    const SpirvTypeKind kind = row_of(static_cast<SpirvTypeKind>(opcode)).first;
    return kind == SpirvTypeKind::none ? Result<void>() : read_type(kind, reader);
  }

  Result<std::uint32_t> read_id(ByteReader& reader, std::string_view field) const {
    CLBIN_TRY_ASSIGN(const std::uint32_t id, reader.read_u32(field));
    if (id == 0 || id >= m_bound) {
      return fail(ErrorCode::damaged, "{} is id {}, the module's bound is {}", field, id, m_bound);
    }
    return id;
  }

  // A literal string: bytes up to a NUL, padded to a whole word.
  static Result<std::string_view> read_literal(ByteReader& reader, std::string_view field) {
    ByteReader rest = reader;
    CLBIN_TRY_ASSIGN(const ByteView bytes, rest.read_bytes(rest.remaining(), field));
    const std::string_view text = base::as_text(bytes);
    const std::size_t size = text.find('\0');
    if (size == std::string_view::npos) {
      return fail(ErrorCode::damaged, "{} has no terminating NUL", field);
    }
    CLBIN_TRY(reader.read_bytes((size / k_module_word_bytes + 1) * k_module_word_bytes, field));
    return text.substr(0, size);
  }

  Result<void> read_name(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "target"));
    CLBIN_TRY_ASSIGN(const std::string_view name, read_literal(reader, "name"));
    m_facts.types.add_name(id, name);
    return {};
  }

  Result<void> read_string(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY(read_id(reader, "result id"));
    CLBIN_TRY_ASSIGN(const std::string_view text, read_literal(reader, "string"));
    if (text.starts_with(k_type_string) || text.starts_with(k_qualifier_string)) {
      m_facts.argument_strings.insert(text);
    }
    return {};
  }

  Result<void> read_capability(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t capability, reader.read_u32("capability"));
    m_module.capabilities.push_back(capability);
    return {};
  }

  Result<void> read_memory_model(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t model, reader.read_u32("addressing model"));
    CLBIN_TRY(reader.read_u32("memory model"));
    // Logical 0, Physical32 1, Physical64 2.
    m_module.address_bits = static_cast<std::uint8_t>(model == 1 || model == 2 ? model * 32 : 0);
    m_has_memory_model = true;
    return {};
  }

  Result<void> read_entry_point(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t model, reader.read_u32("execution model"));
    EntryPoint entry;
    CLBIN_TRY_ASSIGN(entry.function, read_id(reader, "entry point"));
    CLBIN_TRY_ASSIGN(entry.name, read_literal(reader, "name of the entry point"));
    if (model != k_model_kernel) {
      return {};
    }
    if (entry.name.empty()) {
      return fail(ErrorCode::damaged, "the name of the entry point is empty");
    }
    m_facts.entry_points.push_back(entry);
    return {};
  }

  static Result<void> read_size(ByteReader& reader, GroupSize& size) {
    for (std::uint64_t& extent : size) {
      CLBIN_TRY_ASSIGN(extent, reader.read_u32("work-group size"));
    }
    return {};
  }

  Result<void> read_execution_mode(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t function, read_id(reader, "entry point"));
    CLBIN_TRY_ASSIGN(const std::uint32_t mode, reader.read_u32("execution mode"));
    ExecutionModes& modes = m_facts.modes[function];
    switch (mode) {
    case k_mode_local_size:
      return read_size(reader, modes.local_size);
    case k_mode_local_size_hint:
      return read_size(reader, modes.local_size_hint);
    case k_mode_vec_type_hint: {
      CLBIN_TRY_ASSIGN(const std::uint32_t hint, reader.read_u32("VecTypeHint"));
      CLBIN_TRY_ASSIGN(modes.vec_type_hint, vec_type_name(hint));
      return {};
    }
    case k_mode_subgroup_size: {
      CLBIN_TRY_ASSIGN(modes.subgroup_size, reader.read_u32("SubgroupSize"));
      return {};
    }
    case k_mode_local_size_id:
    case k_mode_local_size_hint_id:
      return read_size_ids(function, mode, reader);
    default:
      return {};
    }
  }

  Result<void> read_size_ids(std::uint32_t function, std::uint32_t mode, ByteReader& reader) {
    SizeById size;
    size.function = function;
    size.mode = mode;
    for (std::uint32_t& id : size.ids) {
      CLBIN_TRY_ASSIGN(id, read_id(reader, "work-group size"));
      m_facts.size_ids.insert(id);
    }
    m_facts.sizes_by_id.push_back(size);
    return {};
  }

  Result<void> read_type(SpirvTypeKind kind, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "result id"));
    SpirvType type;
    type.kind = kind;
    CLBIN_TRY(read_type_operands(reader, type));
    m_facts.types.add(id, type);
    return {};
  }

  Result<void> read_type_operands(ByteReader& reader, SpirvType& type) {
    switch (type.kind) {
    case SpirvTypeKind::integer: {
      CLBIN_TRY_ASSIGN(type.width, reader.read_u32("width"));
      CLBIN_TRY_ASSIGN(const std::uint32_t signedness, reader.read_u32("signedness"));
      type.is_signed = signedness != 0;
      return {};
    }
    case SpirvTypeKind::floating: {
      CLBIN_TRY_ASSIGN(type.width, reader.read_u32("width"));
      return {};
    }
    case SpirvTypeKind::vector: {
      CLBIN_TRY_ASSIGN(type.element, read_id(reader, "component type"));
      CLBIN_TRY_ASSIGN(type.width, reader.read_u32("component count"));
      return {};
    }
    case SpirvTypeKind::image:
      return read_image(reader, type);
    case SpirvTypeKind::opaque: {
      CLBIN_TRY_ASSIGN(type.opaque_name, read_literal(reader, "name of the opaque type"));
      return {};
    }
    case SpirvTypeKind::pointer: {
      CLBIN_TRY_ASSIGN(type.storage_class, reader.read_u32("storage class"));
      CLBIN_TRY_ASSIGN(type.element, read_id(reader, "pointee type"));
      return {};
    }
    case SpirvTypeKind::untyped_pointer: {
      CLBIN_TRY_ASSIGN(type.storage_class, reader.read_u32("storage class"));
      return {};
    }
    case SpirvTypeKind::pipe: {
      CLBIN_TRY_ASSIGN(type.access, read_access(reader));
      return {};
    }
    default:
      return {};
    }
  }

  Result<void> read_image(ByteReader& reader, SpirvType& type) {
    CLBIN_TRY(read_id(reader, "sampled type"));
    CLBIN_TRY_ASSIGN(type.image.dimensionality, reader.read_u32("dim"));
    CLBIN_TRY_ASSIGN(const std::uint32_t depth, reader.read_u32("depth"));
    CLBIN_TRY_ASSIGN(const std::uint32_t arrayed, reader.read_u32("arrayed"));
    CLBIN_TRY_ASSIGN(const std::uint32_t multisampled, reader.read_u32("multisampled"));
    CLBIN_TRY(reader.read_u32("sampled"));
    CLBIN_TRY(reader.read_u32("image format"));
    type.image.is_depth = depth == 1;
    type.image.is_arrayed = arrayed != 0;
    type.image.is_multisampled = multisampled != 0;
    type.access = AccessQualifier::read_only;
    if (reader.remaining() != 0) {
      CLBIN_TRY_ASSIGN(type.access, read_access(reader));
    }
    return {};
  }

  static Result<AccessQualifier> read_access(ByteReader& reader) {
    constexpr std::array k_qualifiers{AccessQualifier::read_only, AccessQualifier::write_only,
                                      AccessQualifier::read_write};
    CLBIN_TRY_ASSIGN(const std::uint32_t access, reader.read_u32("access qualifier"));
    if (access >= k_qualifiers.size()) {
      return fail(ErrorCode::damaged, "access qualifier {} does not exist", access);
    }
    return k_qualifiers[access];
  }

  Result<void> read_constant(std::uint16_t opcode, ByteReader& reader) {
    ConstantFacts constant;
    CLBIN_TRY_ASSIGN(constant.type, read_id(reader, "result type"));
    CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "result id"));
    const bool is_size = m_facts.size_ids.contains(id);
    if (opcode == spirv_op::constant && !is_size) {
      return {};
    }
    if (opcode == spirv_op::spec_constant_true || opcode == spirv_op::spec_constant_false) {
      if (m_facts.types.find(constant.type).kind != SpirvTypeKind::boolean) {
        return fail(ErrorCode::damaged, "the constant's type {} is not bool", constant.type);
      }
      constant.bits = opcode == spirv_op::spec_constant_true ? 1 : 0;
    } else {
      CLBIN_TRY_ASSIGN(constant.bits, read_number(reader, constant.type));
    }
    if (is_size) {
      m_facts.sizes[id] = constant.bits;
    }
    if (opcode != spirv_op::constant) {
      m_facts.spec_constants[id] = constant;
    }
    return {};
  }

  // Reads one word, or two words with the lower first if the type has more than 32 bits. A narrow
  // integer is sign-extended, so that its upper bits are discarded.
  Result<std::uint64_t> read_number(ByteReader& reader, std::uint32_t type_id) {
    const SpirvType type = m_facts.types.find(type_id);
    const bool is_number =
        type.kind == SpirvTypeKind::integer || type.kind == SpirvTypeKind::floating;
    if (!is_number || type.width == 0 || type.width > 64) {
      return fail(ErrorCode::damaged, "the constant's type {} is no number of 1 to 64 bits",
                  type_id);
    }
    if (type.width > 32) {
      return reader.read_u64("value");
    }
    CLBIN_TRY_ASSIGN(const std::uint32_t word, reader.read_u32("value"));
    return word & (~std::uint32_t{0} >> (32 - type.width));
  }

  Result<void> read_function(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY(read_id(reader, "result type"));
    CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "result id"));
    const auto [place, is_new] =
        m_facts.functions.emplace(id, ParameterRange{m_facts.parameters.size(), 0});
    if (!is_new) {
      return fail(ErrorCode::damaged, "function {} is defined twice", id);
    }
    m_function = &place->second;
    return {};
  }

  Result<void> read_parameter(std::uint16_t /*opcode*/, ByteReader& reader) {
    Parameter parameter;
    CLBIN_TRY_ASSIGN(parameter.type, read_id(reader, "result type"));
    CLBIN_TRY_ASSIGN(parameter.id, read_id(reader, "result id"));
    if (m_function == nullptr) {
      return fail(ErrorCode::damaged, "parameter {} belongs to no function", parameter.id);
    }
    m_facts.parameters.push_back(parameter);
    ++m_function->count;
    return {};
  }

  Result<void> read_decoration(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "target"));
    CLBIN_TRY_ASSIGN(const std::uint32_t decoration, reader.read_u32("decoration"));
    if (decoration == k_decoration_spec_id) {
      CLBIN_TRY_ASSIGN(m_facts.decorations[id].spec_id, reader.read_u32("SpecId"));
    } else if (decoration == k_decoration_volatile) {
      m_facts.decorations[id].is_volatile = true;
    } else if (decoration == k_decoration_parameter) {
      CLBIN_TRY_ASSIGN(const std::uint32_t attribute, reader.read_u32("parameter attribute"));
      Decorations& decorations = m_facts.decorations[id];
      decorations.is_unsigned = decorations.is_unsigned || attribute == k_parameter_zext;
      decorations.is_by_value = decorations.is_by_value || attribute == k_parameter_by_value;
      decorations.is_restrict = decorations.is_restrict || attribute == k_parameter_no_alias;
    } else if (decoration == k_decoration_linkage) {
      CLBIN_TRY_ASSIGN(const std::string_view name, read_literal(reader, "linkage name"));
      CLBIN_TRY_ASSIGN(const std::uint32_t type, reader.read_u32("linkage type"));
      if (type == k_linkage_import) {
        m_facts.imports.emplace_back(id, name);
      }
    } else if (decoration == k_decoration_built_in) {
      m_facts.built_ins.insert(id);
    }
    return {};
  }

  Result<void> read_group(std::uint16_t /*opcode*/, ByteReader& reader) {
    CLBIN_TRY_ASSIGN(const std::uint32_t group, read_id(reader, "decoration group"));
    const auto found = m_facts.decorations.find(group);
    while (found != m_facts.decorations.end() && reader.remaining() != 0) {
      CLBIN_TRY_ASSIGN(const std::uint32_t id, read_id(reader, "target"));
      const Decorations decorations = found->second;
      m_facts.decorations[id].merge(decorations);
    }
    return {};
  }

  ByteView m_bytes;
  SpirvModule& m_module;
  ModuleFacts m_facts;
  std::uint32_t m_bound = 0;
  bool m_has_memory_model = false;
  ParameterRange* m_function = nullptr; // a node of m_facts.functions
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

// Limits the copies of names that any number of kernels and arguments may share.
class CopyBudget {
public:
  explicit CopyBudget(std::uint64_t module_bytes)
      : m_limit((16ULL << 20U) + 4 * module_bytes), m_left(m_limit) {}

  Result<void> take(std::uint64_t bytes) {
    if (bytes > m_left) {
      return fail(ErrorCode::limit_exceeded, "the names of its kernels exceed {} bytes", m_limit);
    }
    m_left -= bytes;
    return {};
  }

private:
  std::uint64_t m_limit;
  std::uint64_t m_left;
};

// Combines the facts.
class ModuleAssembly {
public:
  ModuleAssembly(const ModuleFacts& facts, std::uint64_t module_bytes)
      : m_facts(facts), m_budget(module_bytes) {}

  Result<std::vector<KernelReflection>> kernels() {
    std::vector<KernelReflection> kernels;
    std::set<std::string_view> names;
    for (const EntryPoint& entry : m_facts.entry_points) {
      if (!names.insert(entry.name).second) {
        return fail(ErrorCode::damaged, "two entry points have the name '{}'",
                    base::printable_excerpt(entry.name));
      }
      CLBIN_TRY_ASSIGN(KernelReflection kernel, kernel_of(entry));
      kernels.push_back(std::move(kernel));
    }
    std::ranges::sort(kernels, {}, &KernelReflection::name);
    return kernels;
  }

  Result<std::vector<SpecConstant>> spec_constants() {
    std::vector<SpecConstant> constants;
    for (const auto& [id, facts] : m_facts.spec_constants) {
      const Decorations decorations = decorations_of(id);
      if (!decorations.spec_id.has_value()) {
        continue; // cannot be set
      }
      SpecConstant constant;
      constant.spec_id = *decorations.spec_id;
      constant.name = m_facts.types.name_of(id);
      CLBIN_TRY_ASSIGN(constant.type_name,
                       m_facts.types.type_name(facts.type, IntegerSign::with_sign));
      const SpirvType type = m_facts.types.find(facts.type);
      constant.size_bytes = type.kind == SpirvTypeKind::boolean ? 1 : (type.width + 7) / 8;
      constant.default_bits = facts.bits;
      CLBIN_TRY(m_budget.take(sizeof(constant) + constant.name.size() + constant.type_name.size()));
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
  [[nodiscard]] Decorations decorations_of(std::uint32_t id) const {
    const auto found = m_facts.decorations.find(id);
    return found == m_facts.decorations.end() ? Decorations{} : found->second;
  }

  Result<KernelReflection> kernel_of(const EntryPoint& entry) {
    const auto function = m_facts.functions.find(entry.function);
    if (function == m_facts.functions.end()) {
      return fail(ErrorCode::damaged, "entry point '{}' names function {}, which does not exist",
                  base::printable_excerpt(entry.name), entry.function);
    }
    const std::span<const Parameter> parameters =
        std::span(m_facts.parameters).subspan(function->second.first, function->second.count);
    KernelReflection kernel;
    CLBIN_TRY(m_budget.take(sizeof(kernel) + entry.name.size()));
    kernel.name = entry.name;
    kernel.argument_count = static_cast<std::uint32_t>(parameters.size());
    kernel.arguments.emplace();
    CLBIN_TRY_ASSIGN(const auto type_names,
                     strings_of(k_type_string, entry.name, parameters.size()));
    CLBIN_TRY_ASSIGN(const auto qualifiers,
                     strings_of(k_qualifier_string, entry.name, parameters.size()));
    for (std::size_t index = 0; index < parameters.size(); ++index) {
      CLBIN_TRY_ASSIGN(KernelArgument argument, argument_of(parameters[index]));
      CLBIN_TRY(m_budget.take(sizeof(argument) + argument.name.size() + argument.type_name.size()));
      if (type_names) {
        argument.type_name = (*type_names)[index];
      }
      if (qualifiers) {
        set_type_qualifiers((*qualifiers)[index], argument);
      }
      kernel.arguments->push_back(std::move(argument));
    }
    set_modes(entry.function, kernel);
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
    CLBIN_TRY(m_budget.take(found->size()));
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
    const Decorations decorations = decorations_of(parameter.id);
    const SpirvType type = m_facts.types.find(parameter.type);
    KernelArgument argument;
    argument.name = m_facts.types.name_of(parameter.id);
    argument.address_space = address_space_of(type, decorations);
    argument.access = type.access;
    argument.is_pipe = type.kind == SpirvTypeKind::pipe;
    argument.is_const = argument.address_space == AddressSpace::constant;
    argument.is_restrict = decorations.is_restrict;
    argument.is_volatile = decorations.is_volatile;
    const bool is_by_value = type.kind == SpirvTypeKind::pointer && decorations.is_by_value;
    CLBIN_TRY_ASSIGN(argument.type_name,
                     m_facts.types.type_name(is_by_value ? type.element : parameter.type,
                                             decorations.is_unsigned ? IntegerSign::without_sign
                                                                     : IntegerSign::with_sign));
    return argument;
  }

  void set_modes(std::uint32_t function, KernelReflection& kernel) const {
    const auto found = m_facts.modes.find(function);
    if (found == m_facts.modes.end()) {
      return;
    }
    const ExecutionModes& modes = found->second;
    kernel.required_work_group_size = modes.local_size;
    kernel.attributes = kernel_attributes(modes.local_size, modes.local_size_hint,
                                          modes.vec_type_hint, modes.subgroup_size);
  }

  const ModuleFacts& m_facts;
  CopyBudget m_budget;
};

Result<void> resolve_sizes(ModuleFacts& facts) {
  for (const SizeById& by_id : facts.sizes_by_id) {
    GroupSize size{};
    for (std::size_t dimension = 0; dimension < size.size(); ++dimension) {
      const auto found = facts.sizes.find(by_id.ids[dimension]);
      if (found == facts.sizes.end()) {
        return fail(ErrorCode::damaged, "work-group size is id {}, which is no constant",
                    by_id.ids[dimension]);
      }
      size[dimension] = found->second;
    }
    ExecutionModes& modes = facts.modes[by_id.function];
    (by_id.mode == k_mode_local_size_id ? modes.local_size : modes.local_size_hint) = size;
  }
  return {};
}

Result<void> assemble(ModuleFacts& facts, std::uint64_t module_bytes, SpirvModule& module) {
  CLBIN_TRY(resolve_sizes(facts));
  ModuleAssembly assembly(facts, module_bytes);
  CLBIN_TRY_ASSIGN(module.kernels, assembly.kernels());
  CLBIN_TRY_ASSIGN(module.spec_constants, assembly.spec_constants());
  module.imports = assembly.imports();
  return {};
}

Result<SpirvModule> read_native(ByteView bytes) {
  SpirvModule module;
  CLBIN_TRY_ASSIGN(ModuleFacts facts, ModuleReader(bytes, module).read());
  CLBIN_TRY(base::in_context(assemble(facts, bytes.size(), module), "SPIR-V module"));
  return module;
}

} // namespace

Bytes with_swapped_words(ByteView bytes) {
  Bytes words(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at + k_module_word_bytes <= words.size(); at += k_module_word_bytes) {
    std::ranges::reverse(std::span(words).subspan(at, k_module_word_bytes));
  }
  return words;
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

#include "format/binary/binary_kernels.hpp"

#include "format/binary/elf_object.hpp"
#include "format/binary/kernel_metadata.hpp"

#include <limits>
#include <set>

namespace clbin::format {
namespace {

constexpr std::string_view k_note_owner{"AMDGPU\0", 7};
constexpr std::uint32_t k_note_metadata = 32; // NT_AMDGPU_METADATA
constexpr base::JsonLimits k_metadata_limits{
    .max_bytes = 64ULL << 20U, .max_values = 1ULL << 20U, .max_depth = 16};

// Returns the metadata of a section of notes; std::nullopt if it contains none.
Result<std::optional<ByteView>> find_metadata(ByteView section) {
  ByteReader reader(section, "code object's notes");
  while (reader.remaining() != 0) {
    CLBIN_TRY_ASSIGN(const ElfNote note, read_elf_note(reader));
    if (note.type == k_note_metadata && note.owner == k_note_owner) {
      return note.value;
    }
  }
  return std::nullopt;
}

Result<ByteView> metadata_of(ByteView code_object) {
  const auto object = parse_elf(code_object);
  if (!object || object->machine != k_elf_machine_amdgpu) {
    return fail(ErrorCode::damaged, "not an ELF file of machine {}", k_elf_machine_amdgpu);
  }
  std::size_t bytes_left = object->file_bytes;
  for (const ElfSection& section : object->sections) {
    if (section.type == k_elf_section_note) {
      if (section.bytes.size() > bytes_left) { // each byte is read at most once
        return fail(ErrorCode::damaged, "its sections of notes overlap");
      }
      bytes_left -= section.bytes.size();
      CLBIN_TRY_ASSIGN(const std::optional<ByteView> metadata, find_metadata(section.bytes));
      if (metadata) {
        return *metadata;
      }
    }
  }
  return fail(ErrorCode::damaged,
              "no note of type {} and owner AMDGPU: the code object is "
              "older than version 3, or its sections are missing",
              k_note_metadata);
}

// The compiler places images in constant memory, but clGetKernelArgInfo reports them as global.
AddressSpace argument_space(std::string_view kind, std::string_view space) {
  if (kind == "image" || kind == "pipe") {
    return AddressSpace::global;
  }
  if (kind != "global_buffer" && kind != "dynamic_shared_pointer") {
    return AddressSpace::private_;
  }
  return space == "local"      ? AddressSpace::local
         : space == "constant" ? AddressSpace::constant
         : space == "private"  ? AddressSpace::private_
                               : AddressSpace::global;
}

// Only images and pipes have a qualifier in OpenCL C; the compiler also records those of other
// arguments.
AccessQualifier argument_access(std::string_view kind, std::string_view access) {
  if (kind != "image" && kind != "pipe") {
    return AccessQualifier::none;
  }
  if (access == "write_only") {
    return AccessQualifier::write_only;
  }
  return access == "read_write" ? AccessQualifier::read_write : AccessQualifier::read_only;
}

// Returns std::nullopt for a hidden argument.
Result<std::optional<KernelArgument>> read_argument(const MetadataMap& map) {
  CLBIN_TRY_ASSIGN(const std::string kind, map.text(".value_kind"));
  if (kind.empty()) {
    return fail(ErrorCode::damaged, "{}: missing", map.path_of(".value_kind"));
  }
  if (kind.starts_with("hidden_")) {
    return std::nullopt;
  }
  KernelArgument argument;
  CLBIN_TRY_ASSIGN(argument.name, map.text(".name"));
  CLBIN_TRY_ASSIGN(argument.type_name, map.text(".type_name"));
  CLBIN_TRY_ASSIGN(const std::string space, map.text(".address_space"));
  CLBIN_TRY_ASSIGN(const std::string access, map.text(".access"));
  CLBIN_TRY_ASSIGN(argument.is_const, map.flag(".is_const"));
  CLBIN_TRY_ASSIGN(argument.is_restrict, map.flag(".is_restrict"));
  CLBIN_TRY_ASSIGN(argument.is_volatile, map.flag(".is_volatile"));
  CLBIN_TRY_ASSIGN(argument.is_pipe, map.flag(".is_pipe"));
  argument.address_space = argument_space(kind, space);
  argument.access = argument_access(kind, access);
  return argument;
}

Result<std::vector<KernelArgument>> read_arguments(const MetadataMap& kernel) {
  std::vector<KernelArgument> arguments;
  CLBIN_TRY(kernel.for_each(".args", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(std::optional<KernelArgument> argument, read_argument(map));
    if (argument) {
      arguments.push_back(std::move(*argument));
    }
    return {};
  }));
  return arguments;
}

Result<void> read_attributes(const MetadataMap& map, KernelReflection& kernel) {
  CLBIN_TRY_ASSIGN(kernel.required_work_group_size, map.size3(".reqd_workgroup_size"));
  CLBIN_TRY_ASSIGN(const auto hint, map.size3(".workgroup_size_hint"));
  CLBIN_TRY_ASSIGN(const std::string type_hint, map.text(".vec_type_hint"));
  kernel.attributes = kernel_attributes(kernel.required_work_group_size, hint, type_hint);
  return {};
}

Result<void> read_resources(const MetadataMap& map, KernelReflection& kernel) {
  CLBIN_TRY_ASSIGN(kernel.local_bytes, map.number(".group_segment_fixed_size"));
  CLBIN_TRY_ASSIGN(kernel.private_bytes, map.number(".private_segment_fixed_size"));
  CLBIN_TRY_ASSIGN(const std::uint64_t largest, map.number(".max_flat_workgroup_size"));
  CLBIN_TRY_ASSIGN(const std::uint64_t wavefront, map.number(".wavefront_size"));
  if (largest != 0) {
    kernel.max_work_group_size = largest;
  }
  if (wavefront != 0) {
    kernel.preferred_multiple = wavefront;
  }
  CLBIN_TRY_ASSIGN(kernel.vendor["sgprs"], map.number(".sgpr_count"));
  CLBIN_TRY_ASSIGN(kernel.vendor["vgprs"], map.number(".vgpr_count"));
  for (const auto& [fact, member] :
       {std::pair{"agprs", ".agpr_count"}, std::pair{"sgpr_spills", ".sgpr_spill_count"},
        std::pair{"vgpr_spills", ".vgpr_spill_count"}}) {
    CLBIN_TRY_ASSIGN(const std::uint64_t number, map.number(member));
    if (number != 0) {
      kernel.vendor[fact] = number;
    }
  }
  return {};
}

Result<KernelReflection> read_kernel(const MetadataMap& map) {
  KernelReflection kernel;
  CLBIN_TRY_ASSIGN(kernel.name, map.text(".name"));
  if (kernel.name.empty()) {
    return fail(ErrorCode::damaged, "{}: missing", map.path_of(".name"));
  }
  CLBIN_TRY_ASSIGN(kernel.arguments, read_arguments(map));
  kernel.argument_count = static_cast<std::uint32_t>(kernel.arguments->size());
  CLBIN_TRY(read_attributes(map, kernel));
  CLBIN_TRY(read_resources(map, kernel));
  return kernel;
}

Result<std::vector<KernelReflection>> read_kernels(ByteView code_object) {
  CLBIN_TRY_ASSIGN(const ByteView metadata, metadata_of(code_object));
  CLBIN_TRY_ASSIGN(const base::JsonValue document,
                   base::parse_message_pack(metadata, k_metadata_limits));
  CLBIN_TRY_ASSIGN(const MetadataMap root, MetadataMap::of(document, "metadata"));
  std::vector<KernelReflection> kernels;
  std::set<std::string> names;
  const auto add = [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(KernelReflection kernel, read_kernel(map));
    if (!names.insert(kernel.name).second) {
      return fail(ErrorCode::damaged, "{}: another kernel has the name '{}'", map.path_of(".name"),
                  base::printable_excerpt(kernel.name));
    }
    kernels.push_back(std::move(kernel));
    return {};
  };
  CLBIN_TRY(root.for_each("amdhsa.kernels", add, "amdhsa.kernels"));
  std::ranges::sort(kernels, {}, &KernelReflection::name);
  return kernels;
}

} // namespace

Result<std::vector<KernelReflection>> read_amd_kernels(ByteView code_object) {
  return base::in_context(read_kernels(code_object), "AMD code object");
}

} // namespace clbin::format

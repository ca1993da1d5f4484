#include "format/binary/binary_kernels.hpp"

#include "format/binary/elf_object.hpp"
#include "format/binary/kernel_metadata.hpp"

#include <limits>

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
  std::size_t bytes_left = object->file.size();
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

std::vector<KernelArgument> read_arguments(const MetadataMap& kernel) {
  std::vector<KernelArgument> arguments;
  kernel.for_each(".args", [&](const MetadataMap& map) {
    const std::string kind = map.required_text(".value_kind");
    if (!kind.starts_with("hidden_")) {
      arguments.push_back({.name = map.text(".name"),
                           .type_name = map.text(".type_name"),
                           .address_space = argument_space(kind, map.text(".address_space")),
                           .access = argument_access(kind, map.text(".access")),
                           .is_const = map.flag(".is_const"),
                           .is_restrict = map.flag(".is_restrict"),
                           .is_volatile = map.flag(".is_volatile"),
                           .is_pipe = map.flag(".is_pipe")});
    }
  });
  return arguments;
}

void read_resources(const MetadataMap& map, KernelReflection& kernel) {
  kernel.local_bytes = map.number(".group_segment_fixed_size");
  kernel.private_bytes = map.number(".private_segment_fixed_size");
  if (const std::uint64_t largest = map.number(".max_flat_workgroup_size"); largest != 0) {
    kernel.max_work_group_size = largest;
  }
  if (const std::uint64_t wavefront = map.number(".wavefront_size"); wavefront != 0) {
    kernel.preferred_multiple = wavefront;
  }
  kernel.vendor["sgprs"] = map.number(".sgpr_count");
  kernel.vendor["vgprs"] = map.number(".vgpr_count");
  for (const auto& [fact, member] :
       {std::pair{"agprs", ".agpr_count"}, std::pair{"sgpr_spills", ".sgpr_spill_count"},
        std::pair{"vgpr_spills", ".vgpr_spill_count"}}) {
    if (const std::uint64_t number = map.number(member); number != 0) {
      kernel.vendor[fact] = number;
    }
  }
}

KernelReflection read_kernel(const MetadataMap& map) {
  KernelReflection kernel;
  kernel.name = map.required_text(".name");
  kernel.arguments = read_arguments(map);
  kernel.argument_count = static_cast<std::uint32_t>(kernel.arguments->size());
  kernel.required_work_group_size = map.size3(".reqd_workgroup_size");
  const GroupSize hint = map.size3(".workgroup_size_hint");
  kernel.attributes =
      kernel_attributes(kernel.required_work_group_size, hint, map.text(".vec_type_hint"));
  read_resources(map, kernel);
  return kernel;
}

Result<std::vector<KernelReflection>> read_kernels(ByteView code_object) {
  CLBIN_TRY_ASSIGN(const ByteView metadata, metadata_of(code_object));
  CLBIN_TRY_ASSIGN(const base::JsonValue document,
                   base::parse_message_pack(metadata, k_metadata_limits));
  Result<void> status;
  std::map<std::string, KernelReflection> kernels;
  const MetadataMap root(document, "metadata", status);
  const auto read = [&](const MetadataMap& map) {
    KernelReflection kernel = read_kernel(map);
    const std::string name = kernel.name;
    if (!kernels.emplace(name, std::move(kernel)).second) {
      map.refuse(".name",
                 fmt::format("another kernel has the name '{}'", base::printable_excerpt(name)));
    }
  };
  root.for_each("amdhsa.kernels", read, "amdhsa.kernels");
  CLBIN_TRY(std::move(status));
  return values_of(std::move(kernels));
}

} // namespace

Result<std::vector<KernelReflection>> read_amd_kernels(ByteView code_object) {
  return base::in_context(read_kernels(code_object), "AMD code object");
}

} // namespace clbin::format

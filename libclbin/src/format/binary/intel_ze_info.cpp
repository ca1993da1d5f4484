#include "format/binary/binary_kernels.hpp"

#include "format/binary/elf_object.hpp"
#include "format/binary/kernel_metadata.hpp"

namespace clbin::format {
namespace {

constexpr std::uint32_t k_section_ze_info = 0xff000011U;
// The functions that kernels call through pointers; not a kernel.
constexpr std::string_view k_function_table = "Intel_Symbol_Table_Void_Program";
constexpr std::uint64_t k_max_argument_index = 0xffff;

using ArgumentsByKernel = std::map<std::string, std::vector<KernelArgument>>;

Result<std::string_view> ze_info_of(ByteView zebin) {
  const auto object = parse_elf(zebin);
  if (!object || !is_zebin(*object)) {
    return fail(ErrorCode::damaged, "not an ELF file for Intel's GPUs");
  }
  const auto found = std::ranges::find(object->sections, k_section_ze_info, &ElfSection::type);
  if (found == object->sections.end() || found->bytes.empty()) {
    return fail(ErrorCode::damaged, "no section .ze_info");
  }
  const std::string_view text = base::as_text(found->bytes);
  return text.substr(0, text.find('\0'));
}

// Returns the enumerator whose name is that of a member; the default if the member is absent.
template <typename Enum, std::size_t count>
Result<Enum> named(const MetadataMap& map, std::string_view member,
                   const std::pair<std::string_view, Enum> (&names)[count]) {
  CLBIN_TRY_ASSIGN(const std::string name, map.text(member));
  const auto* const found = std::find_if(std::begin(names), std::end(names),
                                         [&](const auto& pair) { return pair.first == name; });
  if (found == std::end(names) && !name.empty()) {
    return fail(ErrorCode::damaged, "{}: '{}' is not known", map.path_of(member),
                base::printable_excerpt(name));
  }
  return name.empty() ? Enum() : found->second;
}

constexpr std::pair<std::string_view, AddressSpace> k_address_spaces[] = {
    {"__global", AddressSpace::global},
    {"__local", AddressSpace::local},
    {"__constant", AddressSpace::constant},
    {"__private", AddressSpace::private_},
};
constexpr std::pair<std::string_view, AccessQualifier> k_accesses[] = {
    {"__read_only", AccessQualifier::read_only},
    {"__write_only", AccessQualifier::write_only},
    {"__read_write", AccessQualifier::read_write},
    {"NONE", AccessQualifier::none},
};

Result<KernelArgument> read_argument_info(const MetadataMap& map) {
  KernelArgument argument;
  CLBIN_TRY_ASSIGN(argument.name, map.text("name"));
  CLBIN_TRY_ASSIGN(argument.type_name, map.text("type_name")); // "float*;8": name and size
  CLBIN_TRY_ASSIGN(argument.address_space, named(map, "address_qualifier", k_address_spaces));
  CLBIN_TRY_ASSIGN(argument.access, named(map, "access_qualifier", k_accesses));
  CLBIN_TRY_ASSIGN(const std::string qualifiers, map.text("type_qualifiers"));
  argument.type_name.resize(std::min(argument.type_name.find(';'), argument.type_name.size()));
  set_type_qualifiers(qualifiers, argument);
  return argument;
}

Result<ArgumentsByKernel> read_arguments_info(const MetadataMap& root) {
  ArgumentsByKernel kernels;
  CLBIN_TRY(root.for_each("kernels_misc_info", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(const std::string name, map.text("name"));
    std::vector<KernelArgument>& arguments = kernels[name];
    return map.for_each("args_info", [&](const MetadataMap& item) -> Result<void> {
      CLBIN_TRY_ASSIGN(const std::uint64_t index, item.number("index"));
      if (index != arguments.size()) {
        return fail(ErrorCode::damaged, "{}: {} and not {}", item.path_of("index"), index,
                    arguments.size());
      }
      CLBIN_TRY_ASSIGN(KernelArgument argument, read_argument_info(item));
      arguments.push_back(std::move(argument));
      return {};
    });
  }));
  return kernels;
}

// Returns the largest argument index in the payload plus one.
Result<std::uint32_t> count_arguments(const MetadataMap& kernel) {
  std::uint64_t count = 0;
  CLBIN_TRY(kernel.for_each("payload_arguments", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(const std::string kind, map.text("arg_type"));
    CLBIN_TRY_ASSIGN(const std::uint64_t index, map.number("arg_index"));
    if (index > k_max_argument_index) {
      return fail(ErrorCode::damaged, "{}: {} is above {}", map.path_of("arg_index"), index,
                  k_max_argument_index);
    }
    if (kind == "arg_bypointer" || kind == "arg_byvalue") {
      count = std::max(count, index + 1);
    }
    return {};
  }));
  return static_cast<std::uint32_t>(count);
}

Result<std::string> read_user_attributes(const MetadataMap& map) {
  CLBIN_TRY_ASSIGN(const auto required, map.size3("reqd_work_group_size"));
  CLBIN_TRY_ASSIGN(const auto hint, map.size3("work_group_size_hint"));
  CLBIN_TRY_ASSIGN(const std::string type_hint, map.text("vec_type_hint"));
  CLBIN_TRY_ASSIGN(const std::uint64_t sub_group, map.number("intel_reqd_sub_group_size"));
  return kernel_attributes(required, hint, type_hint, sub_group);
}

Result<void> read_execution_environment(const MetadataMap& map, KernelReflection& kernel) {
  CLBIN_TRY_ASSIGN(kernel.required_work_group_size, map.size3("required_work_group_size"));
  CLBIN_TRY_ASSIGN(kernel.local_bytes, map.number("slm_size"));
  CLBIN_TRY_ASSIGN(const std::uint64_t simd, map.number("simd_size"));
  CLBIN_TRY_ASSIGN(kernel.vendor["grf_count"], map.number("grf_count"));
  CLBIN_TRY_ASSIGN(const std::uint64_t spilled, map.number("spill_size"));
  if (simd != 0) {
    kernel.preferred_multiple = simd;
  }
  if (spilled != 0) {
    kernel.vendor["spill_bytes"] = spilled;
  }
  return {};
}

Result<void> read_memory_buffers(const MetadataMap& map, KernelReflection& kernel) {
  return map.for_each("per_thread_memory_buffers", [&](const MetadataMap& buffer) -> Result<void> {
    CLBIN_TRY_ASSIGN(const std::string type, buffer.text("type"));
    CLBIN_TRY_ASSIGN(const std::string usage, buffer.text("usage"));
    CLBIN_TRY_ASSIGN(const std::uint64_t size_bytes, buffer.number("size"));
    if (usage == "spill_fill_space") {
      kernel.vendor["spill_bytes"] += size_bytes;
    } else if (type == "scratch") {
      kernel.vendor["scratch_bytes"] += size_bytes;
    }
    return {};
  });
}

// Returns std::nullopt for an item that is not a kernel.
Result<std::optional<KernelReflection>> read_zebin_kernel(const MetadataMap& map) {
  KernelReflection kernel;
  CLBIN_TRY_ASSIGN(kernel.name, map.text("name"));
  if (kernel.name.empty()) {
    return fail(ErrorCode::damaged, "{}: missing", map.path_of("name"));
  }
  if (kernel.name == k_function_table) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(const MetadataMap attributes, map.map("user_attributes"));
  CLBIN_TRY_ASSIGN(const MetadataMap environment, map.map("execution_env"));
  CLBIN_TRY_ASSIGN(kernel.attributes, read_user_attributes(attributes));
  CLBIN_TRY(read_execution_environment(environment, kernel));
  CLBIN_TRY(read_memory_buffers(map, kernel));
  CLBIN_TRY_ASSIGN(kernel.argument_count, count_arguments(map));
  return kernel;
}

Result<std::vector<KernelReflection>> read_ze_info(ByteView zebin) {
  CLBIN_TRY_ASSIGN(const std::string_view text, ze_info_of(zebin));
  CLBIN_TRY_ASSIGN(const base::JsonValue document, parse_block_yaml(text));
  CLBIN_TRY_ASSIGN(const MetadataMap root, MetadataMap::of(document, ".ze_info"));
  CLBIN_TRY_ASSIGN(ArgumentsByKernel arguments, read_arguments_info(root));
  std::map<std::string, KernelReflection> kernels;
  CLBIN_TRY(root.for_each("kernels", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(std::optional<KernelReflection> kernel, read_zebin_kernel(map));
    if (!kernel) {
      return {};
    }
    if (const auto info = arguments.find(kernel->name); info != arguments.end()) {
      kernel->argument_count = static_cast<std::uint32_t>(info->second.size());
      kernel->arguments = std::move(info->second);
      arguments.erase(info);
    }
    std::string name = kernel->name;
    if (!kernels.emplace(std::move(name), std::move(*kernel)).second) {
      return fail(ErrorCode::damaged, "{}: another kernel has this name", map.path_of("name"));
    }
    return {};
  }));
  std::vector<KernelReflection> sorted;
  sorted.reserve(kernels.size());
  for (auto& [name, kernel] : kernels) {
    sorted.push_back(std::move(kernel));
  }
  return sorted;
}

} // namespace

Result<std::vector<KernelReflection>> read_zebin_kernels(ByteView zebin) {
  return base::in_context(read_ze_info(zebin), "Intel zebin");
}

} // namespace clbin::format

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
Enum named(const MetadataMap& map, std::string_view member,
           const std::pair<std::string_view, Enum> (&names)[count]) {
  const std::string name = map.text(member);
  for (const auto& [known, value] : names) {
    if (known == name) {
      return value;
    }
  }
  if (!name.empty()) {
    map.refuse(member, fmt::format("'{}' is not known", base::printable_excerpt(name)));
  }
  return Enum();
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

KernelArgument read_argument_info(const MetadataMap& map) {
  KernelArgument argument;
  argument.name = map.text("name");
  argument.type_name = map.text("type_name"); // "float*;8": name and size
  argument.type_name.resize(std::min(argument.type_name.find(';'), argument.type_name.size()));
  argument.address_space = named(map, "address_qualifier", k_address_spaces);
  argument.access = named(map, "access_qualifier", k_accesses);
  set_type_qualifiers(map.text("type_qualifiers"), argument);
  return argument;
}

ArgumentsByKernel read_arguments_info(const MetadataMap& root) {
  ArgumentsByKernel kernels;
  root.for_each("kernels_misc_info", [&](const MetadataMap& map) {
    std::vector<KernelArgument>& arguments = kernels[map.text("name")];
    map.for_each("args_info", [&](const MetadataMap& item) {
      if (const std::uint64_t index = item.number("index"); index != arguments.size()) {
        item.refuse("index", fmt::format("{} and not {}", index, arguments.size()));
      }
      arguments.push_back(read_argument_info(item));
    });
  });
  return kernels;
}

// Returns the largest argument index in the payload plus one.
std::uint32_t count_arguments(const MetadataMap& kernel) {
  std::uint64_t count = 0;
  kernel.for_each("payload_arguments", [&](const MetadataMap& map) {
    const std::string kind = map.text("arg_type");
    const std::uint64_t index = map.number("arg_index");
    if (index > k_max_argument_index) {
      map.refuse("arg_index", fmt::format("{} is above {}", index, k_max_argument_index));
    } else if (kind == "arg_bypointer" || kind == "arg_byvalue") {
      count = std::max(count, index + 1);
    }
  });
  return static_cast<std::uint32_t>(count);
}

void read_execution_environment(const MetadataMap& map, KernelReflection& kernel) {
  kernel.required_work_group_size = map.size3("required_work_group_size");
  kernel.local_bytes = map.number("slm_size");
  if (const std::uint64_t simd = map.number("simd_size"); simd != 0) {
    kernel.preferred_multiple = simd;
  }
  kernel.vendor["grf_count"] = map.number("grf_count");
  if (const std::uint64_t spilled = map.number("spill_size"); spilled != 0) {
    kernel.vendor["spill_bytes"] = spilled;
  }
}

void read_memory_buffers(const MetadataMap& map, KernelReflection& kernel) {
  map.for_each("per_thread_memory_buffers", [&](const MetadataMap& buffer) {
    const std::string usage = buffer.text("usage");
    const std::string type = buffer.text("type");
    const std::uint64_t size_bytes = buffer.number("size");
    if (usage == "spill_fill_space") {
      kernel.vendor["spill_bytes"] += size_bytes;
    } else if (type == "scratch") {
      kernel.vendor["scratch_bytes"] += size_bytes;
    }
  });
}

KernelReflection read_zebin_kernel(const MetadataMap& map) {
  KernelReflection kernel;
  kernel.name = map.required_text("name");
  const MetadataMap attributes = map.map("user_attributes");
  // In this order, so that every compiler names the same of two errors.
  const GroupSize required = attributes.size3("reqd_work_group_size");
  const GroupSize hint = attributes.size3("work_group_size_hint");
  const std::string type_hint = attributes.text("vec_type_hint");
  kernel.attributes =
      kernel_attributes(required, hint, type_hint, attributes.number("intel_reqd_sub_group_size"));
  read_execution_environment(map.map("execution_env"), kernel);
  read_memory_buffers(map, kernel);
  kernel.argument_count = count_arguments(map);
  return kernel;
}

Result<std::vector<KernelReflection>> read_ze_info(ByteView zebin) {
  CLBIN_TRY_ASSIGN(const std::string_view text, ze_info_of(zebin));
  CLBIN_TRY_ASSIGN(const base::JsonValue document, parse_block_yaml(text));
  Result<void> status;
  const MetadataMap root(document, ".ze_info", status);
  ArgumentsByKernel arguments = read_arguments_info(root);
  std::map<std::string, KernelReflection> kernels;
  root.for_each("kernels", [&](const MetadataMap& map) {
    if (map.text("name") == k_function_table) {
      return;
    }
    KernelReflection kernel = read_zebin_kernel(map);
    if (auto info = arguments.extract(kernel.name)) {
      kernel.argument_count = static_cast<std::uint32_t>(info.mapped().size());
      kernel.arguments = std::move(info.mapped());
    }
    std::string name = kernel.name;
    if (!kernels.emplace(std::move(name), std::move(kernel)).second) {
      map.refuse("name", "another kernel has this name");
    }
  });
  CLBIN_TRY(std::move(status));
  return values_of(std::move(kernels));
}

} // namespace

Result<std::vector<KernelReflection>> read_zebin_kernels(ByteView zebin) {
  return base::in_context(read_ze_info(zebin), "Intel zebin");
}

} // namespace clbin::format

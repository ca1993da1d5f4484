#include "format/binary/intel_ze_info.hpp"

#include "format/binary/block_yaml.hpp"
#include "format/binary/elf_object.hpp"
#include "format/binary/intel_zebin.hpp"
#include "format/binary/metadata_map.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace clbin::format {
namespace {

using base::ByteView;
using base::ErrorCode;
using base::Result;

constexpr std::uint32_t k_section_ze_info = 0xff000011U;
// The functions that kernels call through pointers; not a kernel.
constexpr std::string_view k_function_table = "Intel_Symbol_Table_Void_Program";
constexpr std::uint64_t k_max_argument_index = 0xffff;

using ArgumentsByKernel = std::map<std::string, std::vector<KernelArgument>>;

Result<std::string_view> ze_info_of(ByteView zebin) {
  const auto object = parse_elf(zebin);
  const bool is_zebin =
      object && (is_zebin_type(object->type) || object->machine == k_elf_machine_intel_gt);
  if (!is_zebin) {
    return base::fail(ErrorCode::damaged, "not an ELF file for Intel's GPUs");
  }
  const auto found =
      std::find_if(object->sections.begin(), object->sections.end(),
                   [](const ElfSection& section) { return section.type == k_section_ze_info; });
  if (found == object->sections.end() || found->bytes.empty()) {
    return base::fail(ErrorCode::damaged, "no section .ze_info");
  }
  const std::string_view text = base::as_text(found->bytes);
  return text.substr(0, text.find('\0'));
}

Result<AddressSpace> address_space_named(const MetadataMap& map) {
  CLBIN_TRY_ASSIGN(const std::string name, map.text("address_qualifier"));
  if (name == "__global") {
    return AddressSpace::global;
  }
  if (name == "__local") {
    return AddressSpace::local;
  }
  if (name == "__constant") {
    return AddressSpace::constant;
  }
  if (name == "__private" || name.empty()) {
    return AddressSpace::private_;
  }
  return base::fail(ErrorCode::damaged, "{}: '{}' is not known", map.path_of("address_qualifier"),
                    base::printable_excerpt(name));
}

Result<AccessQualifier> access_named(const MetadataMap& map) {
  CLBIN_TRY_ASSIGN(const std::string name, map.text("access_qualifier"));
  if (name == "__read_only") {
    return AccessQualifier::read_only;
  }
  if (name == "__write_only") {
    return AccessQualifier::write_only;
  }
  if (name == "__read_write") {
    return AccessQualifier::read_write;
  }
  if (name == "NONE" || name.empty()) {
    return AccessQualifier::none;
  }
  return base::fail(ErrorCode::damaged, "{}: '{}' is not known", map.path_of("access_qualifier"),
                    base::printable_excerpt(name));
}

// Parses "restrict const" or "NONE".
void set_type_qualifiers(std::string_view words, KernelArgument& argument) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    argument.is_const = argument.is_const || word == "const";
    argument.is_restrict = argument.is_restrict || word == "restrict";
    argument.is_volatile = argument.is_volatile || word == "volatile";
    argument.is_pipe = argument.is_pipe || word == "pipe";
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
}

Result<KernelArgument> read_argument_info(const MetadataMap& map) {
  KernelArgument argument;
  CLBIN_TRY_ASSIGN(argument.name, map.text("name"));
  CLBIN_TRY_ASSIGN(argument.type_name, map.text("type_name")); // "float*;8": name and size
  CLBIN_TRY_ASSIGN(argument.address_space, address_space_named(map));
  CLBIN_TRY_ASSIGN(argument.access, access_named(map));
  CLBIN_TRY_ASSIGN(const std::string qualifiers, map.text("type_qualifiers"));
  argument.type_name.resize(std::min(argument.type_name.find(';'), argument.type_name.size()));
  set_type_qualifiers(qualifiers, argument);
  return argument;
}

// Calls `read` for each item of a list of maps.
template <typename Read>
Result<void> for_each_map(const MetadataMap& parent, std::string_view name, const Read& read) {
  CLBIN_TRY_ASSIGN(const base::JsonArray* const items, parent.list(name));
  for (std::size_t index = 0; index < items->size(); ++index) {
    CLBIN_TRY_ASSIGN(
        const MetadataMap map,
        MetadataMap::of((*items)[index], fmt::format("{}[{}]", parent.path_of(name), index)));
    CLBIN_TRY(read(map));
  }
  return {};
}

Result<ArgumentsByKernel> read_arguments_info(const MetadataMap& root) {
  ArgumentsByKernel kernels;
  CLBIN_TRY(for_each_map(root, "kernels_misc_info", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(const std::string name, map.text("name"));
    std::vector<KernelArgument>& arguments = kernels[name];
    return for_each_map(map, "args_info", [&](const MetadataMap& item) -> Result<void> {
      CLBIN_TRY_ASSIGN(const std::uint64_t index, item.number("index"));
      if (index != arguments.size()) {
        return base::fail(ErrorCode::damaged, "{}: {} and not {}", item.path_of("index"), index,
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
  CLBIN_TRY(for_each_map(kernel, "payload_arguments", [&](const MetadataMap& map) -> Result<void> {
    CLBIN_TRY_ASSIGN(const std::string kind, map.text("arg_type"));
    CLBIN_TRY_ASSIGN(const std::uint64_t index, map.number("arg_index"));
    if (index > k_max_argument_index) {
      return base::fail(ErrorCode::damaged, "{}: {} is above {}", map.path_of("arg_index"), index,
                        k_max_argument_index);
    }
    if (kind == "arg_bypointer" || kind == "arg_byvalue") {
      count = std::max(count, index + 1);
    }
    return {};
  }));
  return static_cast<std::uint32_t>(count);
}

Result<void> read_user_attributes(const MetadataMap& map, KernelReflection& kernel) {
  const auto add = [&](const std::string& attribute) {
    kernel.attributes += (kernel.attributes.empty() ? "" : " ") + attribute;
  };
  for (const auto& [member, attribute] :
       {std::pair{"reqd_work_group_size", "reqd_work_group_size"},
        std::pair{"work_group_size_hint", "work_group_size_hint"}}) {
    CLBIN_TRY_ASSIGN(const auto size, map.size3(member));
    if (size[0] != 0) {
      add(fmt::format("{}({},{},{})", attribute, size[0], size[1], size[2]));
    }
  }
  CLBIN_TRY_ASSIGN(const std::string type_hint, map.text("vec_type_hint"));
  if (!type_hint.empty()) {
    add(fmt::format("vec_type_hint({})", type_hint));
  }
  CLBIN_TRY_ASSIGN(const std::uint64_t sub_group, map.number("intel_reqd_sub_group_size"));
  if (sub_group != 0) {
    add(fmt::format("intel_reqd_sub_group_size({})", sub_group));
  }
  return {};
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
  return for_each_map(map, "per_thread_memory_buffers",
                      [&](const MetadataMap& buffer) -> Result<void> {
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
    return base::fail(ErrorCode::damaged, "{}: missing", map.path_of("name"));
  }
  if (kernel.name == k_function_table) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(const MetadataMap attributes, map.map("user_attributes"));
  CLBIN_TRY_ASSIGN(const MetadataMap environment, map.map("execution_env"));
  CLBIN_TRY(read_user_attributes(attributes, kernel));
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
  CLBIN_TRY(for_each_map(root, "kernels", [&](const MetadataMap& map) -> Result<void> {
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
      return base::fail(ErrorCode::damaged, "{}: another kernel has this name",
                        map.path_of("name"));
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
  auto kernels = read_ze_info(zebin);
  if (!kernels) {
    return base::add_context(std::move(kernels.error()), "Intel zebin");
  }
  return kernels;
}

} // namespace clbin::format

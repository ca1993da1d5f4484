// The documents in which compilers describe the kernels of a binary: the YAML of Intel's, and typed
// access to the maps of both Intel's and AMD's.
#pragma once

#include "base/json_document.hpp"
#include "model/kernel.hpp"

namespace clbin::format {

// Reads one document of the subset of YAML that LLVM's writer uses: block maps and block lists.
// Scalars are on one line: plain, or in single or double quotes. Lists of scalars may be in
// brackets. Anchors, tags, block texts, flow maps and multi-line scalars are not supported. Numbers
// without a sign are std::uint64_t, `true` and `false` are bool, and all other values are text.
//
// Safe on untrusted input; memory and time are proportional to the size of `text`. Error: damaged,
// with the line number, for any other syntax, a duplicate key in a map, and nesting above 16.
[[nodiscard]] base::Result<base::JsonValue> parse_block_yaml(std::string_view text);

// Borrows the value passed to of(). An absent member is empty, 0 or false. Errors have the code
// `damaged`, and name the path and the member.
class MetadataMap {
public:
  // `path` is the path in messages: "amdhsa.kernels[3]".
  [[nodiscard]] static base::Result<MetadataMap> of(const base::JsonValue& value, std::string path);

  [[nodiscard]] base::Result<std::string> text(std::string_view name) const;
  [[nodiscard]] base::Result<std::uint64_t> number(std::string_view name) const;
  [[nodiscard]] base::Result<bool> flag(std::string_view name) const;
  // Returns three numbers.
  [[nodiscard]] base::Result<GroupSize> size3(std::string_view name) const;
  [[nodiscard]] base::Result<MetadataMap> map(std::string_view name) const;
  // Calls `read` for each item of a list of maps, until it returns an error. `path` is the path of
  // the list in messages, by default path_of(name).
  [[nodiscard]] base::Result<void> for_each(std::string_view name, const auto& read,
                                            std::string path = {}) const {
    CLBIN_TRY_ASSIGN(const base::JsonArray* const items, list(name));
    path = path.empty() ? path_of(name) : path;
    for (std::size_t index = 0; index < items->size(); ++index) {
      CLBIN_TRY_ASSIGN(const MetadataMap item,
                       of((*items)[index], fmt::format("{}[{}]", path, index)));
      CLBIN_TRY(read(item));
    }
    return {};
  }

  // Returns the path of a member.
  [[nodiscard]] std::string path_of(std::string_view name) const;

private:
  MetadataMap(const base::JsonObject& members, std::string path)
      : m_members(&members), m_path(std::move(path)) {}
  // Returns null if the member is absent. `expected` names the type in messages.
  template <typename T>
  [[nodiscard]] base::Result<const T*> find(std::string_view name, std::string_view expected) const;
  [[nodiscard]] base::Result<const base::JsonArray*> list(std::string_view name) const;

  const base::JsonObject* m_members;
  std::string m_path;
};

// Returns the attributes of a kernel in the spelling of CL_KERNEL_ATTRIBUTES in Intel's and
// NVIDIA's drivers: the sizes unless they are 0, the vector type unless it is empty, and the size
// of the sub-group unless it is 0.
[[nodiscard]] std::string kernel_attributes(const GroupSize& required, const GroupSize& hint,
                                            std::string_view vec_type_hint,
                                            std::uint64_t sub_group_size = 0);

// Sets the type qualifiers of an argument to those of a text such as "restrict const" or "NONE".
void set_type_qualifiers(std::string_view words, KernelArgument& argument);

} // namespace clbin::format

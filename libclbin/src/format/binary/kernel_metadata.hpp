// The documents in which compilers describe the kernels of a binary: the YAML of Intel's, and typed
// access to the maps of both Intel's and AMD's.
#pragma once

#include "base/json_document.hpp"
#include "model/kernel.hpp"

#include <functional>

namespace clbin::format {

// Reads one document of the subset of YAML that LLVM's writer uses: block maps and block lists.
// Scalars are on one line: plain, or in single or double quotes. Lists of scalars may be in
// brackets. Anchors, tags, block texts, flow maps and multi-line scalars are not supported. Numbers
// without a sign are std::uint64_t, `true` and `false` are bool, and all other values are text.
//
// Safe on untrusted input; memory and time are proportional to the size of `text`. Error: damaged,
// with the line number, for any other syntax, a duplicate key in a map, and nesting above 16.
[[nodiscard]] base::Result<base::JsonValue> parse_block_yaml(std::string_view text);

// A map of a document, which it borrows. An absent member is empty, 0 or false, as is every member
// after an error, of which the first one is kept. Errors have the code `damaged`, and name the path
// and the member.
class MetadataMap {
public:
  // `path` is the path in messages: "amdhsa.kernels[3]". `status` must outlive the map.
  MetadataMap(const base::JsonValue& value, std::string path, base::Result<void>& status);

  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  // Returns three numbers.
  [[nodiscard]] GroupSize size3(std::string_view name) const;
  [[nodiscard]] MetadataMap map(std::string_view name) const;
  // Calls `read` for each item of a list of maps, until the first error. `path` is the path of the
  // list in messages, by default that of the member.
  void for_each(std::string_view name, const std::function<void(const MetadataMap&)>& read,
                std::string path = {}) const;
  // Returns the text of a member that must not be empty.
  [[nodiscard]] std::string required_text(std::string_view name) const;

  // Records an error of a member.
  void refuse(std::string_view name, std::string_view reason) const;

private:
  // Returns an empty value if the member is absent. `expected` names the type in messages.
  template <typename T>
  [[nodiscard]] const T& find(std::string_view name, std::string_view expected) const;
  // The names of AMD's members begin with a dot.
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return fmt::format("{}{}{}", m_path, name.starts_with('.') ? "" : ".", name);
  }

  const base::JsonObject* m_members;
  std::string m_path;
  base::Result<void>* m_status;
};

// Returns the kernels in ascending order of their names.
[[nodiscard]] std::vector<KernelReflection>
values_of(std::map<std::string, KernelReflection>&& kernels);

// Returns the attributes of a kernel in the spelling of CL_KERNEL_ATTRIBUTES in Intel's and
// NVIDIA's drivers: the sizes unless they are 0, the vector type unless it is empty, and the size
// of the sub-group unless it is 0.
[[nodiscard]] std::string kernel_attributes(const GroupSize& required, const GroupSize& hint,
                                            std::string_view vec_type_hint,
                                            std::uint64_t sub_group_size = 0);

// Sets the type qualifiers of an argument to those of a text such as "restrict const" or "NONE".
void set_type_qualifiers(std::string_view words, KernelArgument& argument);

} // namespace clbin::format

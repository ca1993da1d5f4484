// Typed access to the members of maps in compilers' kernel metadata.
#pragma once

#include "base/json_document.hpp"
#include "base/result.hpp"
#include "model/kernel.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace clbin::format {

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
  [[nodiscard]] base::Result<const base::JsonArray*> list(std::string_view name) const;
  [[nodiscard]] base::Result<MetadataMap> map(std::string_view name) const;

  // The paths of the map and of a member.
  [[nodiscard]] const std::string& path() const noexcept { return m_path; }
  [[nodiscard]] std::string path_of(std::string_view name) const;

private:
  MetadataMap(const base::JsonObject& members, std::string path)
      : m_members(&members), m_path(std::move(path)) {}
  [[nodiscard]] const base::JsonValue* find(std::string_view name) const;
  [[nodiscard]] tl::unexpected<base::Error> wrong_type(std::string_view name,
                                                       std::string_view expected) const;
  template <typename T>
  [[nodiscard]] base::Result<T> read(std::string_view name, std::string_view expected) const;

  const base::JsonObject* m_members;
  std::string m_path;
};

} // namespace clbin::format

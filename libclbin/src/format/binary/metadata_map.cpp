#include "format/binary/metadata_map.hpp"

#include <utility>

namespace clbin::format {

using base::ErrorCode;
using base::Result;

Result<MetadataMap> MetadataMap::of(const base::JsonValue& value, std::string path) {
  const auto* const members = std::get_if<base::JsonObject>(&value.value);
  if (members == nullptr) {
    return base::fail(ErrorCode::damaged, "{}: not a map", path);
  }
  return MetadataMap(*members, std::move(path));
}

Result<std::string> MetadataMap::text(std::string_view name) const {
  return read<std::string>(name, "a string");
}

Result<std::uint64_t> MetadataMap::number(std::string_view name) const {
  return read<std::uint64_t>(name, "an unsigned integer");
}

Result<bool> MetadataMap::flag(std::string_view name) const {
  return read<bool>(name, "true or false");
}

Result<GroupSize> MetadataMap::size3(std::string_view name) const {
  GroupSize size{};
  CLBIN_TRY_ASSIGN(const base::JsonArray* const items, list(name));
  if (!items->empty() && items->size() != size.size()) {
    return base::fail(ErrorCode::damaged, "{}: {} numbers and not {}", path_of(name), items->size(),
                      size.size());
  }
  for (std::size_t index = 0; index < items->size(); ++index) {
    const auto* const extent = std::get_if<std::uint64_t>(&(*items)[index].value);
    if (extent == nullptr) {
      return wrong_type(name, "three unsigned integers");
    }
    size[index] = *extent;
  }
  return size;
}

Result<const base::JsonArray*> MetadataMap::list(std::string_view name) const {
  static const base::JsonArray k_empty;
  const base::JsonValue* const member = find(name);
  if (member == nullptr) {
    return &k_empty;
  }
  const auto* const items = std::get_if<base::JsonArray>(&member->value);
  if (items == nullptr) {
    return wrong_type(name, "a list");
  }
  return items;
}

Result<MetadataMap> MetadataMap::map(std::string_view name) const {
  static const base::JsonObject k_empty;
  const base::JsonValue* const member = find(name);
  return member == nullptr ? MetadataMap(k_empty, path_of(name)) : of(*member, path_of(name));
}

// The names of AMD's members begin with a dot.
std::string MetadataMap::path_of(std::string_view name) const {
  return fmt::format("{}{}{}", m_path, name.starts_with('.') ? "" : ".", name);
}

const base::JsonValue* MetadataMap::find(std::string_view name) const {
  const auto found = m_members->find(name);
  return found == m_members->end() ? nullptr : &found->second;
}

tl::unexpected<base::Error> MetadataMap::wrong_type(std::string_view name,
                                                    std::string_view expected) const {
  return base::fail(ErrorCode::damaged, "{}: not {}", path_of(name), expected);
}

template <typename T>
Result<T> MetadataMap::read(std::string_view name, std::string_view expected) const {
  const base::JsonValue* const member = find(name);
  if (member == nullptr) {
    return T{};
  }
  const T* const value = std::get_if<T>(&member->value);
  if (value == nullptr) {
    return wrong_type(name, expected);
  }
  return *value;
}

} // namespace clbin::format

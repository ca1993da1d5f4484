// Records: plain structs, each with a function `visit(record, member)` beside it. It calls
// `member(name, value)` for every member in the order of declaration; the names are those of the
// manifest (clbin(5)). Every encoding of records is a template over visit(). Its structured binding
// makes a member that it does not name a compile error.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

namespace clbin::format {

// `Record` is `T` or `const T`.
template <typename Record, typename T>
concept Is = std::same_as<std::remove_const_t<Record>, T>;

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

struct IgnoreMember {
  void operator()(std::string_view /*name*/, const auto& /*value*/) const {}
};
template <typename T>
concept Record = requires(const T& record) {
  visit(record, IgnoreMember());
};

// Calls `member` in ascending order of the names.
template <Record T>
void visit_by_name(const T& record, const auto& member) {
  std::vector<std::string_view> names;
  visit(record, [&](std::string_view name, const auto&) { names.push_back(name); });
  std::sort(names.begin(), names.end());
  for (const std::string_view next : names) {
    visit(record, [&](std::string_view name, const auto& value) {
      if (name == next) {
        member(name, value);
      }
    });
  }
}

// Returns the name of an enumerator. names_of(Enum), beside the enumeration, lists the names in the
// order of the enumerators. Returns an empty text for any other number.
template <typename Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) noexcept {
  const auto names = names_of(value);
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : std::string_view();
}

} // namespace clbin::format

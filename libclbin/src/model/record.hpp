// Records: plain structs, each with a function `visit(record, member)` beside it. It calls
// `member(name, value)` for every member in the order of declaration; the names are those of the
// manifest (clbin(5)). Every encoding of records is a template over visit().
#pragma once

#include "base/digest.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <type_traits>

namespace clbin::format {

// `Record` is `T` or `const T`.
template <typename Record, typename T>
concept Is = std::same_as<std::remove_const_t<Record>, T>;

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

// Returns the names of a list such as "size, const_". An underscore at the end of a name, which
// distinguishes it from a keyword of C++, is not part of it.
template <std::size_t count>
constexpr std::array<std::string_view, count> split_member_names(std::string_view list) {
  std::array<std::string_view, count> names;
  for (std::string_view& name : names) {
    name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(name.size() + 2, list.size()));
    name.remove_suffix(name.ends_with('_') ? 1 : 0);
  }
  return names;
}
void visit_members(const auto& names, const auto& member, auto&... values) {
  std::size_t next = 0;
  (member(names[next++], values), ...);
}

// Defines visit() for a record with these members, in the order of their declaration. The
// structured binding makes a missing one a compile error.
#define CLBIN_VISIT(Type, ...)                                                                     \
  void visit(clbin::format::Is<Type> auto& record, const auto& member) {                           \
    constexpr std::size_t k_count = 1 + std::ranges::count(std::string_view(#__VA_ARGS__), ',');   \
    static constexpr auto k_names = clbin::format::split_member_names<k_count>(#__VA_ARGS__);      \
    auto& [__VA_ARGS__] = record;                                                                  \
    clbin::format::visit_members(k_names, member, __VA_ARGS__);                                    \
  }                                                                                                \
  static_assert(true, "CLBIN_VISIT ends with a semicolon")

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
  std::ranges::sort(names);
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

// Writes records as a sequence of numbers and bytes, from which they could be read again: for
// messages and for digests. `Self`, the derived class, has put(std::uint64_t) and
// put(base::ByteView). It may overload write() for types that it writes in another way. Members are
// written in the order of visit(), without their names. A count or a size precedes everything of
// variable length.
template <typename Self>
class RecordWriter {
public:
  void write(Number auto number) { self().put(static_cast<std::uint64_t>(number)); }

  void write(base::ByteView bytes) {
    write(bytes.size());
    self().put(bytes);
  }
  void write(std::string_view text) { write(base::as_bytes(text)); }
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const base::Bytes& bytes) { write(base::ByteView(bytes)); }

  template <typename Item, std::size_t Count>
  void write(const std::array<Item, Count>& items) {
    for (const Item& item : items) {
      self().write(item);
    }
  }

  template <typename First, typename Second>
  void write(const std::pair<First, Second>& pair) {
    self().write(pair.first);
    self().write(pair.second);
  }

  template <typename Value>
  void write(const std::optional<Value>& value) {
    write(value.has_value());
    if (value.has_value()) {
      self().write(*value);
    }
  }

  void write(const std::ranges::range auto& items) {
    write(items.size());
    for (const auto& item : items) {
      self().write(item);
    }
  }

  void write(const Record auto& record) {
    visit(record, [this](std::string_view /*name*/, const auto& value) { self().write(value); });
  }

private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

// Digests of records.
template <typename Self>
class RecordHasher : public RecordWriter<Self> {
public:
  void put(std::uint64_t number) { m_hasher.add_u64(number); }
  void put(base::ByteView bytes) { m_hasher.add(bytes); }
  // Can be called only once.
  [[nodiscard]] base::Digest finish() { return m_hasher.finish(); }

private:
  base::Hasher m_hasher;
};

} // namespace clbin::format

// Texts of a bundle that many records share, kept in memory only once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fmt/core.h>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clbin::format {

// Returns a name of a bundle for messages and reports. A longer name, which no device has, is cut
// and ends with "...".
inline constexpr std::size_t k_max_told_bytes = 128;
[[nodiscard]] inline std::string told(std::string_view text) {
  return text.size() <= k_max_told_bytes ? std::string(text)
                                         : std::string(text.substr(0, k_max_told_bytes)) + "...";
}

// An immutable value; copies share it. Thread-safe to read and to copy. Not explicit, because it
// replaces the value itself.
template <typename Value>
class Shared {
public:
  Shared() = default;
  Shared(Value value) // NOLINT(google-explicit-constructor)
      : m_value(std::make_shared<const Value>(std::move(value))) {}
  operator const Value&() const noexcept { // NOLINT(google-explicit-constructor)
    return get();
  }

  [[nodiscard]] bool empty() const noexcept { return get().empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return get().size(); }
  // The address of the value. Equal addresses mean equal values.
  [[nodiscard]] const void* identity() const noexcept { return m_value.get(); }
  [[nodiscard]] bool is_same(const Shared& other) const noexcept {
    return m_value == other.m_value;
  }

  friend bool operator==(const Shared& a, const Shared& b) noexcept {
    return a.is_same(b) || a.get() == b.get();
  }

protected:
  [[nodiscard]] const Value& get() const noexcept {
    static const Value k_empty;
    return m_value == nullptr ? k_empty : *m_value;
  }

private:
  std::shared_ptr<const Value> m_value;
};

class SharedText : public Shared<std::string> {
public:
  using Shared::Shared;
  SharedText(const char* text) // NOLINT(google-explicit-constructor)
      : Shared(std::string(text)) {}
  operator std::string_view() const noexcept { // NOLINT(google-explicit-constructor)
    return str();
  }
  [[nodiscard]] const std::string& str() const noexcept { return get(); }
  [[nodiscard]] const char* c_str() const noexcept { return str().c_str(); }

  friend bool operator==(const SharedText& a, const SharedText& b) noexcept {
    return static_cast<const Shared&>(a) == static_cast<const Shared&>(b);
  }
  friend bool operator==(const SharedText& a, const std::string& b) noexcept {
    return a.str() == b;
  }
  friend bool operator==(const SharedText& a, std::string_view b) noexcept { return a.str() == b; }
  friend bool operator==(const SharedText& a, const char* b) noexcept { return a.str() == b; }
  friend bool operator<(const SharedText& a, const SharedText& b) noexcept {
    return !a.is_same(b) && a.str() < b.str();
  }
};

class SharedNames : public Shared<std::vector<std::string>> {
public:
  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;
  using iterator = const_iterator;

  using Shared::Shared;
  SharedNames(std::initializer_list<std::string> names) // NOLINT(google-explicit-constructor)
      : Shared(std::vector<std::string>(names)) {}
  [[nodiscard]] const_iterator begin() const noexcept { return get().begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return get().end(); }
  [[nodiscard]] const std::string& front() const { return get().front(); }
  [[nodiscard]] const std::string& operator[](std::size_t index) const { return get()[index]; }
};

} // namespace clbin::format

template <>
struct fmt::formatter<clbin::format::SharedText> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const clbin::format::SharedText& text, fmt::format_context& context) const {
    const std::string_view view(text);
    // Not fmt::format_to: it compiles the formatting of numbers, for which clang's fmt_code has no
    // symbols.
    return std::copy(view.begin(), view.end(), context.out());
  }
};

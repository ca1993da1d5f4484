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

// An immutable std::string; copies share it. Thread-safe to read and to copy.
class SharedText {
public:
  SharedText() = default;
  // Not explicit, because these replace a std::string.
  SharedText(std::string text) // NOLINT(google-explicit-constructor)
      : m_text(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) // NOLINT(google-explicit-constructor)
      : SharedText(std::string(text)) {}
  operator std::string_view() const noexcept { // NOLINT(google-explicit-constructor)
    return str();
  }
  operator const std::string&() const noexcept { // NOLINT(google-explicit-constructor)
    return str();
  }

  [[nodiscard]] const std::string& str() const noexcept {
    static const std::string k_empty;
    return m_text == nullptr ? k_empty : *m_text;
  }
  [[nodiscard]] bool empty() const noexcept { return str().empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return str().size(); }
  [[nodiscard]] const char* c_str() const noexcept { return str().c_str(); }

  // Returns true if both are the same object and therefore equal. Does not read the bytes.
  [[nodiscard]] bool is_same(const SharedText& other) const noexcept {
    return m_text == other.m_text;
  }
  [[nodiscard]] const void* identity() const noexcept { return m_text.get(); }

  friend bool operator==(const SharedText& a, const SharedText& b) noexcept {
    return a.is_same(b) || a.str() == b.str();
  }
  friend bool operator==(const SharedText& a, const std::string& b) noexcept {
    return a.str() == b;
  }
  friend bool operator==(const SharedText& a, std::string_view b) noexcept { return a.str() == b; }
  friend bool operator==(const SharedText& a, const char* b) noexcept { return a.str() == b; }
  friend bool operator<(const SharedText& a, const SharedText& b) noexcept {
    return !a.is_same(b) && a.str() < b.str();
  }

private:
  std::shared_ptr<const std::string> m_text;
};

// An immutable list of texts; copies share it. Thread-safe to read and to copy.
class SharedNames {
public:
  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;
  using iterator = const_iterator;
  using size_type = std::size_t;

  SharedNames() = default;
  // Not explicit, because these replace a vector.
  SharedNames(std::vector<std::string> names) // NOLINT(google-explicit-constructor)
      : m_names(std::make_shared<const std::vector<std::string>>(std::move(names))) {}
  SharedNames(std::initializer_list<std::string> names) // NOLINT(google-explicit-constructor)
      : SharedNames(std::vector<std::string>(names)) {}
  operator const std::vector<std::string>&() const noexcept { // NOLINT(google-explicit-constructor)
    return list();
  }

  [[nodiscard]] const std::vector<std::string>& list() const noexcept {
    static const std::vector<std::string> k_none;
    return m_names == nullptr ? k_none : *m_names;
  }
  [[nodiscard]] const_iterator begin() const noexcept { return list().begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return list().end(); }
  [[nodiscard]] bool empty() const noexcept { return list().empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return list().size(); }
  [[nodiscard]] const std::string& front() const { return list().front(); }
  [[nodiscard]] const std::string& operator[](std::size_t index) const { return list()[index]; }
  [[nodiscard]] bool is_same(const SharedNames& other) const noexcept {
    return m_names == other.m_names;
  }

  friend bool operator==(const SharedNames& a, const SharedNames& b) {
    return a.is_same(b) || a.list() == b.list();
  }

private:
  std::shared_ptr<const std::vector<std::string>> m_names;
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

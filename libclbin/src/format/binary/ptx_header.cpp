#include "format/binary/ptx_header.hpp"

#include <charconv>

namespace clbin::format {
namespace {

constexpr std::string_view k_blanks = " \t\r\n\v\f";
constexpr std::uint16_t k_default_address_bits = 32;

bool is_word_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.';
}

// Parses all of `text` as a decimal number of at most `max`.
std::optional<std::uint16_t> parse_number(std::string_view text, std::uint16_t max) {
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (text.empty() || code != std::errc{} || stop != end || number > max) {
    return std::nullopt;
  }
  return number;
}

// Words of PTX: letters, digits, '_' and '.'.
class Scanner {
public:
  explicit Scanner(std::string_view text) : m_rest(text.substr(0, text.find('\0'))) {}

  // Returns std::nullopt at the end of the text, and for a word that ends there, because it may be
  // cut.
  std::optional<std::string_view> next_word() {
    skip_blanks();
    std::size_t size = 0;
    while (size < m_rest.size() && is_word_character(m_rest[size])) {
      ++size;
    }
    if (size == m_rest.size()) {
      return std::nullopt;
    }
    const std::string_view word = m_rest.substr(0, size);
    m_rest.remove_prefix(size);
    return word;
  }

  bool skip_comma() {
    skip_blanks();
    if (!m_rest.starts_with(',')) {
      return false;
    }
    m_rest.remove_prefix(1);
    return true;
  }

private:
  void skip_past(std::string_view end) {
    const std::size_t at = m_rest.find(end);
    m_rest = at == std::string_view::npos ? std::string_view{} : m_rest.substr(at + end.size());
  }

  void skip_blanks() {
    while (!m_rest.empty()) {
      const std::size_t at = m_rest.find_first_not_of(k_blanks);
      m_rest = at == std::string_view::npos ? std::string_view{} : m_rest.substr(at);
      if (m_rest.starts_with("//")) {
        skip_past("\n");
      } else if (m_rest.starts_with("/*")) {
        m_rest.remove_prefix(2);
        skip_past("*/");
      } else {
        return;
      }
    }
  }

  std::string_view m_rest;
};

// "7.5"
bool parse_version(std::string_view word, BinaryInfo& info) {
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  const auto major = parse_number(word.substr(0, dot), 0xff);
  const auto minor = parse_number(word.substr(dot + 1), 0xff);
  if (!major || !minor) {
    return false;
  }
  info.format_major = *major;
  info.format_minor = *minor;
  return true;
}

// "sm_90a"
bool parse_sm(std::string_view word, BinaryInfo& info) {
  word.remove_prefix(std::string_view("sm_").size());
  if (word.ends_with('a') || word.ends_with('f')) {
    info.arch_suffix = word.back();
    word.remove_suffix(1);
  }
  const auto sm = parse_number(word, 999);
  if (!sm || *sm < 10) {
    return false;
  }
  info.arch_major = *sm / 10;
  info.arch_minor = *sm % 10;
  return true;
}

// Parses "sm_50, texmode_independent": the second word marks OpenCL's flavour (doc/drivers.md,
// "NVIDIA").
bool read_target(Scanner& scanner, BinaryInfo& info) {
  bool has_sm = false;
  info.ptx_flavour = PtxFlavour::cuda;
  do {
    const auto word = scanner.next_word();
    if (!word) {
      return false;
    }
    if (word->starts_with("sm_")) {
      if (has_sm || !parse_sm(*word, info)) {
        return false;
      }
      has_sm = true;
    } else if (*word == "texmode_independent") {
      info.ptx_flavour = PtxFlavour::nvcl;
    }
  } while (scanner.skip_comma());
  return has_sm;
}

bool read_address_size(Scanner& scanner, BinaryInfo& info) {
  const auto directive = scanner.next_word();
  if (!directive) {
    return false;
  }
  info.address_bits = k_default_address_bits;
  if (*directive != ".address_size") {
    return true;
  }
  const auto word = scanner.next_word();
  const auto bits = word ? parse_number(*word, 64) : std::nullopt;
  if (!bits || (*bits != 32 && *bits != 64)) {
    return false;
  }
  info.address_bits = static_cast<std::uint8_t>(*bits);
  return true;
}

bool expect_word(Scanner& scanner, std::string_view expected) {
  const auto word = scanner.next_word();
  return word && *word == expected;
}

} // namespace

std::optional<BinaryInfo> read_ptx_header(std::string_view text) {
  Scanner scanner(text);
  BinaryInfo info;
  info.kind = BinaryKind::ptx;
  if (!expect_word(scanner, ".version")) {
    return std::nullopt;
  }
  const auto version = scanner.next_word();
  if (!version || !parse_version(*version, info)) {
    return std::nullopt;
  }
  if (!expect_word(scanner, ".target") || !read_target(scanner, info) ||
      !read_address_size(scanner, info)) {
    return std::nullopt;
  }
  return info;
}

} // namespace clbin::format

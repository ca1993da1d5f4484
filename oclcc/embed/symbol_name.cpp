#include "embed/symbol_name.hpp"

#include <algorithm>
#include <array>

namespace oclcc::embed {

using clbin::base::ErrorCode;
using clbin::base::fail;

namespace {

// C11 6.4.1 and C++20 [lex.key]; not the locale's idea of letters.
constexpr std::array k_keywords = std::to_array<std::string_view>({"alignas",
                                                                   "alignof",
                                                                   "and",
                                                                   "and_eq",
                                                                   "asm",
                                                                   "auto",
                                                                   "bitand",
                                                                   "bitor",
                                                                   "bool",
                                                                   "break",
                                                                   "case",
                                                                   "catch",
                                                                   "char",
                                                                   "char16_t",
                                                                   "char32_t",
                                                                   "char8_t",
                                                                   "class",
                                                                   "co_await",
                                                                   "co_return",
                                                                   "co_yield",
                                                                   "compl",
                                                                   "concept",
                                                                   "const",
                                                                   "const_cast",
                                                                   "consteval",
                                                                   "constexpr",
                                                                   "constinit",
                                                                   "continue",
                                                                   "decltype",
                                                                   "default",
                                                                   "delete",
                                                                   "do",
                                                                   "double",
                                                                   "dynamic_cast",
                                                                   "else",
                                                                   "enum",
                                                                   "explicit",
                                                                   "export",
                                                                   "extern",
                                                                   "false",
                                                                   "float",
                                                                   "for",
                                                                   "friend",
                                                                   "goto",
                                                                   "if",
                                                                   "inline",
                                                                   "int",
                                                                   "long",
                                                                   "mutable",
                                                                   "namespace",
                                                                   "new",
                                                                   "noexcept",
                                                                   "not",
                                                                   "not_eq",
                                                                   "nullptr",
                                                                   "operator",
                                                                   "or",
                                                                   "or_eq",
                                                                   "private",
                                                                   "protected",
                                                                   "public",
                                                                   "register",
                                                                   "reinterpret_cast",
                                                                   "requires",
                                                                   "restrict",
                                                                   "return",
                                                                   "short",
                                                                   "signed",
                                                                   "sizeof",
                                                                   "static",
                                                                   "static_assert",
                                                                   "static_cast",
                                                                   "struct",
                                                                   "switch",
                                                                   "template",
                                                                   "this",
                                                                   "thread_local",
                                                                   "throw",
                                                                   "true",
                                                                   "try",
                                                                   "typedef",
                                                                   "typeid",
                                                                   "typename",
                                                                   "union",
                                                                   "unsigned",
                                                                   "using",
                                                                   "virtual",
                                                                   "void",
                                                                   "volatile",
                                                                   "wchar_t",
                                                                   "while",
                                                                   "xor",
                                                                   "xor_eq"});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c) || c == '_';
}

bool is_reserved(std::string_view symbol) {
  return symbol.size() > 1 && symbol[0] == '_' && (symbol[1] == '_' || is_upper(symbol[1]));
}

} // namespace

std::string default_symbol(std::string_view stem) {
  std::string symbol(stem);
  std::replace_if(
      symbol.begin(), symbol.end(), [](char c) { return !is_identifier_character(c); }, '_');
  // Prefixes a letter to a name that would be reserved.
  if (symbol.empty() || is_digit(symbol.front()) || symbol.front() == '_') {
    symbol.insert(0, "k");
  }
  return symbol + "_clbin";
}

clbin::base::Result<void> check_symbol(std::string_view symbol) {
  const bool is_identifier = !symbol.empty() && !is_digit(symbol.front()) &&
                             std::all_of(symbol.begin(), symbol.end(), is_identifier_character);
  if (!is_identifier) {
    return fail(ErrorCode::invalid_argument, "'--symbol {}': not an identifier in C", symbol);
  }
  if (std::find(k_keywords.begin(), k_keywords.end(), symbol) != k_keywords.end()) {
    return fail(ErrorCode::invalid_argument, "'--symbol {}': a keyword of C or C++", symbol);
  }
  if (is_reserved(symbol)) {
    return fail(ErrorCode::invalid_argument,
                "'--symbol {}': names like this are reserved for C compilers", symbol);
  }
  return {};
}

} // namespace oclcc::embed

#include "command_line/embedding_names.hpp"

#include "base/text.hpp"
#include "source/directive_scanner.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace oclcc::embed {

using base::ErrorCode;
using base::fail;
using clbin::source::is_identifier;
using clbin::source::is_identifier_start;

namespace {

struct Architecture {
  std::string_view names; // the first words of triples
  ObjectTarget target;
};

// e_machine numbers are the ELF specification's registry; e_flags those that gcc gives objects of
// the architecture's usual Linux convention (the supplements of its psABI): ARM EABI version 5,
// RISC-V with compressed instructions and double registers, ELFv2, LoongArch LP64D.
constexpr std::uint32_t k_arm_eabi5 = 0x05000000;
constexpr std::uint32_t k_riscv_compressed_double = 0x5;
constexpr std::uint32_t k_ppc64_elfv2 = 0x2;
constexpr std::uint32_t k_loongarch_lp64d = 0x43;
constexpr Architecture k_architectures[] = {
    {"x86_64 amd64", {62, 0, 64, ByteOrder::little}},
    {"i386 i486 i586 i686", {3, 0, 32, ByteOrder::little}},
    {"aarch64 arm64", {183, 0, 64, ByteOrder::little}},
    {"aarch64_be", {183, 0, 64, ByteOrder::big}},
    {"arm armv6 armv7 armv7a armv7l", {40, k_arm_eabi5, 32, ByteOrder::little}},
    {"riscv64", {243, k_riscv_compressed_double, 64, ByteOrder::little}},
    {"powerpc64le ppc64le", {21, k_ppc64_elfv2, 64, ByteOrder::little}},
    {"s390x", {22, 0, 64, ByteOrder::big}},
    {"loongarch64", {258, k_loongarch_lp64d, 64, ByteOrder::little}},
};

constexpr std::array k_systems_without_elf =
    std::to_array<std::string_view>({"darwin", "macos", "ios", "windows", "mingw", "cygwin", "msvc",
                                     "win32", "wasi", "emscripten"});

} // namespace

Result<ObjectTarget> object_target(std::string_view triple) {
  const auto* const system =
      std::ranges::find_if(k_systems_without_elf, [&](std::string_view name) {
        return triple.find(name) != std::string_view::npos;
      });
  if (system != k_systems_without_elf.end()) {
    return fail(ErrorCode::invalid_argument,
                "'--host-triple {}': object files of '{}' are not ELF; embed with -o k.c", triple,
                *system);
  }
  const std::string_view name = triple.substr(0, triple.find('-'));
  std::vector<std::string_view> known;
  for (const Architecture& architecture : k_architectures) {
    const auto names = base::words_between_spaces(architecture.names);
    if (std::ranges::find(names, name) != names.end()) {
      return architecture.target;
    }
    known.insert(known.end(), names.begin(), names.end());
  }
  return fail(ErrorCode::invalid_argument,
              "'--host-triple {}': unknown architecture '{}'; known are {}", triple, name,
              fmt::join(known, ", "));
}

std::string_view host_triple() noexcept {
  return OCLCC_HOST_TRIPLE;
}

std::string default_symbol(std::string_view stem) {
  std::string symbol(stem);
  std::ranges::replace_if(
      symbol, [](char c) { return !is_identifier(c); }, '_');
  // Prefixes a letter to a name that would be reserved.
  if (symbol.empty() || !is_identifier_start(symbol.front()) || symbol.front() == '_') {
    symbol.insert(0, "k");
  }
  return symbol + "_clbin";
}

Result<void> check_symbol(std::string_view symbol) {
  const bool is_name = !symbol.empty() && is_identifier_start(symbol.front()) &&
                       std::ranges::all_of(symbol, is_identifier);
  const bool is_reserved = symbol.size() > 1 && symbol[0] == '_' &&
                           (symbol[1] == '_' || (symbol[1] >= 'A' && symbol[1] <= 'Z'));
  const std::string_view problem = !is_name ? "not an identifier in C"
                                   : is_cpp_keyword(symbol) || symbol == "restrict"
                                       ? "a keyword of C or C++"
                                   : is_reserved ? "names like this are reserved for C compilers"
                                                 : "";
  if (problem.empty()) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument, "'--symbol {}': {}", symbol, problem);
}

bool is_cpp_keyword(std::string_view word) {
  // C++20 [lex.key]
  constexpr std::string_view k_keywords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
      "char16_t char32_t class compl concept const consteval constexpr constinit const_cast "
      "continue co_await co_return co_yield decltype default delete do double dynamic_cast else "
      "enum explicit export extern false float for friend goto if inline int long mutable "
      "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
      "register reinterpret_cast requires return short signed sizeof static static_assert "
      "static_cast struct switch template this thread_local throw true try typedef typeid typename "
      "union unsigned using virtual void volatile wchar_t while xor xor_eq ";
  return k_keywords.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

} // namespace oclcc::embed

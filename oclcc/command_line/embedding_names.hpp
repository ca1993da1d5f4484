// What --symbol and --host-triple accept, and the forms of embedded bundles.
#pragma once

#include "base/result.hpp"

namespace oclcc::embed {

namespace base = clbin::base;
using base::Result;

enum class EmbedForm : std::uint8_t { c_header, c_source, object, assembly };

enum class ByteOrder : std::uint8_t { little, big };

// The fields of an ELF header that describe the machine.
struct ObjectTarget {
  std::uint16_t machine = 0; // e_machine
  std::uint32_t flags = 0;   // e_flags: the calling convention, which linkers compare
  std::uint8_t address_bits = 64;
  ByteOrder byte_order = ByteOrder::little;
};

// Returns the target of a triple of gcc and clang, such as "aarch64-linux-gnu". Only the
// architecture and the floating-point convention matter. invalid_argument: the architecture is
// unknown, or the system does not use ELF.
[[nodiscard]] Result<ObjectTarget> object_target(std::string_view triple);

// Returns the triple for which oclcc was built.
[[nodiscard]] std::string_view host_triple() noexcept;

// Returns "my_kernels_clbin" for "my-kernels". Prefixes "k" if the stem starts with a digit or "_".
[[nodiscard]] std::string default_symbol(std::string_view stem);

// invalid_argument unless `symbol` is an identifier in C and C++ that is neither a keyword nor
// reserved ("__", or "_X" at the beginning).
[[nodiscard]] Result<void> check_symbol(std::string_view symbol);

// Whether `word` is a keyword or an alternative token of C++20.
[[nodiscard]] bool is_cpp_keyword(std::string_view word);

} // namespace oclcc::embed

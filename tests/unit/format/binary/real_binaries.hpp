// Reads the files of binaries/, makes small ones, and damages copies of them.
#pragma once

#include "base/byte_codec.hpp"
#include "model/bundle.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace clbin::test {

[[nodiscard]] base::Bytes real_binary(std::string_view name);
// Expects the names and arguments of the kernels of arguments.cl.
void expect_kernels_of_arguments_cl(const std::vector<format::KernelReflection>& kernels);

struct ElfHead {
  std::string_view identification; // 16 bytes
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
};
// Returns an ELF file with one section.
[[nodiscard]] base::Bytes elf_with_section(const ElfHead& head, std::uint32_t section_type,
                                           base::ByteView contents);

// Calls `read` with prefixes of `bytes`, then with single bits flipped: with all of a small file,
// and with about 1,000 and 4,000, spread evenly, of a large one. `read` must not crash. Sanitizers
// detect reads beyond the end, because each copy is exactly as large as its bytes.
void for_each_damage(const base::Bytes& bytes, const std::function<void(base::ByteView)>& read);

} // namespace clbin::test

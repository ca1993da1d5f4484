// A bundle as C or assembly.
#pragma once

#include "base/output_file.hpp"
#include "embed/object_target.hpp"

#include <string>
#include <string_view>

namespace oclcc::embed {

// Each writes text that gives `bundle` under `symbol`, 8-byte aligned and const, and its size in
// bytes under `symbol`_size. The same input gives the same bytes. Errors of OutputFile::append.

// For C99 and C++: each source that includes it has an array of its own.
[[nodiscard]] clbin::base::Result<void> write_c_header(clbin::base::OutputFile& file,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);
// For C99 and C++; the symbols are global and have C's linkage.
[[nodiscard]] clbin::base::Result<void> write_c_source(clbin::base::OutputFile& file,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);
// For the assemblers of gcc and clang, on every ELF machine.
[[nodiscard]] clbin::base::Result<void> write_assembly(clbin::base::OutputFile& file,
                                                       const ObjectTarget& target,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);

// A header for C99 and C++ that declares what the C source, the assembly or the object file holds.
[[nodiscard]] std::string declarations(std::string_view symbol);

} // namespace oclcc::embed

// Writes a bundle as C or assembly.
#pragma once

#include "base/file_io.hpp"
#include "embed/object_target.hpp"

#include <string>
#include <string_view>

namespace oclcc::embed {

// Write text that defines `bundle` as `symbol`, const and 8-byte aligned, and its size in bytes as
// `symbol`_size. The result is deterministic. Errors of OutputFile::append.

// For C99 and C++. Each source that includes the header gets its own array.
[[nodiscard]] clbin::base::Result<void> write_c_header(clbin::base::OutputFile& file,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);
// For C99 and C++. The symbols are global, with C linkage.
[[nodiscard]] clbin::base::Result<void> write_c_source(clbin::base::OutputFile& file,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);
// For the assemblers of gcc and clang, on every ELF machine.
[[nodiscard]] clbin::base::Result<void> write_assembly(clbin::base::OutputFile& file,
                                                       const ObjectTarget& target,
                                                       std::string_view symbol,
                                                       clbin::base::ByteView bundle);

// Returns a header for C99 and C++ that declares the symbols of the C source, the assembly or the
// object file.
[[nodiscard]] std::string declarations(std::string_view symbol);

} // namespace oclcc::embed

// Writes a source package as files, for compilers that are programs.
#pragma once

#include "base/result.hpp"
#include "format/bundle/manifest.hpp"

#include <filesystem>

namespace oclcc::offline {

// The name of the main file in the folder: constant, because compilers write it into binaries.
inline constexpr const char* k_main_file = "kernel.cl";
// The folder of the headers, to be searched by the compiler.
inline constexpr const char* k_header_folder = "include";

// Writes the main file, and each header by its include name below k_header_folder.
// invalid_argument: a name that is_valid_include_name refuses, or a header whose name is the folder
// of another one. file_write.
[[nodiscard]] clbin::base::Result<void>
write_source_files(const clbin::format::SourcePackage& source, const std::filesystem::path& folder);

} // namespace oclcc::offline

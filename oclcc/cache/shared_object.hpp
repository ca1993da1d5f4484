// What the file of a program or a shared library says about itself, read from a few KB of it.
#pragma once

#include "cache/content_digests.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

struct SharedObject {
  std::string name;                // DT_SONAME, "libLLVM-15.so.1"; may be empty
  std::string build_id;            // hexadecimal digits of the GNU note; empty if there is none
  std::vector<std::string> needed; // DT_NEEDED: the names of the libraries that the loader loads
  std::uint64_t size_bytes = 0;
};

// Returns std::nullopt unless the file is a 64-bit little-endian ELF file for dynamic linking whose
// tables are inside it and of plausible size. Safe on any input.
[[nodiscard]] std::optional<SharedObject> read_shared_object(const std::filesystem::path& path);

// Returns a text that distinguishes versions of a library, and that is the same on every machine
// with this file: name, size and build ID. Of a file without a build ID, the digest of its
// contents, which takes long if the file is large. std::nullopt if the file cannot be read.
[[nodiscard]] std::optional<std::string> library_identity(const std::filesystem::path& path,
                                                          ContentDigests& digests);

} // namespace oclcc

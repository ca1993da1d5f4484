// Files of compilers that contain several device binaries, for --import: NVIDIA's fat binaries,
// alone or in host objects; clang's offload bundles and offload binaries; ocloc's archives. Safe on
// untrusted input.
#pragma once

#include "command_line/bundle_file.hpp"

namespace oclcc {

struct ContainedBinary {
  // The name in the container, for messages: "member 2", "'64.12.0.0'". Empty if the file is not a
  // container, but this binary.
  std::string place;
  clbin::base::ByteView bytes; // borrowed from the container
};

struct Container {
  std::vector<clbin::base::Bytes> storage; // the file, and what was decompressed
  std::vector<ContainedBinary> binaries;
};

// Returns the device binaries of a file in their order, without empty ones, code for the host and
// padding. A file of another kind is one binary. The binaries are not examined.
//
// At most 4,096 binaries. They have at most 32 MiB and 12 bytes for each byte of `file`, and so
// does what is decompressed. Decompresses what is compressed with LZ4, zlib or zstd. Errors:
// damaged, truncated, limit_exceeded, out_of_memory; no_matching_entry if there is no binary, or if
// oclcc does not know the version or the compression of the container.
[[nodiscard]] clbin::base::Result<Container> open_container(clbin::base::Bytes file);

using BundleOrBytes = std::variant<clbin::base::Bytes, format::BundleReader>;
// Opens a bundle, or reads a file for open_container. Reads standard input and pipes once, at most
// 1 GiB. Errors as for open_bundle.
[[nodiscard]] Result<BundleOrBytes> open_bundle_or_read(const std::filesystem::path& path,
                                                        const BundleKeys& keys);

} // namespace oclcc

// Searches memory and files for what must not be there.
#pragma once

#include "base/byte_codec.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

namespace clbin::test {

// Returns how often the readable memory of this process contains `masked` XOR `mask`. The bytes
// themselves are never in memory of this function, except those that it reads.
[[nodiscard]] std::size_t copies_in_memory(const std::array<std::byte, 32>& masked,
                                           const std::array<std::byte, 32>& mask);

// Returns false if a child of fork() gets memory that MADV_WIPEONFORK is to clear: on old systems,
// and in qemu, which accepts and ignores any advice.
[[nodiscard]] bool can_wipe_on_fork();

// Returns the files below `folder` that contain the bytes, or have them in their names.
[[nodiscard]] std::vector<std::filesystem::path>
files_that_contain(const std::filesystem::path& folder, base::ByteView bytes);
// Returns the files that contain a key: its bytes, their hexadecimal digits, or their base64.
[[nodiscard]] std::vector<std::filesystem::path>
files_that_show(const std::filesystem::path& folder, base::ByteView key);

} // namespace clbin::test

// Mounts read-only and full file systems that no other process sees.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace clbin::test {

// Returns an empty text if a child of this process may mount (Linux, user namespaces), otherwise a
// reason to skip.
[[nodiscard]] std::string why_no_mounts();

// Call it in a child with one thread. Later mounts are visible only to it and its children, and
// vanish with them.
void enter_mount_namespace();
// Makes the folder read-only.
void mount_read_only(const std::filesystem::path& folder);
// Mounts an empty file system of this size.
void mount_small(const std::filesystem::path& folder, std::size_t size_bytes);

} // namespace clbin::test

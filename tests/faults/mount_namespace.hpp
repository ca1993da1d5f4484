// File systems that are read-only or full, mounted where no other process sees them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace clbin::test {

// Empty where a child of this process may mount (Linux, user namespaces); else a reason to skip.
[[nodiscard]] std::string why_no_mounts();

// In a child with one thread: mounts are its own from here on, gone when it and its children end.
void enter_mount_namespace();
// The folder as it is, not to be written to.
void mount_read_only(const std::filesystem::path& folder);
// An empty file system of so many bytes.
void mount_small(const std::filesystem::path& folder, std::size_t size_bytes);

} // namespace clbin::test

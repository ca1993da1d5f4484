// The executable's readdir, which drivers use instead of libc's because the executable exports it.
// It returns directory entries sorted by name.
#pragma once

namespace oclcc::worker {

// Enables sorting in this process. File systems have different orders (ext4: by a hash with a
// different seed on each), and drivers write files into binaries in directory order. telldir and
// seekdir are then undefined.
void sort_directories() noexcept;

} // namespace oclcc::worker

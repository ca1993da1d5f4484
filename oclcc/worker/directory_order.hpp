// The executable's own readdir, which drivers find before libc's because the executable exports it:
// folders are read in the order of their names.
#pragma once

namespace oclcc::worker {

// From now on, in this process. File systems order folders as they like (ext4 by a hash that has
// another seed on each), and drivers write files into binaries in the order in which they find
// them. telldir and seekdir then mean nothing.
void sort_directories() noexcept;

} // namespace oclcc::worker

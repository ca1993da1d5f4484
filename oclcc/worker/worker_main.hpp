// The worker process, which makes every driver call of oclcc.
#pragma once

#include <functional>

namespace oclcc::worker {

// Functions that only an executable can replace, because drivers use them instead of libc's.
struct LibcReplacements {
  std::function<void()> reset_temporary_names;
  std::function<void()> sort_directories;
};

// Restarts the numbers that the executable's mkostemp and related functions use as names at 0. Call
// it at the start of each unit, so that names in a binary do not depend on previous units.
void reset_temporary_names() noexcept;
// Makes the executable's readdir return entries sorted by name. File systems have different orders
// (ext4: by a hash with a different seed on each). telldir and seekdir are then undefined.
void sort_directories() noexcept;

// Answers requests on k_worker_channel until the parent closes it, and returns true. Returns false
// if there is no such channel, because oclcc did not start the process.
[[nodiscard]] bool run_worker(const LibcReplacements& libc);

} // namespace oclcc::worker

// The worker process, which makes every driver call of oclcc.
#pragma once

namespace oclcc::worker {

// The executable replaces functions of libc, which drivers then use.

// Restarts the numbers that the executable's mkostemp and related functions use as names at 0. Call
// it at the start of each unit, so that names in a binary do not depend on previous units.
void reset_temporary_names() noexcept;
// Makes the executable's readdir return entries sorted by name. File systems have different orders
// (ext4: by a hash with a different seed on each). telldir and seekdir are then undefined.
void sort_directories() noexcept;

// Answers requests on k_worker_channel until the parent closes it, and returns true. Returns false
// if there is no such channel, because oclcc did not start the process. `reset_names` is
// reset_temporary_names, which only an executable contains.
[[nodiscard]] bool run_worker(void (*reset_names)() noexcept);

} // namespace oclcc::worker

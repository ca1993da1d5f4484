// The worker process, which makes every driver call of oclcc.
#pragma once

#include <functional>

namespace oclcc::worker {

// Functions that only an executable can replace, because drivers use them instead of libc's.
struct LibcReplacements {
  std::function<void()> reset_temporary_names; // temporary_names.hpp
  std::function<void()> sort_directories;      // directory_order.hpp
};

// Answers requests on k_worker_channel until the parent closes it, and returns true. Returns false
// if there is no such channel, because oclcc did not start the process.
[[nodiscard]] bool run_worker(const LibcReplacements& libc);

} // namespace oclcc::worker

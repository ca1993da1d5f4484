// The worker process itself: every driver call of oclcc happens here.
#pragma once

#include <functional>

namespace oclcc::worker {

// What only an executable can do, since drivers find its functions before libc's.
struct LibcReplacements {
  std::function<void()> reset_temporary_names; // temporary_names.hpp
  std::function<void()> sort_directories;      // directory_order.hpp
};

// Answers requests on k_worker_channel until the parent closes it: then true. False when there is
// no such channel, since it was not oclcc that started the process.
[[nodiscard]] bool run_worker(const LibcReplacements& libc);

} // namespace oclcc::worker

// The worker process itself: every driver call of oclcc happens here.
#pragma once

#include <functional>

namespace oclcc::worker {

// Answers requests on k_worker_channel until the parent closes it: then true. False when there is
// no such channel, since it was not oclcc that started the process.
// `reset_temporary_names` is called before each unit; it is a parameter because only an executable
// can export the functions behind it.
[[nodiscard]] bool run_worker(const std::function<void()>& reset_temporary_names);

} // namespace oclcc::worker

#pragma once

#include <functional>
#include <thread>

namespace clbin::base {

// Starts a thread that receives no signals: signal handlers belong to the application. `work` must
// not throw. Throws std::system_error if the system cannot create a thread.
[[nodiscard]] std::thread start_background_thread(std::function<void()> work);

} // namespace clbin::base

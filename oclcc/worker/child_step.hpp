// Runs a step in a fork of this process, so that the driver's state is discarded with it.
#pragma once

#include "base/byte_codec.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>

namespace oclcc::worker {

// Runs `step` in a forked child that ends with this process, and returns its result. Only the
// calling thread is copied: `step` must not wait for another thread. internal: the child cannot be
// started, crashed ("the compiler crashed (signal 11) PURPOSE"), or `step` returned an error, whose
// message is included.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
run_in_child(const std::string& purpose,
             const std::function<clbin::base::Result<clbin::base::Bytes>()>& step);

} // namespace oclcc::worker

// A step in a copy of this process: what a driver remembers of it is forgotten with the copy.
#pragma once

#include "base/byte_codec.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>

namespace oclcc::worker {

// Runs `step` in a forked child that dies with this process, and hands over what it returns. Only
// the calling thread is copied: `step` must not wait for another one. internal: the child cannot be
// made, crashed ("the compiler crashed (signal 11) PURPOSE"), or `step` answered an error, whose
// message it carries.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
run_in_child(const std::string& purpose,
             const std::function<clbin::base::Result<clbin::base::Bytes>()>& step);

} // namespace oclcc::worker

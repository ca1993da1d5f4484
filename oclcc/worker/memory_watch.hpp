// How much memory does a worker use? Linux: /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace oclcc::worker {

// What is in RAM of `process` or of one of its descendants, whichever has most: copies of a process
// share most of their memory, so that their sum would count it several times. std::nullopt if the
// system does not report it.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Three quarters of what this machine, or the control group of this process, has in all: enough for
// any compiler that can come to an end here. Nothing where the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();

} // namespace oclcc::worker

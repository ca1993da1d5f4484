// How much memory does a worker use? Linux: /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace oclcc::worker {

// What is in RAM of `process`; nothing where the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Three quarters of what this machine, or the control group of this process, has in all: enough for
// any compiler that can come to an end here. Nothing where the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();

} // namespace oclcc::worker

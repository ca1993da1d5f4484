// Measures the memory of workers. Linux: /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace oclcc::worker {

// Returns the resident bytes of `process` or of its largest descendant. Forks share most of their
// memory, so that a sum would count it several times. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes(pid_t process);

// Returns three quarters of the memory of the machine or of the control group of this process,
// which suffices for any compiler that can finish here. std::nullopt if the system does not report
// it.
[[nodiscard]] std::optional<std::uint64_t> default_memory_limit();

} // namespace oclcc::worker

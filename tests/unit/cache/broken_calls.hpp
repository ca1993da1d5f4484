// Calls of the C library that fail, or end the process, when told to: a disk that is full, a
// process killed at the worst moment. broken_calls.cpp defines them for the whole executable.
#pragma once

#include <cstddef>
#include <functional>

namespace clbin::test {

enum class RenameFault { none, kill_before, kill_after };
void set_rename_fault(RenameFault fault);

// After that many more bytes, pwrite fails with ENOSPC.
void set_free_bytes(std::size_t bytes);

// Runs once, just before the next flock: what another process may do between open and lock.
void set_before_lock(std::function<void()> action);

} // namespace clbin::test

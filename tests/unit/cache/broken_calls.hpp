// C library calls that fail or end the process on request: a full disk, or a process killed at the
// worst moment. broken_calls.cpp defines them for the whole executable.
#pragma once

#include <cstddef>
#include <functional>

namespace clbin::test {

enum class RenameFault { none, kill_before, kill_after };
void set_rename_fault(RenameFault fault);

// write fails with ENOSPC after this many more bytes.
void set_free_bytes(std::size_t bytes);

// Runs once before the next flock, as another process could between open and lock.
void set_before_lock(std::function<void()> action);

} // namespace clbin::test

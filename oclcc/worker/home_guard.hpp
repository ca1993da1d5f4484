// A process that exits after oclcc, and cleans up its processes and directories.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace oclcc::worker {

struct HomeGuard {
  pid_t process = -1; // a child of the caller, which must wait for it
  // Owned by the caller. When it is closed, the guard removes the directory and exits.
  int lifeline = -1;
  std::string folder; // empty if it cannot be created
  std::string error;  // the reason if `folder` is empty
};

// Forks the guard, which creates the directory. The guard keeps no file of the caller open. It has
// a separate session, so that signals of a terminal or a process group do not reach it.
[[nodiscard]] HomeGuard start_home_guard();

// A worker ends with its parent (Linux's parent-death signal), but programs that its driver started
// do not. The guard ends the process group of the worker, and processes that left it
// (stray_processes.hpp). After `all_ended`, which is for no particular worker, it does neither.
enum class WorkerState : std::uint8_t { started, ended, all_ended };
void tell_guard(int lifeline, WorkerState state, pid_t worker) noexcept;

// Removes the directories of dead guards whose process is dead, too, which their unlocked locks
// show. Skips directories younger than a minute, which may not be locked yet.
void sweep_abandoned_homes(const std::string& parent_folder) noexcept;

// Removes the directory and its contents, while ending processes may still write to it.
void remove_home(const std::string& folder) noexcept;

// Locks the directory as in use. Returns the file descriptor to keep open, or -1.
[[nodiscard]] int hold_home(const std::string& folder) noexcept;

} // namespace oclcc::worker

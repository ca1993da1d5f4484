// The process that outlives oclcc by a moment, to end and remove what it leaves.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace oclcc::worker {

struct HomeGuard {
  pid_t process = -1; // a child of the caller, to be waited for
  int lifeline = -1; // owned by the caller; once it is closed the guard removes the folder and ends
  std::string folder; // empty: none could be made
  std::string error;  // why
};

// Forks the guard, which makes the folder. The guard keeps no file of the caller open, and is in a
// session of its own: a terminal's signals and a process group's pass it by.
[[nodiscard]] HomeGuard start_home_guard();

// A worker dies with its parent (Linux's parent-death signal), the programs that its driver has
// started do not: the guard ends their process group, which the worker leads, and looks for those
// that left it (stray_processes.hpp). After `all_ended`, which tells of no worker, it does neither.
enum class WorkerState : std::uint8_t { started, ended, all_ended };
void tell_guard(int lifeline, WorkerState state, pid_t worker) noexcept;

// Removes folders of guards that are gone and whose process is too, as their free locks tell. Those
// younger than a minute stay: one may not have been locked yet.
void sweep_abandoned_homes(const std::string& parent_folder) noexcept;

// With all that is in it, while processes that are about to end may still write there.
void remove_home(const std::string& folder) noexcept;

// Holds the folder as one in use; the file to keep open, or -1.
[[nodiscard]] int hold_home(const std::string& folder) noexcept;

} // namespace oclcc::worker

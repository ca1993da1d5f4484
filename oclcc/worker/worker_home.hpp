// The parent directory of the workers' directories, and what is cleaned up after oclcc has died.
#pragma once

#include "terminal/reporter.hpp"

#include <mutex>
#include <stop_token>

namespace oclcc::worker {

// The environment of each worker contains the path of its home under this name, and programs that a
// driver starts inherit it. A program started with an empty environment is not found.
inline constexpr const char* k_home_variable = "OCLCC_WORKER_HOME";

// Makes this process the parent of orphans of its workers, or undoes it.
enum class Adoption : std::uint8_t { off, on };
void adopt_strays(Adoption adoption) noexcept;

// Ends every process whose environment contains `home`, until there is none. Reads the environments
// of all processes of the user.
void end_strays(const std::string& home) noexcept;

// Removes the directories of dead guards whose process is dead, too, which their unlocked locks
// show. Skips directories younger than a minute, which may not be locked yet.
void sweep_abandoned_homes(const std::string& parent_folder) noexcept;

// Locks the directory as in use. Returns the file descriptor to keep open, or -1.
[[nodiscard]] int hold_home(const std::string& folder) noexcept;

// One directory for all workers of a run, in the system's directory for temporary files. A separate
// process, the guard, creates it, and removes it with its contents when this object is destroyed or
// oclcc has died, even of SIGKILL. If the guard itself is killed, the next run removes the
// directory, which no living process has locked with flock. Thread-safe.
class WorkerHome {
public:
  // Creates the directory. When `stop` is requested, ends every added process and the programs that
  // it started, and removes the directory; the requester then ends oclcc. file_write: the directory
  // cannot be created. internal: the guard cannot be started.
  [[nodiscard]] static Result<std::shared_ptr<WorkerHome>> create(std::stop_token stop = {});
  // Blocks until the directory is removed.
  ~WorkerHome();
  WorkerHome(WorkerHome&&) = delete; // and no copies

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return m_path; }

  // Blocks forever if a stop is requested: a thread that lost its worker to the stop must report
  // nothing.
  void stay_if_interrupted() noexcept;

  // Adds a worker after its start; remove it before waiting for it. Each leads a process group.
  void add(pid_t worker);
  void remove(pid_t worker) noexcept;
  // Ends the worker and the programs that it started. No effect if it was not added, or was
  // removed.
  void kill(pid_t worker) noexcept;
  // Ends an added worker without waiting, because the system takes time to end a large process.
  // bury_retired(), or the destructor, waits and removes the directory.
  void retire(pid_t worker, base::TemporaryFolder folder);
  void bury_retired() noexcept;

private:
  struct Retired {
    pid_t process;
    base::TemporaryFolder folder;
  };

  WorkerHome() = default;
  // Forks the guard, which creates the directory and keeps no file of the caller open. It has a
  // separate session, so that signals of a terminal or a process group do not reach it.
  [[nodiscard]] Result<void> start_guard();
  void interrupt() noexcept;
  void release() noexcept;
  void tell_guard(pid_t news) const noexcept;
  void forget(pid_t worker) noexcept;

  std::filesystem::path m_path;    // empty until the guard has created it
  pid_t m_guard = -1;              // a child of this process, which must wait for it
  base::FileDescriptor m_lifeline; // when it is closed, the guard cleans up and exits
  base::FileDescriptor m_hold;     // the directory stays in use even if the guard is killed
  std::mutex m_mutex;              // of what follows
  std::vector<pid_t> m_workers;
  std::vector<Retired> m_retired;
  bool m_is_interrupted = false;
  bool m_is_released = false;
  std::optional<std::stop_callback<std::function<void()>>> m_on_stop;
};

} // namespace oclcc::worker

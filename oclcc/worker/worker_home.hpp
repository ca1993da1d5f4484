// Where the folders of a run's workers are, and who removes them when oclcc no longer can.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <sys/types.h>

namespace oclcc::worker {

// One folder for all workers of a run, below the system's folder for temporary files. A process of
// its own, the guard, makes it and removes it with all that is in it: when this object is
// destroyed, and when oclcc has died, be it of SIGKILL. What the guard leaves since it was killed
// itself, the next run removes (a folder that no living process holds with flock). Thread-safe.
class WorkerHome {
public:
  // When `stop` is requested, every process that was added ends, with the programs it started, and
  // the folder goes; who requested it then ends oclcc. file_write: the folder; internal: the guard.
  [[nodiscard]] static clbin::base::Result<std::shared_ptr<WorkerHome>>
  create(std::stop_token stop = {});
  // The folder is gone when it returns.
  ~WorkerHome();
  WorkerHome(const WorkerHome&) = delete;
  WorkerHome& operator=(const WorkerHome&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept;

  // A thread that lost its worker to a requested stop has nothing to tell any more: it does not
  // come back from here.
  void stay_if_interrupted() noexcept;

  // A worker from its start on, and until it is about to be waited for: each leads a process group.
  void add(pid_t worker);
  void remove(pid_t worker) noexcept;
  // With the programs that it started; nothing where it was not added, or removed.
  void kill(pid_t worker) noexcept;
  // Ends a worker that was added, and does not wait for it: the system takes a while over a large
  // process. bury_retired(), or the end of this object, waits and removes the folder.
  void retire(pid_t worker, clbin::base::TemporaryFolder folder);
  void bury_retired() noexcept;

private:
  struct State;
  explicit WorkerHome(std::unique_ptr<State> state);
  void interrupt() noexcept;
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::worker

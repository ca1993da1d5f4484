// What a worker asks of the system: forks of a step, and of a process in which the compiler has
// started, and what makes it a worker.
#pragma once

#include "worker/worker_protocol.hpp"

namespace oclcc::worker {

// Makes this process a worker: it ends with its parent, leaves no core dump, and passes its channel
// on to no program.
void settle_worker() noexcept;
// Ends the process without destructors and handlers.
[[noreturn]] void end_at_once() noexcept;
// Returns the file of the library that contains the function; empty if it is unknown.
[[nodiscard]] std::string library_containing(const void* function);

// Redirects standard output and standard error to nowhere during its lifetime: discards what a
// driver prints.
class QuietOutput {
public:
  QuietOutput() noexcept;
  ~QuietOutput();
  QuietOutput(QuietOutput&&) = delete; // and no copies

private:
  int m_output; // standard output and standard error of a worker are the same file
};

// Whether this system has forks. If not, units that are to be built in a copy are built in a worker
// each, and a step is run in this process.
[[nodiscard]] bool has_forks() noexcept;

// Runs `step` in a forked child that ends with this process, and returns its result. Only the
// calling thread is copied: `step` must not wait for another thread. internal: the child cannot be
// started, crashed ("the compiler crashed (signal 11) PURPOSE"), or `step` returned an error, whose
// message is included.
[[nodiscard]] Result<base::Bytes> run_in_child(const std::string& purpose,
                                               const std::function<Result<base::Bytes>()>& step);

// Every unit starts from the same driver state, whatever was built before. Only the calling thread
// is copied: the driver must be able to build without its other threads.
class WarmCopy {
public:
  using Build = std::function<base::Bytes(base::ByteView request)>;

  // Forks a process that runs `warm_up` and then waits for requests. It ends with this process.
  // internal: the process cannot be started.
  [[nodiscard]] static Result<WarmCopy> start(const std::function<void()>& warm_up,
                                              const Build& build);

  // Runs `build` in a fork of the warm copy, and passes its result to `answer` as a build_reply,
  // followed by a settled message. If the driver ends either process, this process ends with the
  // same signal or exit status.
  void serve(base::ByteView request,
             const std::function<void(const Message& message)>& answer) const;

private:
  WarmCopy(pid_t process, base::FileDescriptor channel)
      : m_process(process), m_channel(std::move(channel)) {}
  pid_t m_process;
  base::FileDescriptor m_channel;
};

} // namespace oclcc::worker

// The parent's end of a worker, a process in which drivers may crash, hang or corrupt memory.
#pragma once

#include "base/system/process.hpp"
#include "worker/worker_home.hpp"
#include "worker/worker_protocol.hpp"

namespace oclcc::worker {

struct WorkerSettings {
  std::filesystem::path executable = base::program_file();
  std::vector<std::string> arguments = {"--worker"};
  // The only platform library that the worker sees; empty for all.
  std::string only_driver;
  // Time limit for listing devices.
  std::chrono::seconds enumeration_timeout{60};
  // Limit of resident memory, beyond which the worker is ended; std::nullopt for no limit. (A limit
  // on the address space would break CUDA and sanitizers, which reserve more than they use.)
  std::optional<std::uint64_t> memory_limit_bytes{};
  // Contains the worker's directory; if null, the worker gets its own home.
  std::shared_ptr<WorkerHome> home{};
  // Stop token for homes created with these settings.
  std::stop_token stop{};
};

// Returns the settings with their home, or a new one, for all workers. Errors as for
// WorkerHome::create. Call it before other threads start, because the guard is a fork of the
// caller: locks that another thread holds would stay locked forever in the guard.
[[nodiscard]] clbin::base::Result<WorkerSettings> with_home(WorkerSettings settings);

// crashed: also a worker that ended, or whose answer is no message.
enum class WorkerFailure : std::uint8_t { none, crashed, timed_out, other };

// A worker whose working directory is its own directory, which also contains the drivers' caches.
// All names are the same for every worker, because drivers write them into binaries
// (doc/drivers.md). Ends with its parent, and with this object. Not thread-safe. The thread that
// started it must outlive it (Linux sends the parent-death signal when that thread ends).
class WorkerProcess {
public:
  // internal, file_write.
  [[nodiscard]] static clbin::base::Result<WorkerProcess> start(const WorkerSettings& settings);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  // Send a request and return the reply. If there is no valid reply within `timeout`, end the
  // worker and return ErrorCode::internal with the reason: "the compiler of 'NAME' crashed (signal
  // 11)". `subject` names the worker in messages. What a worker that is ready to run waits for a
  // processor does not count, up to nine times `timeout`: a busy machine is no driver that hangs.
  [[nodiscard]] clbin::base::Result<EnumerateReply> enumerate(const EnumerateRequest& request,
                                                              std::string_view subject,
                                                              std::chrono::seconds timeout);
  [[nodiscard]] clbin::base::Result<BuildReply>
  build(const BuildRequest& request, std::string_view device_name, std::chrono::seconds timeout);
  [[nodiscard]] clbin::base::Result<LaunchReply>
  launch(const LaunchRequest& request, std::string_view device_name, std::chrono::seconds timeout);
  [[nodiscard]] clbin::base::Result<WarmReply>
  warm(const WarmRequest& request, std::string_view device_name, std::chrono::seconds timeout);
  // Returns false after a failure; start a new worker then.
  [[nodiscard]] bool alive() const noexcept;
  // Blocks until the objects of the last build are released, as the next request also does. Returns
  // false if the driver crashes meanwhile or exceeds `timeout`.
  [[nodiscard]] bool settle(std::chrono::seconds timeout);
  // Ends the worker, which its caller sees as a crash. Thread-safe.
  void kill() noexcept;
  // Returns how the last request failed; none if it did not.
  [[nodiscard]] WorkerFailure failure() const noexcept;
  // Returns the kernel that the driver was creating when the worker crashed; std::nullopt if it was
  // not creating a kernel or did not crash.
  [[nodiscard]] std::optional<std::string> fatal_kernel() const;
  // Returns the output of drivers since the last call, at most the last 64 KiB.
  [[nodiscard]] std::string take_output();

private:
  struct State;
  [[nodiscard]] static clbin::base::Result<WorkerProcess> start_in(std::shared_ptr<WorkerHome> home,
                                                                   const WorkerSettings& settings);
  explicit WorkerProcess(std::unique_ptr<State> state);
  template <typename Reply>
  [[nodiscard]] clbin::base::Result<Reply>
  exchange(MessageKind request_kind, clbin::base::ByteView request, MessageKind reply_kind,
           std::string_view subject, std::chrono::seconds timeout);
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point>
  wait_for_reply(std::chrono::seconds timeout) const;
  // Ends the worker and returns an error with the reason.
  [[nodiscard]] clbin::base::Error end_after(clbin::base::SocketFault fault, int system_error,
                                             std::string_view subject,
                                             std::chrono::seconds timeout);
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::worker

// The parent's end of a worker: a process of ours in which drivers may crash, hang or scribble.
// POSIX (and a little of Linux: /proc, parent-death signals) stays in this file's .cpp.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"
#include "worker/message_channel.hpp"
#include "worker/worker_home.hpp"
#include "worker/worker_protocol.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::worker {

struct WorkerSettings {
  std::filesystem::path executable = "/proc/self/exe";
  std::vector<std::string> arguments = {"--worker"};
  // The one platform library that the worker is to see; empty: all that are installed.
  std::string only_driver;
  // How long drivers may take to list their devices.
  std::chrono::seconds enumeration_timeout{60};
  // Of resident memory; a worker that has more is ended. Nothing: no limit. (A limit of the address
  // space would break CUDA and sanitizers, which reserve far more than they use.)
  std::optional<std::uint64_t> memory_limit_bytes{};
  // Holds the worker's folder; empty: one for this worker alone.
  std::shared_ptr<WorkerHome> home{};
  // Of the homes that are made with these settings.
  std::stop_token stop{};
};

// The settings with a home, theirs or a new one, for all workers that are started with them. As
// WorkerHome::create; to be called before there are threads, since the guard is a fork of the
// caller: it would find locked for ever what another thread had locked at that moment.
[[nodiscard]] clbin::base::Result<WorkerSettings> with_home(WorkerSettings settings);

// Started with its own folder as current folder and the drivers' caches in it, all under names that
// are the same for every worker, since drivers write them into binaries (doc/drivers.md). Ends with
// its parent, and with this object. Not thread-safe; the thread that started it must outlive it
// (Linux sends the parent-death signal when that thread ends).
class WorkerProcess {
public:
  // internal, file_write.
  [[nodiscard]] static clbin::base::Result<WorkerProcess> start(const WorkerSettings& settings);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  // Each ends the worker when it does not answer well within `timeout`, with ErrorCode::internal
  // and what became of it: "the compiler of 'NAME' crashed (signal 11)". `subject` is who messages
  // say was asked.
  [[nodiscard]] clbin::base::Result<EnumerateReply> enumerate(const EnumerateRequest& request,
                                                              std::string_view subject,
                                                              std::chrono::seconds timeout);
  [[nodiscard]] clbin::base::Result<BuildReply>
  build(const BuildRequest& request, std::string_view device_name, std::chrono::seconds timeout);
  // False after a failure of these: start another one.
  [[nodiscard]] bool alive() const noexcept;
  // Waits until what the last build left is released, as the next request does. False: the driver
  // has crashed over it, or takes longer than `timeout`.
  [[nodiscard]] bool settle(std::chrono::seconds timeout);
  // Ends what it does, by a crash that its caller is told of. From any thread.
  void kill() noexcept;
  // The kernel that the driver was creating when the worker crashed; std::nullopt if it was doing
  // something else, or the worker did not crash.
  [[nodiscard]] std::optional<std::string> fatal_kernel() const;
  // What drivers printed since the last call: at most the last 64 KiB of it.
  [[nodiscard]] std::string take_output();

private:
  struct State;
  [[nodiscard]] static clbin::base::Result<WorkerProcess> start_in(std::shared_ptr<WorkerHome> home,
                                                                   const WorkerSettings& settings);
  explicit WorkerProcess(std::unique_ptr<State> state);
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes>
  exchange(MessageKind request_kind, clbin::base::ByteView request, MessageKind reply_kind,
           std::string_view subject, std::chrono::seconds timeout);
  [[nodiscard]] bool stays_within_memory(const Deadline& deadline) const;
  // Ends the worker and says what became of it.
  [[nodiscard]] clbin::base::Error end_after(ChannelFault fault, int system_error,
                                             std::string_view subject,
                                             std::chrono::seconds timeout);
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::worker

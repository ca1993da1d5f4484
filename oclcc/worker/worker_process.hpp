// The parent's end of a worker: a process of ours in which drivers may crash, hang or scribble.
// POSIX (and a little of Linux: /proc, parent-death signals) stays in this file's .cpp.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"
#include "worker/message_channel.hpp"
#include "worker/worker_protocol.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::worker {

struct WorkerSettings {
  std::filesystem::path executable = "/proc/self/exe";
  std::vector<std::string> arguments = {"--worker"};
  // The one platform library that the worker is to see; empty: all that are installed.
  std::string only_driver;
};

// Started with its own folder as current folder and the drivers' caches in it, all under names that
// are the same for every worker, since drivers write them into binaries (design.md, "The bundle",
// 5). Ends with its parent, and with this object. Not thread-safe; the thread that started it must
// outlive it (Linux sends the parent-death signal when that thread ends).
class WorkerProcess {
public:
  // internal, file_write.
  [[nodiscard]] static clbin::base::Result<WorkerProcess> start(const WorkerSettings& settings);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  // Each ends the worker when it does not answer well within `timeout`, with ErrorCode::internal
  // and what became of it: "the compiler of 'NAME' crashed (signal 11)".
  [[nodiscard]] clbin::base::Result<EnumerateReply> enumerate(const EnumerateRequest& request,
                                                              std::chrono::seconds timeout);
  [[nodiscard]] clbin::base::Result<BuildReply>
  build(const BuildRequest& request, std::string_view device_name, std::chrono::seconds timeout);
  // False after a failure of the above: start another one.
  [[nodiscard]] bool alive() const noexcept;
  // What drivers printed since the last call: at most the last 64 KiB of it.
  [[nodiscard]] std::string take_output();

private:
  struct State;
  explicit WorkerProcess(std::unique_ptr<State> state);
  [[nodiscard]] clbin::base::Result<clbin::base::Bytes>
  exchange(MessageKind request_kind, clbin::base::ByteView request, MessageKind reply_kind,
           std::string_view subject, std::chrono::seconds timeout);
  std::unique_ptr<State> m_state;
};

} // namespace oclcc::worker

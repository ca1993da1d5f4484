// Finds, starts and reaches the process that fetches entries from a server (oclcc-storage-http). It
// serves several runs, and ends when none has used it for a while.
#pragma once

#include "base/system/socket.hpp"
#include "remote/remote_settings.hpp"
#include "remote/storage_http/storage_protocol.hpp"

#include <mutex>

namespace oclcc::remote {

using Clock = std::chrono::steady_clock;

struct StorageReply {
  storage_http::Status status = storage_http::Status::done;
  base::Bytes entry; // of `get`, if it is done; untrusted
};

// Wakes every client that waits. Thread-safe.
class WakeUp {
public:
  WakeUp();
  void wake() noexcept;
  // Readable after wake(); -1 if the system has no more files.
  [[nodiscard]] int number() const noexcept { return m_event.number(); }

private:
  base::FileDescriptor m_event;
};

// One connection. Does not block beyond a deadline, whatever the helper does, and raises no
// SIGPIPE. Not thread-safe.
class StorageClient {
public:
  // Connects to the socket `path`, and requires that its process belongs to this user and speaks
  // the protocol. `wake_up` must outlive the client; it ends waits like a deadline. Errors:
  // file_not_found, if there is no such process; file_read.
  [[nodiscard]] static Result<StorageClient>
  connect(const std::string& path, Clock::time_point deadline, const WakeUp& wake_up);

  // Sends a request and waits for its reply. After an error, the connection cannot be used any
  // more. Errors: file_not_found, if the helper has closed the connection before the first byte of
  // the reply, as one does that has been idle for long; limit_exceeded, if `entry` is too long;
  // otherwise file_read, with the text of the helper if it has reported a failure.
  [[nodiscard]] Result<StorageReply> request(storage_http::Operation kind, const base::Digest& key,
                                             base::ByteView entry,
                                             Clock::time_point deadline) const;

private:
  StorageClient(base::FileDescriptor socket, const WakeUp& wake_up)
      : m_socket(std::move(socket)), m_wake_up(&wake_up) {}
  [[nodiscard]] Result<base::Bytes> receive(std::size_t size_bytes,
                                            Clock::time_point deadline) const;
  [[nodiscard]] Result<StorageReply> receive_reply(storage_http::Operation kind,
                                                   Clock::time_point deadline) const;

  base::FileDescriptor m_socket;
  const WakeUp* m_wake_up;
};

inline constexpr std::string_view k_storage_program = "oclcc-storage-http";

// Returns the helper: beside `executable`, in ../libexec/oclcc, or in the directories of `path`
// (the variable PATH). std::nullopt if there is none.
[[nodiscard]] std::optional<std::filesystem::path>
find_storage_helper(const std::filesystem::path& executable, std::string_view path);

// Returns the directory of the sockets, and creates it: $XDG_RUNTIME_DIR/oclcc-storage, otherwise
// /tmp/oclcc-storage-UID. file_read: another user owns it, or can use it.
[[nodiscard]] Result<std::filesystem::path>
storage_folder(const clbin::cache::ProcessEnvironment& environment);

// Connects to the helper of one server. Thread-safe.
class StorageHelper {
public:
  // `program` is the helper's file, and `folder` that of storage_folder.
  StorageHelper(const RemoteSettings& settings, const std::filesystem::path& program,
                const std::filesystem::path& folder,
                const clbin::cache::ProcessEnvironment& environment);

  // Connects, and starts the helper first if none runs with these settings. Errors: those of
  // StorageClient::connect; file_read, with the line of a helper that could not start.
  [[nodiscard]] Result<StorageClient> connect(Clock::time_point deadline, const WakeUp& wake_up);
  // Different for other settings of this cache, other variables that the helper reads, another
  // helper and another version of the protocol.
  [[nodiscard]] const std::string& socket_path() const noexcept { return m_socket; }

private:
  [[nodiscard]] Result<void> start(Clock::time_point deadline) const;

  std::filesystem::path m_program;
  std::string m_settings; // what the helper reads from its standard input; contains the token
  std::string m_socket;
  std::mutex m_start;             // of what follows
  std::optional<Error> m_failure; // of a start, which is not repeated
};

} // namespace oclcc::remote

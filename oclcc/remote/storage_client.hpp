// A connection to the process that fetches entries from a server (oclcc-storage-http).
#pragma once

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "remote/time_budget.hpp"
#include "storage_http/storage_protocol.hpp"

#include <string>

namespace oclcc::remote {

struct StorageReply {
  storage_http::Status status = storage_http::Status::done;
  clbin::base::Bytes entry; // of `get`, if it is done; untrusted
};

// Wakes every client that waits. Thread-safe.
class WakeUp {
public:
  WakeUp();
  void wake() noexcept;
  // Readable after wake(); -1 if the system has no more files.
  [[nodiscard]] int number() const noexcept { return m_event.number(); }

private:
  clbin::base::FileDescriptor m_event;
};

// One connection. Does not block beyond a deadline, whatever the helper does, and raises no
// SIGPIPE. Not thread-safe.
class StorageClient {
public:
  // Connects to the socket `path`, and requires that its process belongs to this user and speaks
  // the protocol. `wake_up` must outlive the client; it ends waits like a deadline. Errors:
  // file_not_found, if there is no such process; file_read.
  [[nodiscard]] static clbin::base::Result<StorageClient>
  connect(const std::string& path, Clock::time_point deadline, const WakeUp& wake_up);

  // Sends a request and waits for its reply. After an error, the connection cannot be used any
  // more. Errors: file_not_found, if the helper has closed the connection before the first byte of
  // the reply, as one does that has been idle for long; limit_exceeded, if `entry` is too long;
  // otherwise file_read, with the text of the helper if it has reported a failure.
  [[nodiscard]] clbin::base::Result<StorageReply> request(storage_http::Operation kind,
                                                          const clbin::base::Digest& key,
                                                          clbin::base::ByteView entry,
                                                          Clock::time_point deadline);

private:
  StorageClient(clbin::base::FileDescriptor socket, const WakeUp& wake_up)
      : m_socket(std::move(socket)), m_wake_up(&wake_up) {}
  [[nodiscard]] clbin::base::Result<void> read_greeting(Clock::time_point deadline);
  [[nodiscard]] clbin::base::Result<void> wait_for(short events, Clock::time_point deadline);
  [[nodiscard]] clbin::base::Result<void> send(clbin::base::ByteView bytes,
                                               Clock::time_point deadline);
  // Appends up to `size_bytes` to `bytes`. Memory grows with the received bytes.
  [[nodiscard]] clbin::base::Result<void> receive(clbin::base::Bytes& bytes, std::size_t size_bytes,
                                                  Clock::time_point deadline);
  [[nodiscard]] clbin::base::Result<StorageReply> receive_reply(storage_http::Operation kind,
                                                                Clock::time_point deadline);

  clbin::base::FileDescriptor m_socket;
  const WakeUp* m_wake_up;
};

} // namespace oclcc::remote

// A listening Unix socket with a name that at most one process serves, and what serves its clients.
#pragma once

#include "base/file_io.hpp"
#include "base/result.hpp"
#include "storage_http/http_client.hpp"

#include <chrono>
#include <filesystem>
#include <optional>

namespace oclcc::storage_http {

// The destructor keeps the files of the socket and of the lock; remove() removes them. Not
// thread-safe.
class PrivateSocket {
public:
  // Listens at `path` and replaces a socket that a dead process left there. Returns std::nullopt if
  // a live process accepts connections at `path`. Blocks at most two seconds for such a process.
  //
  // Errors: invalid_argument if the path is too long for a socket, or if its directory does not
  // belong to the user, or if others can use the directory. file_write if the system fails.
  [[nodiscard]] static clbin::base::Result<std::optional<PrivateSocket>>
  claim(const std::filesystem::path& path);

  [[nodiscard]] int number() const noexcept { return m_listener.number(); }
  // Returns false if the socket's file was removed or replaced: then no client can connect.
  [[nodiscard]] bool is_reachable() const noexcept;
  // Removes the socket's file unless it was replaced, and the locked file. The socket remains open
  // for clients that are already connected.
  void remove() noexcept;

private:
  PrivateSocket(std::filesystem::path path, clbin::base::FileDescriptor lock)
      : m_path(std::move(path)), m_lock(std::move(lock)) {}
  [[nodiscard]] clbin::base::Result<void> listen();

  std::filesystem::path m_path;
  clbin::base::FileDescriptor m_lock;
  clbin::base::FileDescriptor m_listener;
  dev_t m_device = 0; // of the socket's file
  ino_t m_inode = 0;
};

// Accepts processes of this user as clients and performs their requests, up to k_max_threads at
// once. A connection without a request needs no thread. Returns after `idle` without a request, or
// if the socket's file was removed or replaced; then the socket's files are removed. Returns
// ErrorCode::internal if the system has no descriptors for the server.
[[nodiscard]] clbin::base::Result<void> serve(PrivateSocket& socket, HttpClient& client,
                                              std::chrono::seconds idle);

} // namespace oclcc::storage_http

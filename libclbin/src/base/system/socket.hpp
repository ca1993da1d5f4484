// Transfers over connected stream sockets, with a time limit. None raises SIGPIPE. On Windows,
// pipes in two directions take the place of sockets.
#pragma once

#include "base/system/files.hpp"

#include <chrono>
#include <optional>

namespace clbin::base {

enum class SocketFault : std::uint8_t {
  closed,    // the other end is closed
  timed_out, // the deadline passed first
  woken,     // the file `wake_up` became readable first
  garbage,   // what was received is not a message; for protocols
  system,    // errno has the reason
};

template <typename T>
using SocketResult = tl::expected<T, SocketFault>;

using Deadline = std::optional<std::chrono::steady_clock::time_point>; // std::nullopt: no limit

inline constexpr int k_no_wake_up = -1;

// Connected sockets, for this process and another one.
struct SocketPair {
  FileDescriptor own;
  FileDescriptor other;
};
[[nodiscard]] SystemResult<SocketPair> open_socket_pair() noexcept;
[[nodiscard]] bool is_socket(int number) noexcept;

// Blocks until there is something to receive, or an error, which the next call reports. Windows
// knows no `wake_up`.
[[nodiscard]] SocketResult<void> wait_to_receive(int socket, const Deadline& deadline,
                                                 int wake_up = k_no_wake_up);
[[nodiscard]] SocketResult<void> send_all(int socket, ByteView bytes, const Deadline& deadline,
                                          int wake_up = k_no_wake_up);
// Memory grows with the received bytes, not with `size_bytes`, which the other end announced.
[[nodiscard]] SocketResult<Bytes> receive_all(int socket, std::uint64_t size_bytes,
                                              const Deadline& deadline, int wake_up = k_no_wake_up);

} // namespace clbin::base

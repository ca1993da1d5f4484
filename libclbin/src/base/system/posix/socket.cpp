#include "base/system/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace clbin::base {

namespace {

constexpr std::size_t k_chunk_bytes = 1U << 20U;

int poll_timeout(const Deadline& deadline) noexcept {
  if (!deadline) {
    return -1;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

// `events` as for poll.
SocketResult<void> wait_for_socket(int socket, short events, const Deadline& deadline,
                                   int wake_up) {
  for (;;) {
    std::array<pollfd, 2> files{{{socket, events, 0}, {wake_up, POLLIN, 0}}};
    const int ready = ::poll(files.data(), files.size(), poll_timeout(deadline));
    if (ready > 0) {
      return files[1].revents != 0 ? SocketResult<void>(tl::unexpected(SocketFault::woken))
                                   : SocketResult<void>();
    }
    if (ready == 0) {
      return tl::unexpected(SocketFault::timed_out);
    }
    if (errno != EINTR) {
      return tl::unexpected(SocketFault::system);
    }
  }
}

// `transfer` receives or sends a part of the bytes, and returns its size.
template <typename Byte, typename Transfer>
SocketResult<void> transfer_all(int socket, std::span<Byte> bytes, short events,
                                const Deadline& deadline, int wake_up, const Transfer& transfer) {
  while (!bytes.empty()) {
    CLBIN_TRY(wait_for_socket(socket, events, deadline, wake_up));
    const ssize_t count = transfer(bytes);
    if (count == 0 && events == POLLIN) {
      return tl::unexpected(SocketFault::closed);
    }
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      if (!bytes.empty() && deadline && std::chrono::steady_clock::now() > *deadline) {
        return tl::unexpected(SocketFault::timed_out); // the other end may never stop
      }
    } else if (errno != EINTR && errno != EAGAIN) {
      return tl::unexpected(errno == EPIPE || errno == ECONNRESET ? SocketFault::closed
                                                                  : SocketFault::system);
    }
  }
  return {};
}

} // namespace

SystemResult<SocketPair> open_socket_pair() noexcept {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return tl::unexpected(errno);
  }
  return SocketPair{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool is_socket(int number) noexcept {
  struct stat facts {};
  return ::fstat(number, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

SocketResult<void> wait_to_receive(int socket, const Deadline& deadline, int wake_up) {
  return wait_for_socket(socket, POLLIN, deadline, wake_up);
}

SocketResult<void> send_all(int socket, ByteView bytes, const Deadline& deadline, int wake_up) {
  return transfer_all(socket, bytes, POLLOUT, deadline, wake_up, [socket](ByteView rest) {
    return ::send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  });
}

SocketResult<Bytes> receive_all(int socket, std::uint64_t size_bytes, const Deadline& deadline,
                                int wake_up) {
  Bytes bytes;
  while (bytes.size() < size_bytes) {
    const std::size_t start = bytes.size();
    bytes.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, start + k_chunk_bytes)));
    CLBIN_TRY(transfer_all(socket, std::span(bytes).subspan(start), POLLIN, deadline, wake_up,
                           [socket](std::span<std::byte> rest) {
                             return ::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
                           }));
  }
  return bytes;
}

} // namespace clbin::base

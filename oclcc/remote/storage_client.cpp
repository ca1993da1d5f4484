#include "remote/storage_client.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace oclcc::remote {

using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::Digest;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::FileDescriptor;
using clbin::base::reason_of;
using clbin::base::Result;
using storage_http::k_greeting;
using storage_http::k_max_entry_bytes;
using storage_http::k_max_frame_bytes;
using storage_http::Operation;
using storage_http::Status;

namespace {

constexpr std::size_t k_part_bytes = 256U << 10U;
constexpr std::size_t k_shown_bytes = 300; // of a failure, in messages
constexpr std::size_t k_length_bytes = 4;

std::chrono::milliseconds time_left(Clock::time_point deadline) {
  return std::max(std::chrono::milliseconds::zero(),
                  std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
}

// The helper gives up a little earlier than the client, so that its reason is known.
std::uint32_t milliseconds_of_helper(Clock::time_point deadline) {
  constexpr std::int64_t k_most = 86'400'000;
  const std::int64_t left = time_left(deadline).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left - left / 10, 1, k_most));
}

Bytes frame_of(Operation kind, const Digest& key, ByteView entry, Clock::time_point deadline) {
  clbin::base::ByteWriter body;
  body.write_u8(static_cast<std::uint8_t>(kind));
  body.write_zeros(3);
  body.write_u32(milliseconds_of_helper(deadline));
  body.write_bytes(key.bytes);
  clbin::base::ByteWriter frame;
  frame.write_u32(static_cast<std::uint32_t>(body.size() + entry.size()));
  frame.write_bytes(body.view());
  frame.write_bytes(entry);
  return std::move(frame).take();
}

std::uint32_t length_in(ByteView bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = k_length_bytes; i-- > 0;) {
    length = (length << 8U) | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return length;
}

Result<void> require_own_process(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof(peer)) {
    return fail(ErrorCode::file_read, "the user of its helper process is not known");
  }
  if (peer.uid != ::geteuid()) {
    return fail(ErrorCode::file_read, "its helper process belongs to user {}", peer.uid);
  }
  return {};
}

Result<FileDescriptor> connect_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::file_read, "the name of the socket '{}' is too long", path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    return fail(ErrorCode::file_read, "cannot create a socket: {}", reason_of(errno));
  }
  // Connecting to a local socket does not block: EAGAIN means that too many connections wait.
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED;
    return fail(is_absent ? ErrorCode::file_not_found : ErrorCode::file_read,
                "cannot connect to '{}': {}", path, reason_of(errno));
  }
  return socket;
}

std::string failure_text(ByteView text) {
  const std::string_view all = clbin::base::as_text(text);
  return text.empty() ? "its helper process reports a failure without a reason"
                      : clbin::base::printable(all.substr(0, k_shown_bytes));
}

Result<StorageReply> reply_of(Operation kind, Bytes body) {
  const auto status = std::to_integer<std::uint8_t>(body.front());
  const ByteView rest = ByteView(body).subspan(1);
  const bool has_entry = kind == Operation::get && status == 0;
  if (status == static_cast<std::uint8_t>(Status::failed)) {
    return fail(ErrorCode::file_read, "{}", failure_text(rest));
  }
  if (status > static_cast<std::uint8_t>(Status::refused) || (!has_entry && !rest.empty())) {
    return fail(ErrorCode::file_read, "its helper process sent a reply that is not understood");
  }
  StorageReply reply{static_cast<Status>(status), {}};
  if (has_entry) {
    body.erase(body.begin());
    reply.entry = std::move(body);
  }
  return reply;
}

} // namespace

WakeUp::WakeUp() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void WakeUp::wake() noexcept {
  (void)::eventfd_write(m_event.number(), 1); // fails only if it is readable already
}

Result<StorageClient> StorageClient::connect(const std::string& path, Clock::time_point deadline,
                                             const WakeUp& wake_up) {
  CLBIN_TRY_ASSIGN(FileDescriptor socket, connect_socket(path));
  CLBIN_TRY(require_own_process(socket.number()));
  StorageClient client(std::move(socket), wake_up);
  CLBIN_TRY(client.read_greeting(deadline));
  return client;
}

Result<void> StorageClient::read_greeting(Clock::time_point deadline) {
  Bytes greeting;
  CLBIN_TRY(receive(greeting, k_greeting.size(), deadline));
  if (clbin::base::as_text(greeting) != k_greeting) {
    return fail(ErrorCode::file_read, "its helper process speaks another protocol");
  }
  return {};
}

Result<void> StorageClient::wait_for(short events, Clock::time_point deadline) {
  while (true) {
    std::array<pollfd, 2> files{{{m_socket.number(), events, 0}, {m_wake_up->number(), POLLIN, 0}}};
    const auto left = time_left(deadline);
    const int ready = ::poll(files.data(), files.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) {
      return fail(ErrorCode::file_read, "cannot wait for its helper process: {}", reason_of(errno));
    }
    if (ready > 0 && files[1].revents != 0) {
      return fail(ErrorCode::file_read, "the run ended first");
    }
    if (ready > 0) {
      return {}; // an error of the socket is that of the next call
    }
    if (ready == 0 && left == std::chrono::milliseconds::zero()) {
      return fail(ErrorCode::file_read, "no answer in time");
    }
  }
}

Result<void> StorageClient::send(ByteView bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(m_socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      CLBIN_TRY(wait_for(POLLOUT, deadline));
    } else if (errno != EINTR) {
      const bool is_closed = errno == EPIPE || errno == ECONNRESET;
      return fail(is_closed ? ErrorCode::file_not_found : ErrorCode::file_read,
                  "cannot write to its helper process: {}", reason_of(errno));
    }
  }
  return {};
}

Result<void> StorageClient::receive(Bytes& bytes, std::size_t size_bytes,
                                    Clock::time_point deadline) {
  const std::size_t wanted = bytes.size() + size_bytes;
  while (bytes.size() < wanted) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min(wanted, before + k_part_bytes));
    const ssize_t count =
        ::recv(m_socket.number(), bytes.data() + before, bytes.size() - before, 0);
    const int error = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    if (count == 0 || (count < 0 && error == ECONNRESET)) {
      return fail(before == 0 ? ErrorCode::file_not_found : ErrorCode::file_read,
                  "its helper process closed the connection");
    }
    if (count < 0 && (error == EAGAIN || error == EWOULDBLOCK)) {
      CLBIN_TRY(wait_for(POLLIN, deadline));
    } else if (count < 0 && error != EINTR) {
      return fail(ErrorCode::file_read, "cannot read from its helper process: {}",
                  reason_of(error));
    }
    if (Clock::now() > deadline && bytes.size() < wanted) { // it sends byte by byte
      return fail(ErrorCode::file_read, "no complete answer in time");
    }
  }
  return {};
}

Result<StorageReply> StorageClient::receive_reply(Operation kind, Clock::time_point deadline) {
  Bytes length;
  CLBIN_TRY(receive(length, k_length_bytes, deadline));
  const std::uint32_t size_bytes = length_in(length);
  if (size_bytes == 0 || size_bytes > k_max_frame_bytes) {
    return fail(ErrorCode::file_read, "its helper process announced a reply of {} bytes",
                size_bytes);
  }
  Bytes body;
  auto received = receive(body, size_bytes, deadline);
  if (!received) {
    return fail(ErrorCode::file_read, "{}", received.error().message);
  }
  return reply_of(kind, std::move(body));
}

Result<StorageReply> StorageClient::request(Operation kind, const Digest& key, ByteView entry,
                                            Clock::time_point deadline) {
  if (entry.size() > k_max_entry_bytes) {
    return fail(ErrorCode::limit_exceeded, "an entry of {} bytes is too long", entry.size());
  }
  CLBIN_TRY(send(frame_of(kind, key, entry, deadline), deadline));
  return receive_reply(kind, deadline);
}

} // namespace oclcc::remote

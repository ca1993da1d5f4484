#include "worker/message_channel.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>

namespace oclcc::worker {

using clbin::base::Bytes;
using clbin::base::ByteView;

namespace {

constexpr std::size_t k_head_bytes = 12; // u32 kind, u64 length
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

tl::expected<void, ChannelFault> wait_until_ready(int socket, short events,
                                                  const Deadline& deadline) {
  for (;;) {
    pollfd waiting{socket, events, 0};
    const int ready = ::poll(&waiting, 1, poll_timeout(deadline));
    if (ready > 0) {
      return {};
    }
    if (ready == 0) {
      return tl::unexpected(ChannelFault::timed_out);
    }
    if (errno != EINTR) {
      return tl::unexpected(ChannelFault::system);
    }
  }
}

bool is_transient(int error) noexcept {
  return error == EINTR || error == EAGAIN;
}

ChannelFault fault_of(int error) noexcept {
  return error == EPIPE || error == ECONNRESET ? ChannelFault::closed : ChannelFault::system;
}

tl::expected<void, ChannelFault> receive_exactly(int socket, std::span<std::byte> bytes,
                                                 const Deadline& deadline) {
  while (!bytes.empty()) {
    if (auto ready = wait_until_ready(socket, POLLIN, deadline); !ready) {
      return ready;
    }
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) {
      return tl::unexpected(ChannelFault::closed);
    }
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (!is_transient(errno)) {
      return tl::unexpected(fault_of(errno));
    }
  }
  return {};
}

tl::expected<void, ChannelFault> send_exactly(int socket, ByteView bytes,
                                              const Deadline& deadline) {
  while (!bytes.empty()) {
    if (auto ready = wait_until_ready(socket, POLLOUT, deadline); !ready) {
      return ready;
    }
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (!is_transient(errno)) {
      return tl::unexpected(fault_of(errno));
    }
  }
  return {};
}

struct Head {
  MessageKind kind;
  std::uint64_t length;
};

tl::expected<Head, ChannelFault> parse_head(ByteView bytes) {
  clbin::base::ByteReader reader(bytes, "message");
  const auto kind = reader.read_u32("kind");
  const auto length = reader.read_u64("length");
  constexpr auto first = static_cast<std::uint32_t>(MessageKind::enumerate_request);
  constexpr auto last = static_cast<std::uint32_t>(MessageKind::settled);
  if (!kind || !length || *kind < first || *kind > last || *length > k_max_message_bytes) {
    return tl::unexpected(ChannelFault::garbage);
  }
  return Head{static_cast<MessageKind>(*kind), *length};
}

} // namespace

bool wait_for_message(int socket, const Deadline& deadline) {
  return wait_until_ready(socket, POLLIN, deadline).has_value();
}

tl::expected<Message, ChannelFault> receive_message(int socket, const Deadline& deadline) {
  Bytes head_bytes(k_head_bytes);
  if (auto read = receive_exactly(socket, head_bytes, deadline); !read) {
    return tl::unexpected(read.error());
  }
  const auto head = parse_head(head_bytes);
  if (!head) {
    return tl::unexpected(head.error());
  }
  Message message{head->kind, {}};
  while (message.body.size() < head->length) {
    const std::size_t start = message.body.size();
    const auto chunk =
        static_cast<std::size_t>(std::min<std::uint64_t>(head->length - start, k_chunk_bytes));
    message.body.resize(start + chunk);
    if (auto read = receive_exactly(socket, std::span(message.body).subspan(start), deadline);
        !read) {
      return tl::unexpected(read.error());
    }
  }
  return message;
}

tl::expected<void, ChannelFault> send_message(int socket, MessageKind kind, ByteView body,
                                              const Deadline& deadline) {
  clbin::base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(kind));
  head.write_u64(body.size());
  if (auto sent = send_exactly(socket, head.view(), deadline); !sent) {
    return sent;
  }
  return send_exactly(socket, body, deadline);
}

} // namespace oclcc::worker

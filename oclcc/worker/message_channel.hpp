// Carries messages over a stream socket, with limits: either end may crash, hang or write garbage.
#pragma once

#include "base/byte_codec.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <tl/expected.hpp>

namespace oclcc::worker {

// File descriptor of the worker's end. Not standard output, because drivers print there.
inline constexpr int k_worker_channel = 3;

enum class MessageKind : std::uint32_t {
  enumerate_request = 1,
  enumerate_reply = 2,
  build_request = 3,
  build_reply = 4,
  settled = 5, // no body; follows each build_reply after the objects of the unit are released
};

// The payload limit of the bundle reader, plus a margin for the rest of the message.
inline constexpr std::uint64_t k_max_message_bytes = (1ULL << 30U) + (16ULL << 20U);

struct Message {
  MessageKind kind = MessageKind::enumerate_request;
  clbin::base::Bytes body;
};

enum class ChannelFault : std::uint8_t {
  closed,    // the other end is closed
  timed_out, // the deadline passed first
  garbage,   // not a message: unknown kind, or longer than k_max_message_bytes
  system,    // errno has the reason
};

using Deadline = std::optional<std::chrono::steady_clock::time_point>; // std::nullopt: no limit

// Blocks until data or the end of the stream can be read. Returns false at `deadline`.
[[nodiscard]] bool wait_for_message(int socket, const Deadline& deadline);

// Receives a message. Memory grows with the received bytes, not with the announced size.
[[nodiscard]] tl::expected<Message, ChannelFault> receive_message(int socket,
                                                                  const Deadline& deadline);
[[nodiscard]] tl::expected<void, ChannelFault>
send_message(int socket, MessageKind kind, clbin::base::ByteView body, const Deadline& deadline);

} // namespace oclcc::worker

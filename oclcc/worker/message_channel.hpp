// Carries messages over a stream socket, with limits: either end may crash, hang or write garbage.
#pragma once

#include "base/byte_codec.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <tl/expected.hpp>

namespace oclcc::worker {

// Where a worker finds its end. Not standard output: drivers print there.
inline constexpr int k_worker_channel = 3;

enum class MessageKind : std::uint32_t {
  enumerate_request = 1,
  enumerate_reply = 2,
  build_request = 3,
  build_reply = 4,
  settled = 5, // no body; follows each build_reply: the unit's objects are released
};

// As much as a reader of bundles takes for one payload, and something for what comes with it.
inline constexpr std::uint64_t k_max_message_bytes = (1ULL << 30U) + (16ULL << 20U);

struct Message {
  MessageKind kind = MessageKind::enumerate_request;
  clbin::base::Bytes body;
};

enum class ChannelFault : std::uint8_t {
  closed,    // the other end is gone
  timed_out, // the deadline passed first
  garbage,   // not a message: unknown kind, or longer than k_max_message_bytes
  system,    // errno tells
};

using Deadline = std::optional<std::chrono::steady_clock::time_point>; // nothing: wait for ever

// Whether something can be read, or the other end is gone, before `deadline`.
[[nodiscard]] bool wait_for_message(int socket, const Deadline& deadline);

// Memory grows with what arrives, not with what the other end announces.
[[nodiscard]] tl::expected<Message, ChannelFault> receive_message(int socket,
                                                                  const Deadline& deadline);
[[nodiscard]] tl::expected<void, ChannelFault>
send_message(int socket, MessageKind kind, clbin::base::ByteView body, const Deadline& deadline);

} // namespace oclcc::worker

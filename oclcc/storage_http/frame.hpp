// The requests of oclcc and the replies of oclcc-storage-http, on a stream socket.
//
// Each message is a u32 length and that many bytes, little-endian. A request contains the u8
// operation, 24 zero bits, the u32 deadline in milliseconds (0: the setting 'timeout-ms'), the 32
// bytes of the key, and the payload of a PUT. A reply contains the u8 status and the payload.
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace oclcc::storage_http {

// Sent to each client that connects.
inline constexpr std::string_view k_greeting = "clbin-storage 1\n";
inline constexpr std::uint32_t k_max_payload_bytes = 64U << 20U;
inline constexpr std::uint32_t k_max_frame_bytes = k_max_payload_bytes + 64U;

enum class Operation : std::uint8_t { get = 1, put = 2, head = 3 };

struct Request {
  Operation operation = Operation::get;
  std::chrono::milliseconds deadline{0};
  clbin::base::Digest key;
  clbin::base::Bytes payload;
};

enum class Status : std::uint8_t {
  done = 0,    // GET: the payload follows; PUT: stored; HEAD: present
  absent = 1,  // GET and HEAD
  failed = 2,  // the payload is the reason
  refused = 3, // a PUT in read-only mode
};

struct Reply {
  Status status = Status::failed;
  clbin::base::Bytes payload;
};

// Returns std::nullopt unless `body` is a request. `body` can be any bytes.
[[nodiscard]] std::optional<Request> parse_request(clbin::base::ByteView body);

// Blocks until a whole request is received. Returns std::nullopt if the client closes the
// connection, sends something else, or stalls longer than the receive timeout of the socket. Memory
// grows with the received bytes, not with the announced length.
[[nodiscard]] std::optional<Request> receive_request(int socket);

// Returns false if the client closed the connection or stalls longer than the send timeout of the
// socket.
[[nodiscard]] bool send_reply(int socket, const Reply& reply);

} // namespace oclcc::storage_http

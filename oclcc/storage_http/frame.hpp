// Receives the requests of oclcc and sends the replies (storage_protocol.hpp).
#pragma once

#include "base/byte_codec.hpp"
#include "base/digest.hpp"
#include "storage_http/storage_protocol.hpp"

#include <chrono>
#include <optional>

namespace oclcc::storage_http {

struct Request {
  Operation operation = Operation::get;
  std::chrono::milliseconds deadline{0};
  clbin::base::Digest key;
  clbin::base::Bytes payload;
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

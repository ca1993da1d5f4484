#include "storage_http/frame.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <sys/socket.h>
#include <sys/types.h>

namespace oclcc::storage_http {

using clbin::base::ByteReader;
using clbin::base::Bytes;
using clbin::base::ByteView;

namespace {

constexpr std::size_t k_chunk_bytes = 1U << 20U;

bool receive_exactly(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool send_exactly(int socket, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<Operation> operation_of(std::uint8_t number) {
  switch (static_cast<Operation>(number)) {
  case Operation::get:
  case Operation::put:
  case Operation::head:
    return static_cast<Operation>(number);
  }
  return std::nullopt;
}

} // namespace

std::optional<Request> parse_request(ByteView body) {
  ByteReader reader(body, "request");
  const auto number = reader.read_u8("operation");
  const auto reserved = reader.require_zero(3, "reserved");
  const auto deadline = reader.read_u32("deadline");
  Request request;
  const auto key = reader.read_bytes(request.key.bytes.size(), "key");
  if (!number || !reserved || !deadline || !key) {
    return std::nullopt;
  }
  const auto operation = operation_of(*number);
  const auto payload = reader.read_bytes(reader.remaining(), "payload");
  if (!operation || !payload || (*operation != Operation::put && !payload->empty()) ||
      payload->size() > k_max_entry_bytes) {
    return std::nullopt;
  }
  request.operation = *operation;
  request.deadline = std::chrono::milliseconds(*deadline);
  std::copy(key->begin(), key->end(), request.key.bytes.begin());
  request.payload.assign(payload->begin(), payload->end());
  return request;
}

std::optional<Request> receive_request(int socket) {
  Bytes head(4);
  if (!receive_exactly(socket, head)) {
    return std::nullopt;
  }
  const auto length = ByteReader(head, "request").read_u32("length");
  if (!length || *length > k_max_frame_bytes) {
    return std::nullopt;
  }
  Bytes body;
  while (body.size() < *length) {
    const std::size_t start = body.size();
    body.resize(start + std::min<std::size_t>(*length - start, k_chunk_bytes));
    if (!receive_exactly(socket, std::span(body).subspan(start))) {
      return std::nullopt;
    }
  }
  return parse_request(body);
}

bool send_reply(int socket, const Reply& reply) {
  clbin::base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(reply.payload.size() + 1));
  head.write_u8(static_cast<std::uint8_t>(reply.status));
  return send_exactly(socket, head.view()) && send_exactly(socket, reply.payload);
}

} // namespace oclcc::storage_http

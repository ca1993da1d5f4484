// A helper process of the remote cache as threads of the test: its replies are a function.
#pragma once

#include "base/file_io.hpp"
#include "remote/storage_client.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace oclcc::remote {

struct FakeRequest {
  storage_http::Operation kind = storage_http::Operation::get;
  std::uint32_t milliseconds = 0;
  clbin::base::Digest key;
  std::string entry;
};

// Returns the frame of a reply.
inline std::string reply_frame(storage_http::Status status, std::string_view rest = {}) {
  clbin::base::ByteWriter frame;
  frame.write_u32(static_cast<std::uint32_t>(rest.size() + 1));
  frame.write_u8(static_cast<std::uint8_t>(status));
  frame.write_bytes(clbin::base::as_bytes(rest));
  return std::string(clbin::base::as_text(frame.view()));
}

class FakeStorage {
public:
  // Returns the bytes of the reply; empty to close the connection. Called on several threads.
  using Reply = std::function<std::string(const FakeRequest& request)>;

  explicit FakeStorage(Reply reply, std::string greeting = std::string(storage_http::k_greeting),
                       std::string socket_path = {})
      : m_path(socket_path.empty() ? (m_folder.path() / "socket").string()
                                   : std::move(socket_path)),
        m_reply(std::move(reply)), m_greeting(std::move(greeting)),
        m_socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, m_path.c_str(), m_path.size() + 1);
    EXPECT_EQ(::bind(m_socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(m_socket, 64), 0);
    m_acceptor = std::thread([this] { accept_all(); });
  }
  ~FakeStorage() {
    ::shutdown(m_socket, SHUT_RDWR);
    m_acceptor.join();
    ::close(m_socket);
    {
      const std::lock_guard lock(m_mutex);
      for (const int connection : m_connections) {
        ::shutdown(connection, SHUT_RDWR);
      }
    }
    for (std::thread& thread : m_threads) {
      thread.join();
    }
    for (const int connection : m_connections) {
      ::close(connection);
    }
  }
  FakeStorage(const FakeStorage&) = delete;
  FakeStorage& operator=(const FakeStorage&) = delete;

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::vector<FakeRequest> requests() {
    const std::lock_guard lock(m_mutex);
    return m_requests;
  }
  [[nodiscard]] std::size_t count(storage_http::Operation kind) {
    std::size_t found = 0;
    for (const FakeRequest& request : requests()) {
      found += request.kind == kind ? 1U : 0U;
    }
    return found;
  }
  [[nodiscard]] std::size_t connection_count() {
    const std::lock_guard lock(m_mutex);
    return m_connections.size();
  }

private:
  void accept_all() {
    while (true) {
      const int connection = ::accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) {
        return;
      }
      const std::lock_guard lock(m_mutex);
      m_connections.push_back(connection);
      m_threads.emplace_back([this, connection] { serve(connection); });
    }
  }

  static bool receive(int connection, std::string& bytes, std::size_t size_bytes) {
    bytes.resize(size_bytes);
    return ::recv(connection, bytes.data(), size_bytes, MSG_WAITALL) ==
           static_cast<ssize_t>(size_bytes);
  }
  static bool send(int connection, std::string_view bytes) {
    return ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  void serve(int connection) {
    std::string length;
    std::string body;
    bool is_open = send(connection, m_greeting);
    while (is_open && receive(connection, length, 4)) {
      clbin::base::ByteReader sizes(clbin::base::as_bytes(length), "length");
      if (!receive(connection, body, sizes.read_u32("length").value())) {
        break;
      }
      const std::string reply = m_reply(read(body));
      is_open = !reply.empty() && send(connection, reply);
    }
    ::shutdown(connection, SHUT_RDWR);
  }

  FakeRequest read(const std::string& body) {
    clbin::base::ByteReader reader(clbin::base::as_bytes(body), "request");
    FakeRequest request;
    request.kind = static_cast<storage_http::Operation>(reader.read_u8("kind").value());
    EXPECT_TRUE(reader.require_zero(3, "zeros"));
    request.milliseconds = reader.read_u32("deadline").value();
    const auto key = reader.read_bytes(request.key.bytes.size(), "key").value();
    std::copy(key.begin(), key.end(), request.key.bytes.begin());
    request.entry = body.substr(reader.offset());
    const std::lock_guard lock(m_mutex);
    m_requests.push_back(request);
    return request;
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-storage-test-").value();
  std::string m_path;
  Reply m_reply;
  std::string m_greeting;
  int m_socket;
  std::mutex m_mutex;
  std::vector<int> m_connections;
  std::vector<std::thread> m_threads;
  std::vector<FakeRequest> m_requests;
  std::thread m_acceptor;
};

} // namespace oclcc::remote

#include "storage_http/server.hpp"

#include "storage_http/request_workers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace oclcc::storage_http {

using clbin::base::ErrorCode;
using clbin::base::FileDescriptor;
using clbin::base::Result;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr timeval k_stall_limit{10, 0};               // of a client in the middle of a frame
constexpr milliseconds k_check_interval(5000);        // of the socket's file
constexpr milliseconds k_pause_without_memory(100);   // descriptors or memory ran out
constexpr milliseconds k_last_requests_interval(200); // of clients that connected at the end

bool is_of_this_user(int connection) noexcept {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

bool greet(int connection) noexcept {
  // A new connection has room for the greeting.
  return ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &k_stall_limit, sizeof k_stall_limit) ==
             0 &&
         ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &k_stall_limit, sizeof k_stall_limit) ==
             0 &&
         ::send(connection, k_greeting.data(), k_greeting.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
             static_cast<ssize_t>(k_greeting.size());
}

class Server {
public:
  Server(PrivateSocket& socket, HttpClient& client, std::chrono::seconds idle, FileDescriptor wake)
      : m_socket(socket), m_idle(idle), m_wake(std::move(wake)),
        m_workers(client, m_wake.number()) {}

  void run();

private:
  [[nodiscard]] milliseconds time_to_wait() const;
  [[nodiscard]] std::vector<pollfd> watched() const;
  void accept_clients();
  void take_requests(const std::vector<pollfd>& ready);
  void take_finished();
  [[nodiscard]] bool should_end();

  PrivateSocket& m_socket;
  std::chrono::seconds m_idle;
  FileDescriptor m_wake;
  RequestWorkers m_workers;
  std::vector<FileDescriptor> m_connections; // without a request
  Clock::time_point m_last_request = Clock::now();
  bool m_is_ending = false;
  bool m_is_paused = false; // no descriptor is left for a further client
};

milliseconds Server::time_to_wait() const {
  if (m_is_ending) {
    return k_last_requests_interval;
  }
  if (m_is_paused) {
    return k_pause_without_memory;
  }
  const auto left = std::chrono::ceil<milliseconds>(m_last_request + m_idle - Clock::now());
  return std::clamp(left, milliseconds(1), k_check_interval);
}

// The wake descriptor, the listening socket, and the connections in their order.
std::vector<pollfd> Server::watched() const {
  std::vector<pollfd> watched;
  watched.reserve(m_connections.size() + 2);
  watched.push_back({m_wake.number(), POLLIN, 0});
  watched.push_back({m_is_paused ? -1 : m_socket.number(), POLLIN, 0});
  for (const FileDescriptor& connection : m_connections) {
    watched.push_back({connection.number(), POLLIN, 0});
  }
  return watched;
}

void Server::accept_clients() {
  for (;;) {
    FileDescriptor connection(::accept4(m_socket.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.is_open()) {
      m_is_paused = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return;
    }
    if (is_of_this_user(connection.number()) && greet(connection.number())) {
      m_connections.push_back(std::move(connection));
    }
  }
}

// Passes the connections on which a request, or the end, can be read to the workers.
void Server::take_requests(const std::vector<pollfd>& ready) {
  std::vector<FileDescriptor> others;
  for (std::size_t i = 0; i < m_connections.size(); ++i) {
    if (ready[i + 2].revents == 0) {
      others.push_back(std::move(m_connections[i]));
      continue;
    }
    m_last_request = Clock::now();
    m_workers.add(std::move(m_connections[i]));
  }
  m_connections = std::move(others);
}

void Server::take_finished() {
  std::uint64_t count = 0;
  (void)!::read(m_wake.number(), &count, sizeof count); // does not block
  for (FileDescriptor& connection : m_workers.take_finished()) {
    m_connections.push_back(std::move(connection));
  }
  m_last_request = Clock::now();
}

bool Server::should_end() {
  if (!m_workers.are_idle()) {
    return false;
  }
  return Clock::now() - m_last_request >= m_idle || !m_socket.is_reachable();
}

void Server::run() {
  for (;;) {
    std::vector<pollfd> ready = watched();
    const int count = ::poll(ready.data(), ready.size(), static_cast<int>(time_to_wait().count()));
    if (count < 0) {
      continue; // EINTR
    }
    m_is_paused = false;
    take_requests(ready);
    if (ready[0].revents != 0) {
      take_finished();
    }
    if (ready[1].revents != 0) {
      accept_clients();
    }
    if (m_is_ending && count == 0 && m_workers.are_idle()) {
      return;
    }
    if (!m_is_ending && should_end()) {
      // Clients that connected before this are served. Others start another process.
      m_socket.remove();
      m_is_ending = true;
    }
  }
}

} // namespace

Result<void> serve(PrivateSocket& socket, HttpClient& client, std::chrono::seconds idle) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) {
    return clbin::base::fail(ErrorCode::internal, "cannot create an eventfd: {}",
                             clbin::base::reason_of(errno));
  }
  Server(socket, client, idle, std::move(wake)).run();
  return {};
}

} // namespace oclcc::storage_http

#include "remote/storage_http/http_client.hpp"

#include "base/system/posix/calls.hpp"
#include "base/system/socket.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <new>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace oclcc::storage_http {

using Clock = std::chrono::steady_clock;
using base::ByteReader;
using base::ByteView;
using base::FileDescriptor;
using base::in_quotes;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds k_wait_for_other(2000);
constexpr milliseconds k_pause(10);

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) {
  path += suffix;
  return path;
}

sockaddr_un address_of(const std::filesystem::path& path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (void)path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

const sockaddr* as_generic(const sockaddr_un& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<void> check_path(const std::filesystem::path& path) {
  constexpr std::size_t k_max_path = sizeof(sockaddr_un::sun_path) - 1 - 4; // ".new"
  if (path.native().size() > k_max_path) {
    return fail(ErrorCode::invalid_argument,
                "the socket's path has {} bytes; at most {} are possible", path.native().size(),
                k_max_path);
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0) {
    return base::open_error(in_quotes(folder), errno);
  }
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077U) != 0) {
    return fail(ErrorCode::invalid_argument, "{} is not a directory that only this user can use",
                in_quotes(folder));
  }
  return {};
}

// Whether `path` still names the open file.
bool is_named(const FileDescriptor& file, const std::filesystem::path& path) noexcept {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.number(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// Returns a closed descriptor if another process holds the lock.
Result<FileDescriptor> try_lock(const std::filesystem::path& path) {
  FileDescriptor file(
      base::open_retrying(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.is_open()) {
    return base::open_error(in_quotes(path), errno);
  }
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) {
      return FileDescriptor();
    }
    return base::write_error(in_quotes(path), errno);
  }
  // A process that ends removes the file before it releases the lock.
  if (!is_named(file, path)) {
    return FileDescriptor();
  }
  return file;
}

bool accepts_connections(const std::filesystem::path& path) {
  const FileDescriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(path);
  // EAGAIN: the queue of a listening socket is full.
  return client.is_open() &&
         (::connect(client.number(), as_generic(address), sizeof(address)) == 0 || errno == EAGAIN);
}

// A listening socket. The destructor keeps the files of the socket and of the lock; remove()
// removes them. Not thread-safe.
class PrivateSocket {
public:
  // As for serve(). Returns std::nullopt if a live process accepts connections at `path`.
  static Result<std::optional<PrivateSocket>> claim(const std::filesystem::path& path) {
    CLBIN_TRY(check_path(path));
    const auto end = std::chrono::steady_clock::now() + k_wait_for_other;
    do {
      CLBIN_TRY_ASSIGN(FileDescriptor lock, try_lock(with_suffix(path, ".lock")));
      if (lock.is_open()) {
        PrivateSocket claimed(path, std::move(lock));
        CLBIN_TRY(claimed.listen());
        return claimed;
      }
      if (accepts_connections(path)) {
        return std::nullopt;
      }
      std::this_thread::sleep_for(k_pause); // the other process starts or ends
    } while (std::chrono::steady_clock::now() < end);
    return fail(ErrorCode::file_write, "another process locks '{}.lock', but does not listen",
                path.string());
  }

  [[nodiscard]] int number() const noexcept { return m_listener.number(); }

  // Returns false if the socket's file was removed or replaced: then no client can connect.
  bool is_reachable() const noexcept {
    struct stat about {};
    return ::lstat(m_path.c_str(), &about) == 0 && about.st_dev == m_device &&
           about.st_ino == m_inode;
  }

  // Removes the socket's file unless it was replaced, and the locked file. The socket remains open
  // for clients that are already connected.
  void remove() noexcept {
    if (is_reachable()) {
      (void)::unlink(m_path.c_str());
    }
    const std::string name = m_path.native() + ".lock";
    if (is_named(m_lock, name)) {
      (void)::unlink(name.c_str());
    }
  }

private:
  PrivateSocket(std::filesystem::path path, FileDescriptor lock)
      : m_path(std::move(path)), m_lock(std::move(lock)) {}

  Result<void> listen() {
    // Clients never find a socket that does not listen yet: it is renamed afterwards. The lock
    // reserves the temporary name.
    const auto temporary = with_suffix(m_path, ".new");
    (void)::unlink(temporary.c_str());
    m_listener = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(temporary);
    const mode_t former = ::umask(077);
    const bool is_bound = m_listener.is_open() &&
                          ::bind(m_listener.number(), as_generic(address), sizeof(address)) == 0;
    const int error = errno;
    (void)::umask(former);
    if (!is_bound) {
      return base::write_error(in_quotes(temporary), error);
    }
    struct stat about {};
    if (::listen(m_listener.number(), SOMAXCONN) != 0 || ::lstat(temporary.c_str(), &about) != 0 ||
        std::rename(temporary.c_str(), m_path.c_str()) != 0) {
      const int reason = errno;
      (void)::unlink(temporary.c_str());
      return base::write_error(in_quotes(m_path), reason);
    }
    m_device = about.st_dev;
    m_inode = about.st_ino;
    return {};
  }

  std::filesystem::path m_path;
  FileDescriptor m_lock;
  FileDescriptor m_listener;
  dev_t m_device = 0; // of the socket's file
  ino_t m_inode = 0;
};

// Of a client in the middle of a frame.
constexpr std::chrono::seconds k_stall_limit(30);

// Returns std::nullopt unless `body` is a request. `body` can be any bytes.
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
  request.operation = static_cast<Operation>(*number);
  const bool is_known = request.operation == Operation::get ||
                        request.operation == Operation::put || request.operation == Operation::head;
  const auto payload = reader.read_bytes(reader.remaining(), "payload");
  if (!is_known || !payload || (request.operation != Operation::put && !payload->empty()) ||
      payload->size() > k_max_entry_bytes) {
    return std::nullopt;
  }
  request.deadline = std::chrono::milliseconds(*deadline);
  std::ranges::copy(*key, request.key.bytes.begin());
  request.payload.assign(payload->begin(), payload->end());
  return request;
}

// Blocks until a whole request is received. Returns std::nullopt if the client closes the
// connection, sends something else, or stalls.
std::optional<Request> receive_request(int socket) {
  const auto end = Clock::now() + k_stall_limit;
  const auto head = base::receive_all(socket, sizeof(std::uint32_t), end);
  const std::uint32_t length = head ? base::from_little_endian<std::uint32_t>(*head) : 0;
  if (!head || length > k_max_frame_bytes) {
    return std::nullopt;
  }
  const auto body = base::receive_all(socket, length, end);
  return body ? parse_request(*body) : std::nullopt;
}

// Returns false if the client closed the connection or stalls.
bool send_reply(int socket, const Reply& reply) {
  const auto end = Clock::now() + k_stall_limit;
  base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(reply.payload.size() + 1));
  head.write_u8(static_cast<std::uint8_t>(reply.status));
  return base::send_all(socket, head.view(), end) && base::send_all(socket, reply.payload, end);
}

constexpr int k_max_requests = 64;                    // in progress; others wait
constexpr milliseconds k_check_interval(5000);        // of the socket's file
constexpr milliseconds k_pause_without_memory(100);   // descriptors or memory ran out
constexpr milliseconds k_last_requests_interval(200); // of clients that connected at the end

bool is_of_this_user(int connection) noexcept {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

// Each client has a thread, which waits for its requests and serves them.
class Server {
public:
  Server(PrivateSocket& socket, HttpClient& client) : m_socket(socket), m_client(client) {}
  // Blocks until the requests that have arrived are finished.
  ~Server() {
    for (const Connection& connection : m_connections) {
      (void)::shutdown(connection.socket.number(), SHUT_RD); // ends the wait for the next request
    }
  }
  Server(Server&&) = delete; // and no copies

  void run() {
    bool is_ending = false;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(m_client.idle() - idle_time());
      const milliseconds wait = is_ending ? k_last_requests_interval
                                          : std::clamp(left, milliseconds(1), k_check_interval);
      pollfd listener{m_socket.number(), POLLIN, 0};
      const int count = ::poll(&listener, 1, static_cast<int>(wait.count()));
      m_connections.remove_if([](const Connection& connection) { return !connection.is_open; });
      if (count > 0) {
        accept_clients();
      }
      if (m_in_progress != 0) {
        continue;
      }
      if (is_ending && count == 0) {
        return;
      }
      if (!is_ending && (idle_time() >= m_client.idle() || !m_socket.is_reachable())) {
        // Clients that connected before this are served. Others start another process.
        m_socket.remove();
        is_ending = true;
      }
    }
  }

private:
  struct Connection {
    explicit Connection(FileDescriptor file) : socket(std::move(file)) {}
    FileDescriptor socket;
    std::atomic<bool> is_open = true;
    std::jthread thread; // last, so that it ends first
  };

  // Since the last request; zero while one is in progress.
  [[nodiscard]] Clock::duration idle_time() const {
    return m_in_progress != 0 ? Clock::duration::zero() : Clock::now() - m_last_request.load();
  }

  void accept_clients() {
    for (;;) {
      FileDescriptor socket(::accept4(m_socket.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket.is_open()) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          std::this_thread::sleep_for(k_pause_without_memory);
        }
        return;
      }
      if (!is_of_this_user(socket.number()) ||
          !base::send_all(socket.number(), base::as_bytes(k_greeting), Clock::now())) {
        continue;
      }
      start_thread(m_connections.emplace_back(std::move(socket)));
    }
  }

  // Waits while there can be no further thread.
  void start_thread(Connection& connection) {
    for (;;) {
      try {
        connection.thread = std::jthread([this, &connection] { serve_client(connection); });
        return;
      } catch (const std::system_error&) {
        std::this_thread::sleep_for(k_pause_without_memory);
      }
    }
  }

  void serve_client(Connection& connection) noexcept {
    const int socket = connection.socket.number();
    pollfd request{socket, POLLIN, 0};
    bool goes_on = true;
    while (goes_on) {
      if (::poll(&request, 1, -1) < 0) {
        continue; // EINTR
      }
      ++m_in_progress;
      {
        std::unique_lock lock(m_mutex);
        m_freed.wait(lock, [this] { return m_free_requests > 0; });
        --m_free_requests;
      }
      goes_on = serve_request(socket);
      {
        const std::lock_guard lock(m_mutex);
        ++m_free_requests;
      }
      m_freed.notify_one();
      m_last_request = Clock::now();
      --m_in_progress;
    }
    (void)::shutdown(socket, SHUT_RDWR);
    connection.is_open = false;
  }

  // Returns false if the connection must be closed.
  bool serve_request(int socket) noexcept {
    try {
      const auto request = receive_request(socket);
      return request && send_reply(socket, m_client.perform(*request));
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  PrivateSocket& m_socket;
  HttpClient& m_client;
  std::atomic<int> m_in_progress = 0; // requests, also those that wait
  std::atomic<Clock::time_point> m_last_request = Clock::now();
  std::mutex m_mutex;
  std::condition_variable m_freed;
  int m_free_requests = k_max_requests; // under m_mutex
  std::list<Connection> m_connections;  // last, so that their threads end first
};

} // namespace

Result<void> serve(const std::filesystem::path& path, HttpClient& client,
                   const std::function<void(Claim)>& ready) {
  CLBIN_TRY_ASSIGN(auto socket, PrivateSocket::claim(path));
  ready(socket ? Claim::own : Claim::other);
  if (!socket) {
    return {};
  }
  Server(*socket, client).run();
  return {};
}

} // namespace oclcc::storage_http

#include "remote/storage_http/server.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
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
  const auto operation = operation_of(*number);
  const auto payload = reader.read_bytes(reader.remaining(), "payload");
  if (!operation || !payload || (*operation != Operation::put && !payload->empty()) ||
      payload->size() > k_max_entry_bytes) {
    return std::nullopt;
  }
  request.operation = *operation;
  request.deadline = std::chrono::milliseconds(*deadline);
  std::ranges::copy(*key, request.key.bytes.begin());
  request.payload.assign(payload->begin(), payload->end());
  return request;
}

// Blocks until a whole request is received. Returns std::nullopt if the client closes the
// connection, sends something else, or stalls longer than the receive timeout of the socket. Memory
// grows with the received bytes, not with the announced length.
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

// Returns false if the client closed the connection or stalls longer than the send timeout of the
// socket.
bool send_reply(int socket, const Reply& reply) {
  base::ByteWriter head;
  head.write_u32(static_cast<std::uint32_t>(reply.payload.size() + 1));
  head.write_u8(static_cast<std::uint8_t>(reply.status));
  return send_exactly(socket, head.view()) && send_exactly(socket, reply.payload);
}

constexpr std::size_t k_max_threads = 64; // requests in progress; others wait

// Threads that serve one request of a connection at a time. Owns the connections that it serves.
// The member functions must be called by one thread.
class RequestWorkers {
public:
  // `client` must outlive the object. `wake` is an eventfd that is written to when a request is
  // finished, and must outlive the object.
  RequestWorkers(HttpClient& client, int wake) : m_client(client), m_wake(wake) {}
  // Blocks until the requests in progress are finished.
  ~RequestWorkers() {
    {
      const std::lock_guard lock(m_mutex);
      m_is_ending = true;
      m_waiting.clear();
    }
    m_added.notify_all();
    for (std::thread& thread : m_threads) {
      thread.join();
    }
  }

  RequestWorkers(const RequestWorkers&) = delete;
  RequestWorkers& operator=(const RequestWorkers&) = delete;

  // Serves the next request of a connection. Does not block. Closes the connection if no thread
  // can be started.
  void add(FileDescriptor connection) {
    const std::lock_guard lock(m_mutex);
    m_waiting.push_back(std::move(connection));
    const std::size_t wanted = m_in_progress + m_waiting.size();
    if (m_threads.size() < wanted && m_threads.size() < k_max_threads) {
      try {
        m_threads.emplace_back(&RequestWorkers::work, this);
      } catch (const std::system_error&) {
        if (m_threads.empty()) {
          m_waiting.clear();
        }
      }
    }
    m_added.notify_one();
  }

  // Returns the connections whose request is finished. Those that clients closed or sent garbage on
  // are closed and not returned.
  std::vector<FileDescriptor> take_finished() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_finished, {});
  }

  // Returns true if no request is waiting or in progress.
  bool are_idle() {
    const std::lock_guard lock(m_mutex);
    return m_waiting.empty() && m_in_progress == 0;
  }

private:
  void work() {
    std::unique_lock lock(m_mutex);
    for (;;) {
      m_added.wait(lock, [this] { return m_is_ending || !m_waiting.empty(); });
      if (m_is_ending) {
        return;
      }
      FileDescriptor connection = std::move(m_waiting.front());
      m_waiting.pop_front();
      ++m_in_progress;
      lock.unlock();
      const bool goes_on = serve(connection.number());
      lock.lock();
      --m_in_progress;
      if (goes_on) {
        m_finished.push_back(std::move(connection));
      }
      const std::uint64_t one = 1;
      (void)!::write(m_wake, &one, sizeof one); // fails only if the counter is full, and awake
    }
  }

  // Returns false if the connection must be closed.
  bool serve(int connection) noexcept {
    try {
      const auto request = receive_request(connection);
      return request && send_reply(connection, m_client.perform(*request));
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  HttpClient& m_client;
  int m_wake;
  std::mutex m_mutex; // of everything below but m_threads
  std::condition_variable m_added;
  std::deque<FileDescriptor> m_waiting;
  std::vector<FileDescriptor> m_finished;
  std::size_t m_in_progress = 0;
  bool m_is_ending = false;
  std::vector<std::thread> m_threads;
};

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
  Server(PrivateSocket& socket, HttpClient& client, FileDescriptor wake)
      : m_socket(socket), m_idle(client.idle()), m_wake(std::move(wake)),
        m_workers(client, m_wake.number()) {}

  void run() {
    for (;;) {
      std::vector<pollfd> ready = watched();
      const int count =
          ::poll(ready.data(), ready.size(), static_cast<int>(time_to_wait().count()));
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

private:
  milliseconds time_to_wait() const {
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
  std::vector<pollfd> watched() const {
    std::vector<pollfd> watched;
    watched.reserve(m_connections.size() + 2);
    watched.push_back({m_wake.number(), POLLIN, 0});
    watched.push_back({m_is_paused ? -1 : m_socket.number(), POLLIN, 0});
    for (const FileDescriptor& connection : m_connections) {
      watched.push_back({connection.number(), POLLIN, 0});
    }
    return watched;
  }

  void accept_clients() {
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
  void take_requests(const std::vector<pollfd>& ready) {
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

  void take_finished() {
    std::uint64_t count = 0;
    (void)!::read(m_wake.number(), &count, sizeof count); // does not block
    for (FileDescriptor& connection : m_workers.take_finished()) {
      m_connections.push_back(std::move(connection));
    }
    m_last_request = Clock::now();
  }

  bool should_end() {
    if (!m_workers.are_idle()) {
      return false;
    }
    return Clock::now() - m_last_request >= m_idle || !m_socket.is_reachable();
  }

  PrivateSocket& m_socket;
  std::chrono::seconds m_idle;
  FileDescriptor m_wake;
  RequestWorkers m_workers;
  std::vector<FileDescriptor> m_connections; // without a request
  Clock::time_point m_last_request = Clock::now();
  bool m_is_ending = false;
  bool m_is_paused = false; // no descriptor is left for a further client
};

} // namespace

Result<void> serve(const std::filesystem::path& path, HttpClient& client,
                   const std::function<void(Claim)>& ready) {
  CLBIN_TRY_ASSIGN(auto socket, PrivateSocket::claim(path));
  ready(socket ? Claim::own : Claim::other);
  if (!socket) {
    return {};
  }
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) {
    return fail(ErrorCode::internal, "cannot create an eventfd: {}", base::reason_of(errno));
  }
  Server(*socket, client, std::move(wake)).run();
  return {};
}

} // namespace oclcc::storage_http

#include "base/system/socket.hpp"

#include "base/system/windows/names.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <thread>

namespace clbin::base {

using windows::errno_of;
using windows::handle_of;
using windows::last_error;

namespace {

constexpr DWORD k_pipe_bytes = 1U << 16U;
constexpr std::size_t k_chunk_bytes = 1U << 20U;

// An event that the system sets when an operation ends.
class Event {
public:
  Event() noexcept : m_handle(::CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}
  ~Event() { ::CloseHandle(m_handle); }
  Event(Event&&) = delete; // and no copies
  [[nodiscard]] HANDLE handle() const noexcept { return m_handle; }

private:
  HANDLE m_handle;
};

DWORD milliseconds_until(const Deadline& deadline) noexcept {
  if (!deadline) {
    return INFINITE;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<DWORD>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

tl::unexpected<SocketFault> fault_of(DWORD error) noexcept {
  errno = errno_of(error);
  const bool is_closed = error == ERROR_BROKEN_PIPE || error == ERROR_NO_DATA ||
                         error == ERROR_PIPE_NOT_CONNECTED || error == ERROR_HANDLE_EOF;
  return tl::unexpected(is_closed ? SocketFault::closed : SocketFault::system);
}

// `transfer` starts to read or write, and the operation ends before this returns.
template <typename Transfer>
SocketResult<std::size_t> transfer_once(HANDLE pipe, const Deadline& deadline,
                                        const Transfer& transfer) noexcept {
  const Event event;
  OVERLAPPED operation{};
  operation.hEvent = event.handle();
  if (!transfer(&operation) && ::GetLastError() != ERROR_IO_PENDING) {
    return fault_of(::GetLastError());
  }
  const bool is_late =
      ::WaitForSingleObject(event.handle(), milliseconds_until(deadline)) == WAIT_TIMEOUT;
  if (is_late) {
    ::CancelIoEx(pipe, &operation);
  }
  DWORD count = 0;
  if (::GetOverlappedResult(pipe, &operation, &count, TRUE) == 0) {
    return is_late ? tl::unexpected(SocketFault::timed_out) : fault_of(::GetLastError());
  }
  return count;
}

template <typename Byte, typename Transfer>
SocketResult<void> transfer_all(int socket, std::span<Byte> bytes, const Deadline& deadline,
                                const Transfer& transfer) noexcept {
  HANDLE const pipe = handle_of(socket);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), k_chunk_bytes));
    CLBIN_TRY_ASSIGN(const std::size_t count,
                     transfer_once(pipe, deadline, [&](OVERLAPPED* operation) {
                       return transfer(pipe, part, operation) != 0;
                     }));
    bytes = bytes.subspan(count);
    if (!bytes.empty() && deadline && std::chrono::steady_clock::now() > *deadline) {
      return tl::unexpected(SocketFault::timed_out); // the other end may never stop
    }
  }
  return {};
}

} // namespace

SystemResult<SocketPair> open_socket_pair() noexcept {
  const std::wstring name = windows::to_wide(windows::unused_name(R"(\\.\pipe\clbin-)", ""));
  HANDLE const own = ::CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
      PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, k_pipe_bytes, k_pipe_bytes, 0, nullptr);
  if (own == INVALID_HANDLE_VALUE) {
    return last_error();
  }
  CLBIN_TRY_ASSIGN(FileDescriptor first, windows::to_descriptor(own));
  CLBIN_TRY_ASSIGN(FileDescriptor second,
                   windows::open_named(name, {GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING,
                                              FILE_FLAG_OVERLAPPED, 0}));
  return SocketPair{std::move(first), std::move(second)};
}

bool is_socket(int number) noexcept {
  return ::GetFileType(handle_of(number)) == FILE_TYPE_PIPE;
}

// Pipes have no event for this.
SocketResult<void> wait_to_receive(int socket, const Deadline& deadline, int /*wake_up*/) {
  constexpr std::chrono::milliseconds k_between_looks{1};
  for (;;) {
    DWORD available = 0;
    const bool is_open =
        ::PeekNamedPipe(handle_of(socket), nullptr, 0, nullptr, &available, nullptr) != 0;
    if (!is_open || available > 0) {
      return {};
    }
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      return tl::unexpected(SocketFault::timed_out);
    }
    std::this_thread::sleep_for(k_between_looks);
  }
}

SocketResult<void> send_all(int socket, ByteView bytes, const Deadline& deadline, int /*wake_up*/) {
  return transfer_all(
      socket, bytes, deadline, [](HANDLE pipe, ByteView part, OVERLAPPED* operation) {
        return ::WriteFile(pipe, part.data(), static_cast<DWORD>(part.size()), nullptr, operation);
      });
}

SocketResult<Bytes> receive_all(int socket, std::uint64_t size_bytes, const Deadline& deadline,
                                int /*wake_up*/) {
  Bytes bytes;
  while (bytes.size() < size_bytes) {
    const std::size_t start = bytes.size();
    bytes.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, start + k_chunk_bytes)));
    CLBIN_TRY(transfer_all(socket, std::span(bytes).subspan(start), deadline,
                           [](HANDLE pipe, std::span<std::byte> part, OVERLAPPED* operation) {
                             return ::ReadFile(pipe, part.data(), static_cast<DWORD>(part.size()),
                                               nullptr, operation);
                           }));
  }
  return bytes;
}

} // namespace clbin::base

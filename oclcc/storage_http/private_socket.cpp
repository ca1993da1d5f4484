#include "storage_http/private_socket.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace oclcc::storage_http {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::FileDescriptor;
using clbin::base::in_quotes;
using clbin::base::Result;
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
    return clbin::base::open_error(in_quotes(folder), errno);
  }
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077U) != 0) {
    return fail(ErrorCode::invalid_argument, "{} is not a directory that only this user can use",
                in_quotes(folder));
  }
  return {};
}

// Returns a closed descriptor if another process holds the lock.
Result<FileDescriptor> try_lock(const std::filesystem::path& path) {
  FileDescriptor file(
      clbin::base::open_retrying(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.is_open()) {
    return clbin::base::open_error(in_quotes(path), errno);
  }
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) {
      return FileDescriptor();
    }
    return clbin::base::write_error(in_quotes(path), errno);
  }
  struct stat locked {};
  struct stat named {};
  // A process that ends removes the file before it releases the lock.
  if (::fstat(file.number(), &locked) != 0 || ::lstat(path.c_str(), &named) != 0 ||
      locked.st_ino != named.st_ino || locked.st_dev != named.st_dev) {
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

} // namespace

Result<void> PrivateSocket::listen() {
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
    return clbin::base::write_error(in_quotes(temporary), error);
  }
  struct stat about {};
  if (::listen(m_listener.number(), SOMAXCONN) != 0 || ::lstat(temporary.c_str(), &about) != 0 ||
      std::rename(temporary.c_str(), m_path.c_str()) != 0) {
    const int reason = errno;
    (void)::unlink(temporary.c_str());
    return clbin::base::write_error(in_quotes(m_path), reason);
  }
  m_device = about.st_dev;
  m_inode = about.st_ino;
  return {};
}

Result<std::optional<PrivateSocket>> PrivateSocket::claim(const std::filesystem::path& path) {
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

bool PrivateSocket::is_reachable() const noexcept {
  struct stat about {};
  return ::lstat(m_path.c_str(), &about) == 0 && about.st_dev == m_device &&
         about.st_ino == m_inode;
}

void PrivateSocket::remove() noexcept {
  if (is_reachable()) {
    (void)::unlink(m_path.c_str());
  }
  struct stat locked {};
  struct stat named {};
  std::string name = m_path.native() + ".lock";
  if (::fstat(m_lock.number(), &locked) == 0 && ::lstat(name.c_str(), &named) == 0 &&
      locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
    (void)::unlink(name.c_str());
  }
}

} // namespace oclcc::storage_http

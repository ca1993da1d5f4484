#include "surgery/replaced_file.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace oclcc {

using clbin::base::Result;

namespace {

constexpr std::chrono::seconds k_max_wait(3);
constexpr std::chrono::milliseconds k_between_looks(5);

bool is_same(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

// The lock ends when the file is closed.
void lock(int file) {
  const auto end = std::chrono::steady_clock::now() + k_max_wait;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() >= end) {
      return;
    }
    std::this_thread::sleep_for(k_between_looks);
  }
}

} // namespace

ReplacedFile ReplacedFile::open(const std::filesystem::path& path) {
  ReplacedFile file(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return file;
  }
  file.m_file = clbin::base::FileDescriptor(clbin::base::open_retrying(path.c_str(), O_RDONLY));
  if (file.m_file.is_open() && ::fstat(file.m_file.number(), &file.m_before) != 0) {
    (void)file.m_file.close();
  }
  return file;
}

Result<Replacement> ReplacedFile::replace(const std::function<Result<void>()>& commit) {
  if (m_file.is_open()) {
    lock(m_file.number());
    if (!is_unchanged()) {
      return Replacement::changed;
    }
  }
  CLBIN_TRY(commit());
  return Replacement::done;
}

bool ReplacedFile::is_unchanged() const noexcept {
  struct stat opened {};
  struct stat there {};
  return ::fstat(m_file.number(), &opened) == 0 && is_same(opened, m_before) &&
         ::stat(m_path.c_str(), &there) == 0 && is_same(there, m_before);
}

} // namespace oclcc

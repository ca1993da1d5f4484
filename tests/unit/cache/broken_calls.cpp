#include "broken_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace clbin::test {

namespace {

struct Faults {
  RenameFault rename = RenameFault::none;
  std::size_t free_bytes = std::numeric_limits<std::size_t>::max();
  std::function<void()> before_lock;
};

Faults& faults() {
  static Faults instance;
  return instance;
}

} // namespace

void set_rename_fault(RenameFault fault) {
  faults().rename = fault;
}

void set_free_bytes(std::size_t bytes) {
  faults().free_bytes = bytes;
}

void set_before_lock(std::function<void()> action) {
  faults().before_lock = std::move(action);
}

} // namespace clbin::test

extern "C" {

int flock(int file, int operation) noexcept {
  if (const auto action = std::exchange(clbin::test::faults().before_lock, nullptr)) {
    action();
  }
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

// Takes precedence over the C library's, because the linker searches the executable first.
int renameat(int old_folder, const char* old_name, int new_folder, const char* new_name) noexcept {
  using clbin::test::faults;
  using clbin::test::RenameFault;
  if (faults().rename == RenameFault::kill_before) {
    (void)raise(SIGKILL);
  }
  const long result = syscall(SYS_renameat, old_folder, old_name, new_folder, new_name);
  if (faults().rename == RenameFault::kill_after) {
    (void)raise(SIGKILL);
  }
  return static_cast<int>(result);
}

ssize_t write(int file, const void* bytes, size_t size) {
  auto& free_bytes = clbin::test::faults().free_bytes;
  if (free_bytes == 0) {
    errno = ENOSPC;
    return -1;
  }
  const size_t some = std::min(size, free_bytes);
  if (free_bytes != std::numeric_limits<std::size_t>::max()) {
    free_bytes -= some;
  }
  return syscall(SYS_write, file, bytes, some);
}
}

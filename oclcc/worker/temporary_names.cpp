// Counted instead of random names for temporary files: PoCL writes the name of its own into the
// binary (design.md, "The bundle", 5). As safe as libc's: the file is created with O_EXCL, so that
// nothing that is there is ever opened.
#include "worker/temporary_names.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace {

constexpr std::size_t k_placeholder_length = 6; // "XXXXXX", as POSIX asks
constexpr std::uint32_t k_names = 1'000'000;    // that many decimal numbers fit in its place

std::atomic<std::uint32_t>& next_number() noexcept {
  static std::atomic<std::uint32_t> number{0};
  return number;
}

void write_number(char* digits, std::uint32_t number) noexcept {
  for (std::size_t i = k_placeholder_length; i > 0; --i) {
    digits[i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

int open_counted(char* name, int suffix_length, int flags) noexcept {
  const std::size_t length = std::strlen(name);
  if (suffix_length < 0 ||
      length < k_placeholder_length + static_cast<std::size_t>(suffix_length)) {
    errno = EINVAL;
    return -1;
  }
  char* const digits =
      name + (length - static_cast<std::size_t>(suffix_length) - k_placeholder_length);
  if (std::strncmp(digits, "XXXXXX", k_placeholder_length) != 0) {
    errno = EINVAL;
    return -1;
  }
  for (std::uint32_t attempt = 0; attempt < k_names; ++attempt) {
    write_number(digits, next_number().fetch_add(1) % k_names);
    const int file = ::open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file >= 0 || errno != EEXIST) {
      return file;
    }
  }
  return -1;
}

} // namespace

namespace oclcc::worker {

void reset_temporary_names() noexcept {
  next_number().store(0);
}

} // namespace oclcc::worker

#define OCLCC_EXPORTED __attribute__((visibility("default")))

extern "C" {

OCLCC_EXPORTED int mkstemp(char* name) {
  return open_counted(name, 0, 0);
}
OCLCC_EXPORTED int mkstemp64(char* name) {
  return open_counted(name, 0, 0);
}
OCLCC_EXPORTED int mkostemp(char* name, int flags) {
  return open_counted(name, 0, flags);
}
OCLCC_EXPORTED int mkostemp64(char* name, int flags) {
  return open_counted(name, 0, flags);
}
OCLCC_EXPORTED int mkstemps(char* name, int suffix) {
  return open_counted(name, suffix, 0);
}
OCLCC_EXPORTED int mkstemps64(char* name, int suffix) {
  return open_counted(name, suffix, 0);
}
OCLCC_EXPORTED int mkostemps(char* name, int suffix, int flags) {
  return open_counted(name, suffix, flags);
}
OCLCC_EXPORTED int mkostemps64(char* name, int suffix, int flags) {
  return open_counted(name, suffix, flags);
}

} // extern "C"

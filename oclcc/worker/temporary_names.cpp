// Numbers instead of random names for temporary files and directories, because PoCL writes the
// names into the binary (doc/drivers.md, "PoCL"). As safe as libc's: the file is created with
// O_EXCL, so that no existing file is opened.
#include "worker/temporary_names.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr std::size_t k_placeholder_length = 6; // "XXXXXX", as POSIX asks
constexpr std::uint32_t k_names = 1'000'000;    // the number of names with as many decimal digits

// Before the first reset, names need not be constant: concurrent processes then start at different
// numbers.
std::uint32_t first_number() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (static_cast<std::uint32_t>(now.tv_nsec) ^ static_cast<std::uint32_t>(::getpid())) %
         k_names;
}

std::atomic<std::uint32_t>& next_number() noexcept {
  static std::atomic<std::uint32_t> number{first_number()};
  return number;
}

void write_number(char* digits, std::uint32_t number) noexcept {
  for (std::size_t i = k_placeholder_length; i > 0; --i) {
    digits[i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// Returns the six characters of `name` to replace, or nullptr with errno set.
char* find_placeholder(char* name, int suffix_length) noexcept {
  const std::size_t length = std::strlen(name);
  if (suffix_length >= 0 &&
      length >= k_placeholder_length + static_cast<std::size_t>(suffix_length)) {
    char* const digits =
        name + (length - static_cast<std::size_t>(suffix_length) - k_placeholder_length);
    if (std::strncmp(digits, "XXXXXX", k_placeholder_length) == 0) {
      return digits;
    }
  }
  errno = EINVAL;
  return nullptr;
}

// `make` returns -1 with errno EEXIST if the name exists.
template <typename Make>
int make_counted(char* name, int suffix_length, const Make& make) noexcept {
  char* const digits = find_placeholder(name, suffix_length);
  if (digits == nullptr) {
    return -1;
  }
  for (std::uint32_t attempt = 0; attempt < k_names; ++attempt) {
    write_number(digits, next_number().fetch_add(1) % k_names);
    const int made = make(name);
    if (made >= 0 || errno != EEXIST) {
      return made;
    }
  }
  return -1;
}

int open_counted(char* name, int suffix_length, int flags) noexcept {
  return make_counted(name, suffix_length, [flags](const char* path) {
    return ::open(path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
  });
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
OCLCC_EXPORTED char* mkdtemp(char* name) {
  const int made = make_counted(name, 0, [](const char* path) { return ::mkdir(path, 0700); });
  return made == 0 ? name : nullptr;
}

} // extern "C"

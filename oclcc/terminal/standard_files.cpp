#include "terminal/standard_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace oclcc {

bool keep_standard_files_open() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) {
      continue;
    }
    // Opened for the opposite direction, so that reading and writing fail. open returns the lowest
    // free number.
    const int flags = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) != number) { // NOLINT(cppcoreguidelines-pro-type-vararg)
      return false;
    }
  }
  return true;
}

} // namespace oclcc

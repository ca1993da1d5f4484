#include "worker/quiet_output.hpp"

#include <cstdio>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace oclcc::worker {

QuietOutput::QuietOutput() noexcept : m_output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
  std::fflush(stdout);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nowhere, standard);
  }
  ::close(nowhere);
}

QuietOutput::~QuietOutput() {
  std::fflush(stdout);
  ::dup2(m_output, STDOUT_FILENO);
  ::dup2(m_output, STDERR_FILENO);
  ::close(m_output);
}

} // namespace oclcc::worker

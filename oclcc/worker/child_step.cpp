#include "worker/child_step.hpp"

#include "base/file_io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc::worker {

using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::reason_of;
using clbin::base::Result;

namespace {

using Step = std::function<Result<Bytes>()>;

// Returns false if the parent has died.
bool write_all(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

Bytes read_all(int file) {
  Bytes bytes;
  std::array<std::byte, 65536> part{};
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count > 0) {
      bytes.insert(bytes.end(), part.begin(), part.begin() + count);
    } else if (count == 0 || errno != EINTR) {
      return bytes;
    }
  }
}

[[noreturn]] void run_step(int answers, const Step& step) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Result<Bytes> done = step();
  const ByteView answer = done ? ByteView(*done) : clbin::base::as_bytes(done.error().message);
  const bool sent = write_all(answers, answer);
  ::_exit(done && sent ? 0 : 1); // not exit(): the drivers' threads do not exist here
}

Result<int> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail(ErrorCode::internal, "cannot wait for a child process: {}", reason_of(errno));
    }
  }
  return status;
}

} // namespace

Result<Bytes> run_in_child(const std::string& purpose, const Step& step) {
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::internal, "cannot open a pipe to a child process: {}", reason_of(errno));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    run_step(pipe[1], step);
  }
  const std::string problem = child < 0 ? reason_of(errno) : "";
  ::close(pipe[1]);
  Bytes answer = child < 0 ? Bytes() : read_all(pipe[0]);
  ::close(pipe[0]);
  if (child < 0) {
    return fail(ErrorCode::internal, "cannot start a child process: {}", problem);
  }
  CLBIN_TRY_ASSIGN(const int status, wait_for(child));
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::internal, "the compiler crashed (signal {}) {}", WTERMSIG(status),
                purpose);
  }
  if (WEXITSTATUS(status) != 0) {
    return fail(ErrorCode::internal, "{}: {}", purpose,
                answer.empty() ? "the driver ended the process" : clbin::base::as_text(answer));
  }
  return answer;
}

} // namespace oclcc::worker

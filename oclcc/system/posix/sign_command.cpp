#include "trust/bundle_signing.hpp"
#include "worker/spawn.hpp"
#include "worker/worker_home.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc::trust {

namespace {

constexpr std::size_t k_max_answer_bytes = 16384; // the largest file of minisign has about 9,000
constexpr int k_milliseconds_between_looks = 20;

struct Pipe {
  FileDescriptor from;
  FileDescriptor to;
};

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::internal, "cannot create a pipe: {}", reason_of(errno));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// A pipe that contains `message` and then ends. Nothing writes to it while the command runs, so
// that a command that does not read cannot end oclcc (SIGPIPE).
Result<FileDescriptor> filled_pipe(ByteView message) {
  CLBIN_TRY_ASSIGN(Pipe pipe, open_pipe());
  if (const int error = base::write_all(pipe.to.number(), message); error != 0) {
    return fail(ErrorCode::internal, "cannot write to a pipe: {}", reason_of(error));
  }
  return std::move(pipe.from);
}

// Starts the command in the process group of oclcc, so that it can ask for a password on the
// terminal, and Ctrl-C ends it, too.
Result<pid_t> start(const std::string& command, int input, int output,
                    const std::filesystem::path& home) {
  std::vector<std::string> environment = worker::own_environment();
  worker::set_variable(environment, worker::k_home_variable, home.string());
  worker::Spawn spawn(worker::DefaultSignals::ignored_by_main);
  spawn.duplicate(input, STDIN_FILENO);
  spawn.duplicate(output, STDOUT_FILENO);
  const auto process = spawn.start("/bin/sh", {"/bin/sh", "-c", command}, std::move(environment));
  if (!process) {
    return fail(ErrorCode::file_read, "{} cannot be started: {}", k_sign_command,
                reason_of(process.error()));
  }
  return *process;
}

enum class Reading { more, end };

// Appends what the pipe contains. A process that the command leaves running can keep the pipe open.
Reading read_available(int pipe, Bytes& answer) {
  std::array<std::byte, 4096> part{};
  while (answer.size() <= k_max_answer_bytes) {
    const ssize_t count = ::read(pipe, part.data(), part.size());
    if (count > 0) {
      answer.insert(answer.end(), part.begin(), part.begin() + count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Reading::end;
    } else if (errno == EAGAIN) {
      return Reading::more;
    }
  }
  return Reading::end;
}

// Blocks until the command exits. file_read: it has written too much, or has run for `limit`.
Result<Bytes> answer_of(pid_t process, int pipe, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  Bytes answer;
  (void)::fcntl(pipe, F_SETFL, O_NONBLOCK);
  Reading reading = Reading::more;
  for (;;) {
    pollfd request{pipe, POLLIN, 0};
    (void)::poll(&request, reading == Reading::more ? 1 : 0, k_milliseconds_between_looks);
    const bool exited = worker::has_ended(process); // before the last read
    if (reading == Reading::more) {
      reading = read_available(pipe, answer);
    }
    if (answer.size() > k_max_answer_bytes) {
      return fail(ErrorCode::file_read, "{} wrote more than {} bytes", k_sign_command,
                  k_max_answer_bytes);
    }
    if (exited) {
      return answer;
    }
    if (std::chrono::steady_clock::now() >= end) {
      return fail(ErrorCode::file_read, "{} did not finish within {} s ('--timeout')",
                  k_sign_command, limit.count());
    }
  }
}

} // namespace

Result<Bytes> answer_of_command(const std::string& command, worker::WorkerHome& home,
                                std::chrono::seconds limit, ByteView message) {
  CLBIN_TRY_ASSIGN(FileDescriptor input, filled_pipe(message));
  CLBIN_TRY_ASSIGN(Pipe output, open_pipe());
  CLBIN_TRY_ASSIGN(const pid_t process,
                   start(command, input.number(), output.to.number(), home.path()));
  (void)input.close();
  (void)output.to.close();
  auto answer = answer_of(process, output.from.number(), limit);
  if (!answer) {
    ::kill(process, SIGKILL);
    worker::end_strays(home.path().string());
  }
  const int status = worker::wait_for(process).value_or(0);
  home.stay_if_interrupted();
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::file_read, "{} was ended by signal {}", k_sign_command,
                WTERMSIG(status));
  }
  if (WEXITSTATUS(status) != 0) {
    return fail(ErrorCode::file_read, "{} failed with exit status {}", k_sign_command,
                WEXITSTATUS(status));
  }
  return answer;
}

} // namespace oclcc::trust

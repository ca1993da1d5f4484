#include "worker/forks.hpp"

#include "worker/spawn.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc::worker {

namespace {

using Step = std::function<Result<Bytes>()>;

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
  const Result<Bytes> done = step();
  const ByteView answer = done ? ByteView(*done) : base::as_bytes(done.error().message);
  const bool sent = base::write_all(answers, answer) == 0;
  ::_exit(done && sent ? 0 : 1); // not exit(): the drivers' threads do not exist here
}

// Returns the process in the parent, and 0 in the child.
Result<pid_t> fork_bound_to_parent() {
  std::fflush(stdout); // otherwise, the child prints it again
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(ErrorCode::internal, "cannot start a child process: {}", reason_of(errno));
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      ::_exit(1); // it died first
    }
  }
  return child;
}

[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    ::kill(::getpid(), WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

[[noreturn]] void build_unit(int channel, ByteView request, const WarmCopy::Build& build) {
  const Bytes reply = build(request);
  std::fflush(stdout); // it belongs to the unit
  const auto sent = send_message(channel, MessageKind::build_reply, reply, std::nullopt);
  ::_exit(sent ? 0 : 1); // not exit(): the driver's threads do not exist here
}

[[noreturn]] void serve_requests(int channel, const WarmCopy::Build& build) {
  for (;;) {
    const auto request = receive_message(channel, std::nullopt);
    if (!request) {
      ::_exit(0);
    }
    const auto child = fork_bound_to_parent();
    if (child == 0) {
      build_unit(channel, request->body, build);
    }
    if (!child) {
      BuildReply refusal;
      refusal.error = child.error().message;
      (void)send_message(channel, MessageKind::build_reply, encode(refusal), std::nullopt);
    } else if (const int status = wait_for(*child).value_or(0); status != 0) {
      end_like(status);
    }
    if (!send_message(channel, MessageKind::settled, {}, std::nullopt)) {
      ::_exit(0);
    }
  }
}

} // namespace

namespace {

// A kernel that runs out of memory must fail only its unit, not the run.
void volunteer_for_the_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
  }
}

} // namespace

void settle_worker() noexcept {
  // If the parent died before this line, the channel is closed, and the first read reports it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Programs that drivers start must not keep the channel open after this process dies.
  ::fcntl(k_worker_channel, F_SETFD, FD_CLOEXEC);
  constexpr rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  volunteer_for_the_oom_killer();
}

void end_at_once() noexcept {
  ::_exit(0);
}

std::string library_containing(const void* function) {
  Dl_info facts{};
  return ::dladdr(function, &facts) == 0 || facts.dli_fname == nullptr ? "" : facts.dli_fname;
}

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

bool has_forks() noexcept {
  return true;
}

Result<Bytes> run_in_child(const std::string& purpose, const Step& step) {
  CLBIN_TRY_ASSIGN(Channel channel, open_channel());
  CLBIN_TRY_ASSIGN(const pid_t child, fork_bound_to_parent());
  if (child == 0) {
    run_step(channel.other.number(), step);
  }
  (void)channel.other.close();
  Bytes answer = read_all(channel.own.number());
  const std::optional<int> status = wait_for(child);
  if (!status) {
    return fail(ErrorCode::internal, "cannot wait for a child process: {}", reason_of(errno));
  }
  if (WIFSIGNALED(*status)) {
    return fail(ErrorCode::internal, "the compiler crashed (signal {}) {}", WTERMSIG(*status),
                purpose);
  }
  if (WEXITSTATUS(*status) != 0) {
    return fail(ErrorCode::internal, "{}: {}", purpose,
                answer.empty() ? "the driver ended the process" : base::as_text(answer));
  }
  return answer;
}

Result<WarmCopy> WarmCopy::start(const std::function<void()>& warm_up, const Build& build) {
  CLBIN_TRY_ASSIGN(Channel channel, open_channel());
  CLBIN_TRY_ASSIGN(const pid_t child, fork_bound_to_parent());
  if (child == 0) {
    (void)channel.own.close();
    warm_up();
    serve_requests(channel.other.number(), build);
  }
  return WarmCopy(child, std::move(channel.own));
}

void WarmCopy::serve(ByteView request,
                     const std::function<void(const Message& message)>& answer) const {
  const int channel = m_channel.number();
  if (!send_message(channel, MessageKind::build_request, request, std::nullopt)) {
    end_like(wait_for(m_process).value_or(0));
  }
  for (const MessageKind expected : {MessageKind::build_reply, MessageKind::settled}) {
    const auto message = receive_message(channel, std::nullopt);
    if (!message) {
      ::shutdown(channel, SHUT_RDWR); // it may still wait for a request
      end_like(wait_for(m_process).value_or(0));
    }
    if (message->kind != expected) {
      ::_exit(0); // the driver ended the unit's process with this status
    }
    answer(*message);
  }
}

} // namespace oclcc::worker

#include "worker/worker_main.hpp"

#include "worker/message_channel.hpp"
#include "worker/worker_folder.hpp"
#include "worker/worker_protocol.hpp"
#include "worker/worker_session.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace oclcc::worker {

using clbin::base::Bytes;

namespace {

// The environment is looked at too since the current folder is going to be emptied in part.
bool is_started_by_oclcc() {
  struct stat facts {};
  const char* const folder = std::getenv("POCL_CACHE_DIR");
  return folder != nullptr && folder == std::string_view(k_pocl_folder) &&
         ::fstat(k_worker_channel, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

// A kernel that runs out of memory must cost its unit, not the run.
void volunteer_for_the_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
  }
}

void settle_process() {
  // Where the parent died before this line, the channel is closed and the first read says so.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Programs that drivers start must not hold the channel open when this process dies.
  ::fcntl(k_worker_channel, F_SETFD, FD_CLOEXEC);
  constexpr rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  volunteer_for_the_oom_killer();
}

// PoCL's cache of a program, "FK/DPCJC…". It stays for as long as the process: PoCL remembers the
// kernels it has loaded, and a binary of a program whose cache is gone lacks their code.
bool is_program_cache(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return entry.parent_path() == k_pocl_folder && name.size() == 2 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Of what earlier units left behind. The folders themselves stay, as drivers expect them to.
void empty_driver_folders() {
  std::error_code ignored;
  for (const char* folder : {k_pocl_folder, k_cache_folder, k_temporary_folder}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (!is_program_cache(entry.path())) {
        std::filesystem::remove_all(entry.path(), ignored);
      }
    }
  }
}

// While it lives, what is printed goes nowhere: the parent has taken what belongs to the unit.
class QuietOutput {
public:
  QuietOutput() noexcept {
    std::fflush(stdout);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(nowhere, standard);
    }
    ::close(nowhere);
  }
  ~QuietOutput() {
    std::fflush(stdout);
    ::dup2(m_output, STDOUT_FILENO);
    ::dup2(m_output, STDERR_FILENO);
    ::close(m_output);
  }
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;

private:
  int m_output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0); // both are one file
};

void release_quietly(WorkerSession& session) {
  const QuietOutput quiet;
  session.release_unit();
}

struct Answer {
  MessageKind kind;
  Bytes body;
};

std::optional<Answer> answer(WorkerSession& session, const Message& request,
                             const LibcReplacements& libc) {
  if (request.kind == MessageKind::enumerate_request) {
    const auto message = decode_enumerate_request(request.body);
    return message ? std::optional<Answer>(
                         {MessageKind::enumerate_reply, encode(session.enumerate(*message))})
                   : std::nullopt;
  }
  if (request.kind == MessageKind::build_request) {
    const auto message = decode_build_request(request.body);
    if (!message) {
      return std::nullopt;
    }
    empty_driver_folders();
    libc.reset_temporary_names();
    return Answer{MessageKind::build_reply, encode(session.build(*message))};
  }
  return std::nullopt;
}

} // namespace

bool run_worker(const LibcReplacements& libc) {
  if (!is_started_by_oclcc()) {
    return false;
  }
  settle_process();
  libc.sort_directories();
  WorkerSession session;
  for (;;) {
    const auto request = receive_message(k_worker_channel, std::nullopt);
    if (!request) {
      break;
    }
    const auto reply = answer(session, *request, libc);
    std::fflush(stdout); // it is the unit's
    if (!reply || !send_message(k_worker_channel, reply->kind, reply->body, std::nullopt)) {
      break;
    }
    // Nobody waits for what takes drivers long, and a crash in it costs no unit.
    if (reply->kind == MessageKind::build_reply) {
      release_quietly(session);
      if (!send_message(k_worker_channel, MessageKind::settled, {}, std::nullopt)) {
        break;
      }
    }
  }
  // Not by way of main's end: drivers' destructors have crashed and hung there.
  ::_exit(0);
}

} // namespace oclcc::worker

#include "worker/worker_main.hpp"

#include "worker/message_channel.hpp"
#include "worker/quiet_output.hpp"
#include "worker/warm_copy.hpp"
#include "worker/worker_folder.hpp"
#include "worker/worker_protocol.hpp"
#include "worker/worker_session.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace oclcc::worker {

using clbin::base::Bytes;

namespace {

// Also checks the environment, because parts of the working directory will be removed.
bool is_started_by_oclcc() {
  struct stat facts {};
  const char* const folder = std::getenv("POCL_CACHE_DIR");
  return folder != nullptr && folder == std::string_view(k_pocl_folder) &&
         ::fstat(k_worker_channel, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

// A kernel that runs out of memory must fail only its unit, not the run.
void volunteer_for_the_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
  }
}

void settle_process() {
  // If the parent died before this line, the channel is closed, and the first read reports it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Programs that drivers start must not keep the channel open after this process dies.
  ::fcntl(k_worker_channel, F_SETFD, FD_CLOEXEC);
  constexpr rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  volunteer_for_the_oom_killer();
}

// PoCL's cache of a program, "FK/DPCJC…". It exists as long as the process: PoCL remembers the
// kernels that it has loaded, and a binary of a program without its cache lacks their code.
bool is_program_cache(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return entry.parent_path() == k_pocl_folder && name.size() == 2 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

enum class ProgramCaches : std::uint8_t { keep, remove };

// Removes the files of previous units. The directories remain, because drivers expect them.
void empty_driver_folders(ProgramCaches caches) {
  std::error_code ignored;
  for (const char* folder : {k_pocl_folder, k_cache_folder, k_temporary_folder}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (caches == ProgramCaches::remove || !is_program_cache(entry.path())) {
        std::filesystem::remove_all(entry.path(), ignored);
      }
    }
  }
}

bool send(const Message& message) {
  return send_message(k_worker_channel, message.kind, message.body, std::nullopt).has_value();
}

// Answers requests. Each function returns false if the parent is gone or sent no valid request.
class Service {
public:
  explicit Service(const LibcReplacements& libc) : m_libc(libc) {}

  [[nodiscard]] bool answer(const Message& request) {
    switch (request.kind) {
    case MessageKind::enumerate_request:
      return answer_enumerate(request);
    case MessageKind::build_request:
      return answer_build(request);
    default:
      return false;
    }
  }

private:
  [[nodiscard]] bool answer_enumerate(const Message& request) {
    const auto message = decode<EnumerateRequest>(request.body);
    if (!message) {
      return false;
    }
    Bytes reply = encode(m_session.enumerate(*message));
    std::fflush(stdout);
    return send({MessageKind::enumerate_reply, std::move(reply)});
  }

  [[nodiscard]] bool answer_build(const Message& request) {
    const auto message = decode<BuildRequest>(request.body);
    if (!message) {
      return false;
    }
    // Loading a binary does not affect the bytes of a later unit.
    const bool needs_warm_copy =
        message->binary.empty() && m_session.isolation(*message) == UnitIsolation::copy;
    if (!needs_warm_copy) {
      return build_here(*message, ProgramCaches::keep);
    }
    if (message->further_units == FurtherUnits::expected) {
      return build_in_copy(request, *message);
    }
    // A copy starts from the same state, but costs some 50 ms.
    if (m_session.warm_up_for(*message) == WarmUp::source) {
      warm_up(*message);
    }
    return build_here(*message, ProgramCaches::remove);
  }

  [[nodiscard]] bool build_here(const BuildRequest& message, ProgramCaches caches) {
    Bytes reply = build(message, caches);
    std::fflush(stdout); // it is the unit's
    if (!send({MessageKind::build_reply, std::move(reply)})) {
      return false;
    }
    // The parent does not wait for slow releases, and a crash in them fails no unit.
    const QuietOutput quiet;
    m_session.release_unit();
    return send({MessageKind::settled, {}});
  }

  [[nodiscard]] bool build_in_copy(const Message& request, const BuildRequest& message) {
    const std::pair device(message.platform, message.device);
    auto copy = m_copies.find(device);
    if (copy == m_copies.end()) {
      auto started =
          WarmCopy::start([&] { warm_up(message); },
                          [this](clbin::base::ByteView bytes) {
                            const auto unit = decode<BuildRequest>(bytes);
                            return build(unit.value_or(BuildRequest()), ProgramCaches::remove);
                          });
      if (!started) {
        BuildReply refusal;
        refusal.error = started.error().message;
        return send({MessageKind::build_reply, encode(refusal)}) &&
               send({MessageKind::settled, {}});
      }
      copy = m_copies.emplace(device, std::move(*started)).first;
    }
    bool sent = true;
    copy->second.serve(request.body, [&](const Message& answer) { sent = sent && send(answer); });
    return sent;
  }

  void warm_up(const BuildRequest& message) {
    const QuietOutput quiet;
    m_libc.reset_temporary_names();
    m_session.warm_up(message);
  }

  [[nodiscard]] Bytes build(const BuildRequest& message, ProgramCaches caches) {
    empty_driver_folders(caches);
    m_libc.reset_temporary_names();
    return encode(m_session.build(message));
  }

  const LibcReplacements& m_libc;
  WorkerSession m_session;
  std::map<std::pair<std::uint32_t, std::uint32_t>, WarmCopy> m_copies; // by platform and device
};

} // namespace

bool run_worker(const LibcReplacements& libc) {
  if (!is_started_by_oclcc()) {
    return false;
  }
  settle_process();
  libc.sort_directories();
  Service service(libc);
  for (;;) {
    const auto request = receive_message(k_worker_channel, std::nullopt);
    if (!request || !service.answer(*request)) {
      break;
    }
  }
  // Does not return from main, because destructors of drivers have crashed and hung.
  ::_exit(0);
}

} // namespace oclcc::worker

#include "worker/worker_process.hpp"

#include "base/system/folder.hpp"
#include "worker/driver_rules.hpp"
#include "worker/spawn.hpp"

#include <atomic>
#include <cerrno>
#include <system_error>

namespace oclcc::worker {

using base::SocketFault;
using base::TemporaryFolder;

namespace {

constexpr std::uint64_t k_max_output_bytes = 64ULL << 10U;
// How long a worker that closed its channel may take to exit, so that its own signal is reported
// instead of ours.
constexpr std::chrono::milliseconds k_grace{3000};

// --- environment --------------------------------------------------------------------------------

// The working directory of the worker differs from that of the user who set the variable.
void make_path_absolute(std::vector<std::string>& variables, std::string_view name) {
  const std::string start = std::string(name) + "=";
  for (std::string& variable : variables) {
    if (!variable.starts_with(start)) {
      continue;
    }
    std::error_code error;
    const std::filesystem::path path = variable.substr(start.size());
    if (!path.empty() && !path.has_root_directory() && std::filesystem::exists(path, error)) {
      variable = start + std::filesystem::absolute(path, error).string();
    }
  }
}

constexpr std::string_view k_tunables = "GLIBC_TUNABLES=";

// Compilers allocate and free many small blocks, and a worker does not live long. glibc therefore
// caches all of them and returns none to the system. Measured: rusticl's builds take 0.75 of the
// time, and creating its kernels takes 0.6. The user's settings come last and therefore have
// priority.
void tune_malloc(std::vector<std::string>& variables) {
  std::string value = "glibc.malloc.tcache_count=65535:glibc.malloc.trim_threshold=1073741824:"
                      "glibc.malloc.top_pad=16777216:glibc.malloc.mmap_threshold=33554432";
  const auto users = std::ranges::find_if(
      variables, [](const std::string& variable) { return variable.starts_with(k_tunables); });
  if (users != variables.end() && users->size() > k_tunables.size()) {
    value += ":" + users->substr(k_tunables.size());
  }
  set_variable(variables, "GLIBC_TUNABLES", value);
}

std::vector<std::string> worker_environment(const WorkerSettings& settings,
                                            const std::filesystem::path& folder) {
  std::vector<std::string> variables = own_environment();
  make_path_absolute(variables, "OCL_ICD_VENDORS");
  set_variable(variables, k_home_variable, folder.parent_path().string());
  std::error_code error;
  const auto real_folder = std::filesystem::canonical(folder, error); // TMPDIR may be a link
  set_variable(variables, "PWD", error ? folder.string() : real_folder.string());
  set_temporary_folder(variables, k_temporary_folder);
  set_variable(variables, "POCL_CACHE_DIR", k_pocl_folder);
  set_variable(variables, "XDG_CACHE_HOME", k_cache_folder);
  // It prints warnings if its directory is emptied.
  set_variable(variables, "MESA_SHADER_CACHE_DISABLE", "true");
  // A build from NVIDIA's cache has no warnings in its log.
  set_variable(variables, "CUDA_CACHE_DISABLE", "1");
  tune_malloc(variables);
  if (!settings.only_driver.empty()) {
    set_variable(variables, "OCL_ICD_VENDORS", k_vendors_folder);
  }
  return variables;
}

Result<void> prepare_folder(const std::filesystem::path& folder, const WorkerSettings& settings) {
  std::error_code error;
  for (const char* constant_name :
       {k_pocl_folder, k_cache_folder, k_temporary_folder, k_vendors_folder}) {
    const auto inner = folder / std::filesystem::path(constant_name).filename();
    std::filesystem::create_directory(inner, error);
    if (error) {
      return fail(ErrorCode::file_write, "cannot create '{}': {}", inner.string(), error.message());
    }
  }
  if (settings.only_driver.empty()) {
    return {};
  }
  return base::write_output_file(folder / std::filesystem::path(k_vendors_folder).filename() /
                                     "only.icd",
                                 base::as_bytes(settings.only_driver + "\n"));
}

// --- start --------------------------------------------------------------------------------------

Result<pid_t> spawn_worker(const WorkerSettings& settings, const std::filesystem::path& folder,
                           int channel, int output) {
  Spawn spawn(DefaultSignals::all);
  spawn.open_null(base::k_standard_input);
  spawn.duplicate(output, base::k_standard_output);
  spawn.duplicate(output, base::k_standard_error);
  spawn.duplicate(channel, k_worker_channel);
  spawn.close_from(k_worker_channel + 1);
  spawn.change_folder(folder);
  spawn.lead_process_group();
  std::vector<std::string> words{"oclcc"};
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  const auto process =
      spawn.start(settings.executable, std::move(words), worker_environment(settings, folder));
  if (!process) {
    return fail(ErrorCode::internal, "cannot start a worker process ('{}'): {}",
                settings.executable.string(), reason_of(process.error()));
  }
  return *process;
}

// --- end ----------------------------------------------------------------------------------------

std::string end_text(std::optional<int> status) {
  if (!status) {
    return "stopped answering";
  }
  const ProcessEnd end = end_of(*status);
  if (end.crash.empty()) {
    return fmt::format("ended the worker process (exit status {})", end.exit_status);
  }
  return end.was_killed
             ? fmt::format("was killed ({}); the machine may be out of memory", end.crash)
             : fmt::format("crashed ({})", end.crash);
}

WorkerFailure failure_of(SocketFault fault) noexcept {
  switch (fault) {
  case SocketFault::closed:
  case SocketFault::garbage:
    return WorkerFailure::crashed;
  case SocketFault::timed_out:
    return WorkerFailure::timed_out;
  default:
    return WorkerFailure::other;
  }
}

} // namespace

struct WorkerProcess::State {
  std::shared_ptr<WorkerHome> home;
  TemporaryFolder folder;
  FileDescriptor channel;
  FileDescriptor output;
  std::optional<std::uint64_t> memory_limit_bytes{};
  std::atomic<pid_t> process = -1; // kill() reads it on other threads
  bool has_crashed = false;        // not killed by this process
  WorkerFailure failure = WorkerFailure::none;
  bool is_settled = true; // no build, or its MessageKind::settled was read

  ~State() {
    if (process > 0) {
      home->retire(process, std::move(folder));
    }
  }
  // Ends the worker and the programs that it started. Returns the wait status. Blocks forever if a
  // stop is requested.
  int end() {
    const pid_t ended = process.exchange(-1);
    if (ended <= 0) {
      return 0;
    }
    home->remove(ended);
    end_process(ended);
    end_group(ended);
    const int status = wait_for(ended).value_or(0);
    home->stay_if_interrupted();
    return status;
  }
};

WorkerProcess::WorkerProcess(std::unique_ptr<State> state) : m_state(std::move(state)) {}
WorkerProcess::~WorkerProcess() = default;
WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept = default;
WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept = default;

Result<WorkerSettings> with_home(WorkerSettings settings) {
  if (settings.home == nullptr) {
    CLBIN_TRY_ASSIGN(settings.home, WorkerHome::create(settings.stop));
  }
  return settings;
}

Result<WorkerProcess> WorkerProcess::start_in(std::shared_ptr<WorkerHome> home,
                                              const WorkerSettings& settings) {
  home->bury_retired(); // so that no more than requested run
  CLBIN_TRY_ASSIGN(TemporaryFolder folder, TemporaryFolder::create(home->path(), "worker-"));
  CLBIN_TRY(prepare_folder(folder.path(), settings));
  CLBIN_TRY_ASSIGN(FileDescriptor output, create_log(folder.path()));
  CLBIN_TRY_ASSIGN(Channel channel, open_channel());
  CLBIN_TRY_ASSIGN(const pid_t process,
                   spawn_worker(settings, folder.path(), channel.other.number(), output.number()));
  home->add(process);
  std::unique_ptr<State> state(
      new State{std::move(home), std::move(folder), std::move(channel.own), std::move(output)});
  state->process = process;
  state->memory_limit_bytes = settings.memory_limit_bytes;
  return WorkerProcess(std::move(state));
}

Result<WorkerProcess> WorkerProcess::start(const WorkerSettings& settings) {
  CLBIN_TRY_ASSIGN(const WorkerSettings own, with_home(settings));
  auto worker = start_in(own.home, own);
  own.home->stay_if_interrupted();
  return worker;
}

bool WorkerProcess::alive() const noexcept {
  return m_state->process > 0;
}

void WorkerProcess::kill() noexcept {
  m_state->home->kill(m_state->process);
}

bool WorkerProcess::settle(std::chrono::seconds timeout) {
  if (!alive() || m_state->is_settled) {
    return alive();
  }
  if (const auto deadline = wait_for_reply(timeout)) {
    const auto message = receive_message(m_state->channel.number(), *deadline);
    m_state->is_settled = message && message->kind == MessageKind::settled;
  }
  if (!m_state->is_settled) {
    m_state->end();
  }
  return alive();
}

WorkerFailure WorkerProcess::failure() const noexcept {
  return m_state->failure;
}

std::optional<std::string> WorkerProcess::fatal_kernel() const {
  return m_state->has_crashed ? read_kernel_note(m_state->folder.path()) : std::nullopt;
}

std::string WorkerProcess::take_output() {
  const int output = m_state->output.number();
  const auto status = base::status_of(output);
  if (!status || status->size_bytes == 0) {
    return {};
  }
  const std::uint64_t length = std::min(status->size_bytes, k_max_output_bytes);
  Bytes bytes(static_cast<std::size_t>(length));
  bytes.resize(base::read_at(output, status->size_bytes - length, bytes).value_or(0));
  // The worker appends, so that its next output is at the new end. If the file cannot be truncated,
  // the text is shown again, which is harmless.
  (void)base::truncate(output, 0);
  (void)base::seek(output, 0); // Windows appends at the position that both processes share
  return std::string(base::as_text(bytes));
}

// Watches the worker until it replies, or until its time is over. Returns when that is;
// std::nullopt if the worker exceeds the memory limit.
std::optional<std::chrono::steady_clock::time_point>
WorkerProcess::wait_for_reply(std::chrono::seconds timeout) const {
  constexpr std::chrono::milliseconds k_watch_period{50};
  constexpr int k_most_extensions = 9; // of the length of the timeout
  using Clock = std::chrono::steady_clock;
  const auto waited_before = time_without_processor(m_state->process);
  const Clock::time_point first_deadline = Clock::now() + timeout;
  Clock::time_point deadline = first_deadline;
  for (;;) {
    const auto next = m_state->memory_limit_bytes ? Clock::now() + k_watch_period : deadline;
    const auto ready = base::wait_to_receive(m_state->channel.number(), std::min(next, deadline));
    if (ready || ready.error() != SocketFault::timed_out) {
      return deadline;
    }
    if (m_state->memory_limit_bytes &&
        resident_bytes(m_state->process).value_or(0) > *m_state->memory_limit_bytes) {
      return std::nullopt;
    }
    if (Clock::now() >= deadline) {
      const auto waited = time_without_processor(m_state->process) - waited_before;
      const auto extension = std::chrono::duration_cast<Clock::duration>(waited);
      deadline = std::max(deadline, first_deadline + std::min<Clock::duration>(
                                                         extension, k_most_extensions * timeout));
      if (Clock::now() >= deadline) {
        return deadline;
      }
    }
  }
}

Error WorkerProcess::end_after(SocketFault fault, int system_error, std::string_view subject,
                               std::chrono::seconds timeout) {
  const bool ended_itself =
      fault == SocketFault::closed &&
      ends_before(std::chrono::steady_clock::now() + k_grace, m_state->process);
  const int status = m_state->end();
  m_state->has_crashed = ended_itself;
  m_state->failure = failure_of(fault);
  const auto reason = [&]() -> std::string {
    switch (fault) {
    case SocketFault::closed:
      return end_text(ended_itself ? std::optional(status) : std::nullopt);
    case SocketFault::timed_out:
      return fmt::format("did not finish within {} s", timeout.count());
    case SocketFault::garbage:
      return "damaged its worker process: the answer is not a message";
    case SocketFault::woken:
    case SocketFault::system:
      break;
    }
    return fmt::format("cannot be reached: {}", reason_of(system_error));
  };
  return {ErrorCode::internal, fmt::format("{} {}", subject, reason())};
}

template <typename Reply>
Result<Reply> WorkerProcess::exchange(MessageKind request_kind, ByteView request,
                                      MessageKind reply_kind, std::string_view subject,
                                      std::chrono::seconds timeout) {
  if (!settle(timeout)) {
    return fail(ErrorCode::internal, "{} has no worker process", subject);
  }
  const int channel = m_state->channel.number();
  if (const auto sent =
          send_message(channel, request_kind, request, std::chrono::steady_clock::now() + timeout);
      !sent) {
    return tl::unexpected(end_after(sent.error(), errno, subject, timeout));
  }
  const auto deadline = wait_for_reply(timeout);
  if (!deadline) {
    m_state->end();
    m_state->failure = WorkerFailure::other;
    return fail(ErrorCode::internal, "{} used more than {} MiB of memory (--memory-limit)", subject,
                *m_state->memory_limit_bytes >> 20U);
  }
  const auto message = receive_message(channel, *deadline);
  if (!message) {
    return tl::unexpected(end_after(message.error(), errno, subject, timeout));
  }
  if (message->kind != reply_kind) {
    return tl::unexpected(end_after(SocketFault::garbage, 0, subject, timeout));
  }
  m_state->is_settled = reply_kind != MessageKind::build_reply;
  auto reply = decode<Reply>(message->body);
  if (!reply) {
    m_state->end();
    m_state->failure = WorkerFailure::crashed;
    return fail(ErrorCode::internal, "{} damaged its worker process: {}", subject,
                reply.error().message);
  }
  return reply;
}

Result<EnumerateReply> WorkerProcess::enumerate(const EnumerateRequest& request,
                                                std::string_view subject,
                                                std::chrono::seconds timeout) {
  return exchange<EnumerateReply>(MessageKind::enumerate_request, encode(request),
                                  MessageKind::enumerate_reply, subject, timeout);
}

Result<BuildReply> WorkerProcess::build(const BuildRequest& request, std::string_view device_name,
                                        std::chrono::seconds timeout) {
  return exchange<BuildReply>(MessageKind::build_request, encode(request), MessageKind::build_reply,
                              fmt::format("the compiler of '{}'", device_name), timeout);
}

Result<LaunchReply> WorkerProcess::launch(const LaunchRequest& request,
                                          std::string_view device_name,
                                          std::chrono::seconds timeout) {
  return exchange<LaunchReply>(MessageKind::launch_request, encode(request),
                               MessageKind::launch_reply,
                               fmt::format("the driver of '{}'", device_name), timeout);
}

Result<WarmReply> WorkerProcess::warm(const WarmRequest& request, std::string_view device_name,
                                      std::chrono::seconds timeout) {
  return exchange<WarmReply>(MessageKind::warm_request, encode(request), MessageKind::warm_reply,
                             fmt::format("the compiler of '{}'", device_name), timeout);
}

} // namespace oclcc::worker

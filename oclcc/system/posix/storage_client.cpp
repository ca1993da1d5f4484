#include "remote/storage_client.hpp"

#include "base/text.hpp"
#include "units/recipes.hpp"
#include "worker/spawn.hpp"
#include "worker/worker_home.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace oclcc::remote {

using clbin::cache::ProcessEnvironment;
using storage_http::Operation;
using storage_http::Status;

namespace {

constexpr std::size_t k_shown_bytes = 300; // of a failure, in messages

// The helper gives up a little earlier than the client, so that its reason is known.
std::uint32_t milliseconds_of_helper(Clock::time_point deadline) {
  constexpr std::int64_t k_most = 86'400'000;
  const std::int64_t left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left - left / 10, 1, k_most));
}

Bytes frame_of(Operation kind, const base::Digest& key, ByteView entry,
               Clock::time_point deadline) {
  constexpr std::size_t k_bytes_before_entry = 4 + 4 + sizeof(key.bytes);
  base::ByteWriter frame;
  frame.write_u32(static_cast<std::uint32_t>(k_bytes_before_entry + entry.size()));
  frame.write_u8(static_cast<std::uint8_t>(kind));
  frame.write_zeros(3);
  frame.write_u32(milliseconds_of_helper(deadline));
  frame.write_bytes(key.bytes);
  frame.write_bytes(entry);
  return std::move(frame).take();
}

// file_not_found: the helper has closed the connection.
tl::unexpected<Error> transfer_error(base::SocketFault fault) {
  switch (fault) {
  case base::SocketFault::closed:
    return fail(ErrorCode::file_not_found, "its helper process closed the connection");
  case base::SocketFault::timed_out:
    return fail(ErrorCode::file_read, "no answer in time");
  case base::SocketFault::woken:
    return fail(ErrorCode::file_read, "the run ended first");
  default:
    return fail(ErrorCode::file_read, "cannot reach its helper process: {}", reason_of(errno));
  }
}

Result<void> require_own_process(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof(peer)) {
    return fail(ErrorCode::file_read, "the user of its helper process is not known");
  }
  if (peer.uid != ::geteuid()) {
    return fail(ErrorCode::file_read, "its helper process belongs to user {}", peer.uid);
  }
  return {};
}

Result<FileDescriptor> connect_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::file_read, "the name of the socket '{}' is too long", path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    return fail(ErrorCode::file_read, "cannot create a socket: {}", reason_of(errno));
  }
  // Connecting to a local socket does not block: EAGAIN means that too many connections wait.
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED;
    return fail(is_absent ? ErrorCode::file_not_found : ErrorCode::file_read,
                "cannot connect to '{}': {}", path, reason_of(errno));
  }
  return socket;
}

std::string failure_text(ByteView text) {
  const std::string_view all = base::as_text(text);
  return text.empty() ? "its helper process reports a failure without a reason"
                      : base::printable(all.substr(0, k_shown_bytes));
}

Result<StorageReply> reply_of(Operation kind, Bytes body) {
  const auto status = std::to_integer<std::uint8_t>(body.front());
  const ByteView rest = ByteView(body).subspan(1);
  const bool has_entry = kind == Operation::get && status == 0;
  if (status == static_cast<std::uint8_t>(Status::failed)) {
    return fail(ErrorCode::file_read, "{}", failure_text(rest));
  }
  if (status > static_cast<std::uint8_t>(Status::refused) || (!has_entry && !rest.empty())) {
    return fail(ErrorCode::file_read, "its helper process sent a reply that is not understood");
  }
  StorageReply reply{static_cast<Status>(status), {}};
  if (has_entry) {
    body.erase(body.begin());
    reply.entry = std::move(body);
  }
  return reply;
}

constexpr std::string_view k_socket_label = "oclcc-storage-socket-1";
constexpr std::size_t k_socket_digits = 32;
constexpr std::size_t k_max_socket_bytes = 103; // the helper appends to the name of its lock
constexpr std::size_t k_max_answer_bytes = 1024;
constexpr std::string_view k_ready = "ready\n";
// Variables that libcurl and TLS libraries read. The helper keeps those of the run that started it.
constexpr std::array<const char*, 10> k_variables{
    "HOME",        "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy",
    "HTTPS_PROXY", "all_proxy",     "ALL_PROXY",    "no_proxy",   "NO_PROXY"};

std::filesystem::path absolute_path(const std::filesystem::path& file) {
  std::error_code error; // the working directory was removed
  auto path = std::filesystem::absolute(file, error);
  return error ? file : path;
}

std::string lines_of(const RemoteSettings& settings) {
  std::string lines =
      fmt::format("url={}\nmode={}\ntimeout-ms={}\n", settings.url,
                  settings.mode == RemoteMode::read_only ? "read-only" : "read-write",
                  settings.timeout.count());
  if (!settings.token.empty()) {
    lines += fmt::format("token={}\n", settings.token);
  }
  if (settings.netrc) {
    lines += fmt::format("netrc={}\n", settings.netrc->string());
  }
  return lines;
}

std::string socket_name(const std::string& settings, const std::filesystem::path& program,
                        const ProcessEnvironment& environment) {
  base::Hasher hasher;
  hasher.add_field(k_socket_label);
  hasher.add_field(storage_http::k_greeting);
  hasher.add_field(settings);
  hasher.add_field(program.string());
  hasher.add_field(file_stamp(program));
  for (const char* const name : k_variables) {
    hasher.add_field(environment.variable(name).value_or(""));
  }
  return base::to_hex(hasher.finish()).substr(0, k_socket_digits);
}

Result<void> require_private(const std::filesystem::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    return fail(ErrorCode::file_read, "cannot use the directory '{}': {}", folder.string(),
                reason_of(errno));
  }
  constexpr mode_t k_others = 0077;
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & k_others) != 0) {
    return fail(ErrorCode::file_read,
                "'{}' is not a directory that belongs to this user and is closed to others",
                folder.string());
  }
  return {};
}

// Creates the directory unless it exists. file_not_found: it has no parent.
Result<std::filesystem::path> private_folder(std::filesystem::path folder) {
  constexpr mode_t k_private = 0700;
  if (::mkdir(folder.c_str(), k_private) != 0 && errno != EEXIST) {
    return fail(ErrorCode::file_not_found, "cannot create the directory '{}': {}", folder.string(),
                reason_of(errno));
  }
  CLBIN_TRY(require_private(folder));
  return folder;
}

// The environment of the helper, which reads the token from its input: without what marks the
// processes that end with this run.
std::vector<std::string> helper_environment() {
  std::vector<std::string> variables = worker::own_environment();
  std::erase_if(variables, [](const std::string& variable) {
    return variable.starts_with(std::string(worker::k_home_variable) + "=");
  });
  return variables;
}

// The helper outlives this run: it keeps no file of it open, and needs no directory.
Result<pid_t> spawn_helper(const std::filesystem::path& program, const std::string& socket,
                           int channel) {
  worker::Spawn spawn(worker::DefaultSignals::ignored_by_main);
  spawn.duplicate(channel, STDIN_FILENO);
  spawn.duplicate(channel, STDOUT_FILENO);
  spawn.open_null(STDERR_FILENO);
  spawn.close_from(STDERR_FILENO + 1);
  spawn.change_folder("/");
  const auto process = spawn.start(program, {program.string(), socket}, helper_environment());
  if (!process) {
    return fail(ErrorCode::file_read, "cannot start '{}': {}", program.string(),
                reason_of(process.error()));
  }
  return *process;
}

// Returns what the helper writes until it is ready, closes its output, or `deadline`.
std::string answer_of(int output, Clock::time_point deadline) {
  std::string answer;
  while (answer != k_ready && answer.size() <= k_max_answer_bytes) {
    const auto letter = base::receive_all(output, 1, deadline);
    if (!letter) {
      break;
    }
    answer += base::as_text(*letter);
  }
  return answer;
}

// Waits for the process that was started, whose child serves. Ends it at `deadline`. Returns
// whether it ended by itself.
bool reap(pid_t process, Clock::time_point deadline) {
  if (!worker::ends_before(deadline, process)) {
    ::kill(process, SIGKILL);
  }
  const auto status = worker::wait_for(process);
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
}

// While it exists, orphans of this process become children of init, as those must that outlive it.
class NoAdoption {
public:
  NoAdoption() {
    int adopts = 0;
    m_adopted = ::prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0;
    worker::adopt_strays(worker::Adoption::off);
  }
  ~NoAdoption() {
    if (m_adopted) {
      worker::adopt_strays(worker::Adoption::on);
    }
  }
  NoAdoption(NoAdoption&&) = delete; // and no copies

private:
  bool m_adopted = false;
};

} // namespace

WakeUp::WakeUp() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void WakeUp::wake() noexcept {
  (void)::eventfd_write(m_event.number(), 1); // fails only if it is readable already
}

Result<StorageClient> StorageClient::connect(const std::string& path, Clock::time_point deadline,
                                             const WakeUp& wake_up) {
  CLBIN_TRY_ASSIGN(FileDescriptor socket, connect_socket(path));
  CLBIN_TRY(require_own_process(socket.number()));
  StorageClient client(std::move(socket), wake_up);
  CLBIN_TRY_ASSIGN(const Bytes greeting, client.receive(storage_http::k_greeting.size(), deadline));
  if (base::as_text(greeting) != storage_http::k_greeting) {
    return fail(ErrorCode::file_read, "its helper process speaks another protocol");
  }
  return client;
}

Result<Bytes> StorageClient::receive(std::size_t size_bytes, Clock::time_point deadline) const {
  auto received = base::receive_all(m_socket.number(), size_bytes, deadline, m_wake_up->number());
  return received ? Result<Bytes>(*std::move(received)) : transfer_error(received.error());
}

Result<StorageReply> StorageClient::receive_reply(Operation kind,
                                                  Clock::time_point deadline) const {
  CLBIN_TRY_ASSIGN(const Bytes length, receive(sizeof(std::uint32_t), deadline));
  const auto size_bytes = base::from_little_endian<std::uint32_t>(length);
  if (size_bytes == 0 || size_bytes > storage_http::k_max_frame_bytes) {
    return fail(ErrorCode::file_read, "its helper process announced a reply of {} bytes",
                size_bytes);
  }
  auto body = receive(size_bytes, deadline);
  if (!body) {
    return fail(ErrorCode::file_read, "{}", body.error().message);
  }
  return reply_of(kind, *std::move(body));
}

Result<StorageReply> StorageClient::request(Operation kind, const base::Digest& key, ByteView entry,
                                            Clock::time_point deadline) const {
  if (entry.size() > storage_http::k_max_entry_bytes) {
    return fail(ErrorCode::limit_exceeded, "an entry of {} bytes is too long", entry.size());
  }
  if (const auto sent = base::send_all(m_socket.number(), frame_of(kind, key, entry, deadline),
                                       deadline, m_wake_up->number());
      !sent) {
    return transfer_error(sent.error());
  }
  return receive_reply(kind, deadline);
}

std::optional<std::filesystem::path> find_storage_helper(const std::filesystem::path& executable,
                                                         std::string_view path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(executable, error);
  std::vector<std::filesystem::path> folders;
  if (!error) {
    folders = {real.parent_path(), real.parent_path() / "../libexec/oclcc"};
  }
  // A program of the working directory may be anybody's.
  std::ranges::copy_if(base::paths_in(path), std::back_inserter(folders),
                       [](const std::filesystem::path& folder) { return folder.is_absolute(); });
  for (const std::filesystem::path& folder : folders) {
    if (auto file = folder / k_storage_program; worker::is_program(file)) {
      return file;
    }
  }
  return std::nullopt;
}

Result<std::filesystem::path> storage_folder(const ProcessEnvironment& environment) {
  constexpr std::string_view k_name = "oclcc-storage";
  const std::filesystem::path run = environment.variable("XDG_RUNTIME_DIR").value_or("");
  const std::filesystem::path folder = run / k_name;
  const bool fits = folder.string().size() + 1 + k_socket_digits <= k_max_socket_bytes;
  if (run.is_absolute() && fits) {
    auto found = private_folder(folder);
    if (found || found.error().code != ErrorCode::file_not_found) {
      return found;
    }
  }
  return private_folder(fmt::format("/tmp/{}-{}", k_name, ::geteuid()));
}

StorageHelper::StorageHelper(const RemoteSettings& settings, const std::filesystem::path& program,
                             const std::filesystem::path& folder,
                             const ProcessEnvironment& environment)
    : m_program(absolute_path(program)), m_settings(lines_of(settings)),
      m_socket((folder / socket_name(m_settings, m_program, environment)).string()) {}

Result<StorageClient> StorageHelper::connect(Clock::time_point deadline, const WakeUp& wake_up) {
  auto client = StorageClient::connect(m_socket, deadline, wake_up);
  if (client || client.error().code != ErrorCode::file_not_found) {
    return client;
  }
  const std::lock_guard lock(m_start);
  client =
      StorageClient::connect(m_socket, deadline, wake_up); // another thread may have started it
  if (client || client.error().code != ErrorCode::file_not_found) {
    return client;
  }
  if (!m_failure) {
    if (auto started = start(deadline); !started) {
      m_failure = std::move(started.error());
    }
  }
  if (m_failure) {
    return tl::unexpected(*m_failure);
  }
  return StorageClient::connect(m_socket, deadline, wake_up);
}

Result<void> StorageHelper::start(Clock::time_point deadline) const {
  CLBIN_TRY_ASSIGN(worker::Channel channel, worker::open_channel());
  // The helper reads its settings, and then the end.
  if (!base::send_all(channel.own.number(), base::as_bytes(m_settings), deadline)) {
    return fail(ErrorCode::file_read, "cannot write the settings of '{}'", m_program.string());
  }
  (void)::shutdown(channel.own.number(), SHUT_WR);
  const NoAdoption no_adoption;
  CLBIN_TRY_ASSIGN(const pid_t process, spawn_helper(m_program, m_socket, channel.other.number()));
  (void)channel.other.close();
  const std::string answer = answer_of(channel.own.number(), deadline);
  const bool has_succeeded = reap(process, deadline);
  if (answer == k_ready && has_succeeded) {
    return {};
  }
  const std::string line = base::printable(answer.substr(0, answer.find('\n')));
  return fail(ErrorCode::file_read, "'{}' did not start: {}", m_program.string(),
              answer == k_ready ? "it did not exit" : (line.empty() ? "it wrote nothing" : line));
}

} // namespace oclcc::remote

// oclcc-storage-http: the process that performs the HTTP requests of oclcc's remote compile cache.
#include "base/system/posix/calls.hpp"
#include "remote/storage_http/http_client.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using clbin::base::Result;

constexpr std::uint64_t k_max_settings_bytes = 64U << 10U;
constexpr std::string_view k_usage =
    "usage: oclcc-storage-http SOCKET < SETTINGS\n"
    "oclcc starts this program. Its manual page is oclcc-storage-http(1).\n";
constexpr std::string_view k_ready = "ready\n";

int exit_status(std::FILE* stream, std::string_view text, int status) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  return is_written ? status : 1;
}

// The token must not be in a core file, and a process that this one's parent misconfigured must not
// behave differently.
void secure_process() noexcept {
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  (void)::close_range(STDERR_FILENO + 1, ~0U, 0); // what the parent did not close
  sigset_t none{};
  (void)::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGHUP, SIG_IGN);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max; // two for each client with a request
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  }
}

// Leaves the session, the working directory and the standard streams of the starter.
void detach() noexcept {
  (void)::setsid();
  (void)!::chdir("/");
  const clbin::base::FileDescriptor null(clbin::base::open_retrying("/dev/null", O_RDWR));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(null.number(), stream) < 0) {
      (void)::close(stream); // the starter's end of a pipe waits for this
    }
  }
}

// Returns after everything is served, or if another process serves these settings.
Result<void> run(const char* path) {
  using namespace oclcc::storage_http;
  CLBIN_TRY_ASSIGN(const auto text, clbin::base::read_whole_file("-", k_max_settings_bytes));
  CLBIN_TRY_ASSIGN(const auto client, HttpClient::create(clbin::base::as_text(text)));
  return serve(std::filesystem::absolute(path), *client, [](Claim claim) {
    (void)exit_status(stdout, k_ready, 0); // if the starter is dead, there is nobody to inform
    if (claim == Claim::own) {
      detach();
    }
  });
}

int run_reporting_errors(const char* path) {
  try {
    const auto result = run(path);
    return result ? 0 : exit_status(stdout, result.error().message + "\n", 1);
  } catch (const std::bad_alloc&) {
    return exit_status(stdout, "out of memory\n", 1);
  } catch (const std::exception& failure) {
    return exit_status(stdout, std::string(failure.what()) + "\n", 1);
  }
}

// Prints what the server process writes until it detaches or ends.
int report_start(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  ssize_t count = 0;
  while ((count = ::read(pipe, part.data(), part.size())) > 0 || (count < 0 && errno == EINTR)) {
    text.append(part.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  if (text.empty()) {
    return exit_status(stdout, "the server process ended without a message\n", 1);
  }
  return exit_status(stdout, text, text == k_ready ? 0 : 1);
}

// Serves in a process of its own, whose standard output is a pipe to this process. The server
// itself creates the socket, because clients see the process that did (SO_PEERCRED).
int start_server(const char* path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return exit_status(stdout, "cannot create a pipe: " + clbin::base::reason_of(errno) + "\n", 1);
  }
  const clbin::base::FileDescriptor readable(ends[0]);
  clbin::base::FileDescriptor writable(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return exit_status(stdout, "cannot start a process: " + clbin::base::reason_of(errno) + "\n",
                       1);
  }
  if (child > 0) {
    (void)writable.close();
    return report_start(readable.number());
  }
  if (::dup2(writable.number(), STDOUT_FILENO) < 0) {
    return 1;
  }
  (void)writable.close();
  return run_reporting_errors(path);
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    return exit_status(stdout, "oclcc-storage-http " OCLCC_VERSION "\n", 0);
  }
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    return exit_status(stdout, k_usage, 0);
  }
  if (argc != 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
    return exit_status(stderr, k_usage, 2);
  }
  secure_process();
  return start_server(argv[1]);
}

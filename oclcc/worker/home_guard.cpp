#include "worker/home_guard.hpp"

#include "base/file_io.hpp"
#include "worker/stray_processes.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace oclcc::worker {

namespace {

namespace fs = std::filesystem;
using clbin::base::reason_of;

constexpr std::string_view k_name_start = "oclcc-workers-";
constexpr std::string_view k_name_end = "XXXXXX"; // replaced by mkdtemp
constexpr int k_first_free_file = 10;             // above all fixed numbers
constexpr int k_guard_lifeline = 3;
constexpr char k_made = '+';
constexpr char k_failed = '-';

// Returns the reply to the parent: k_made and the path, or k_failed and the reason.
std::string make_home() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return k_failed + ("no directory for temporary files: " + error.message());
  }
  std::string path = (parent / (std::string(k_name_start) + std::string(k_name_end))).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return k_failed + ("cannot create a temporary directory in '" + parent.string() +
                       "': " + reason_of(errno));
  }
  return k_made + path;
}

// Closes all files of the parent except the lifeline, which gets its fixed number.
void leave_the_parents_files(int file) {
  const int lifeline = ::fcntl(file, F_DUPFD, k_first_free_file);
  const int null = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) {
    ::dup2(null, standard);
  }
  ::dup2(lifeline, k_guard_lifeline);
  ::closefrom(k_guard_lifeline + 1);
}

void leave_the_parents_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
}

void send_answer(const std::string& answer) {
  // If the parent has died, nobody reads this, and the wait below ends at once.
  [[maybe_unused]] const ssize_t sent =
      ::send(k_guard_lifeline, answer.data(), answer.size(), MSG_NOSIGNAL);
}

struct WorkerNews {
  WorkerState state = WorkerState::started;
  pid_t worker = -1;
};

struct LeftBehind {
  std::set<pid_t> workers;
  bool may_have_strays = true;
};

LeftBehind wait_for_the_end_of_the_parent() {
  LeftBehind left;
  for (;;) {
    WorkerNews news;
    const ssize_t count = ::read(k_guard_lifeline, &news, sizeof(news));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return left;
    }
    if (count != sizeof(news)) {
      continue;
    }
    switch (news.state) {
    case WorkerState::started:
      left.workers.insert(news.worker);
      break;
    case WorkerState::ended:
      left.workers.erase(news.worker);
      break;
    case WorkerState::all_ended:
      left.may_have_strays = false;
      break;
    }
  }
}

[[noreturn]] void guard(int lifeline) {
  leave_the_parents_signals();
  leave_the_parents_files(lifeline);
  ::prctl(PR_SET_NAME, "oclcc-guard");
  const std::string answer = make_home();
  if (answer.front() == k_failed) {
    send_answer(answer);
    ::_exit(0);
  }
  const std::string folder = answer.substr(1);
  [[maybe_unused]] const int held = hold_home(folder); // until this process exits
  send_answer(answer);
  sweep_abandoned_homes(fs::path(folder).parent_path().string());
  const LeftBehind left = wait_for_the_end_of_the_parent();
  for (const pid_t worker : left.workers) {
    ::kill(-worker, SIGKILL);
  }
  if (left.may_have_strays) {
    end_strays(folder);
  }
  remove_home(folder);
  ::_exit(0);
}

// Returns an empty string if the guard has died.
std::string receive_answer(int lifeline) {
  std::array<char, 8192> text{};
  ssize_t count = 0;
  do {
    count = ::recv(lifeline, text.data(), text.size(), 0);
  } while (count < 0 && errno == EINTR);
  return {text.data(), static_cast<std::size_t>(count < 0 ? 0 : count)};
}

bool is_abandoned(const fs::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) ||
      facts.st_uid != ::geteuid()) {
    return false;
  }
  constexpr std::chrono::minutes k_least_age{1};
  const auto changed = std::chrono::system_clock::from_time_t(facts.st_mtime);
  if (std::chrono::system_clock::now() - changed < k_least_age) {
    return false;
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool is_free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return is_free;
}

} // namespace

void tell_guard(int lifeline, WorkerState state, pid_t worker) noexcept {
  const WorkerNews news{state, worker};
  // A guard that was killed cannot clean up.
  [[maybe_unused]] const ssize_t sent = ::send(lifeline, &news, sizeof(news), MSG_NOSIGNAL);
}

int hold_home(const std::string& folder) noexcept {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0) {
    // A shared lock, which oclcc and its guard both have. On a file system without locks, nothing
    // is swept.
    (void)::flock(file, LOCK_SH | LOCK_NB);
  }
  return file;
}

void remove_home(const std::string& folder) noexcept {
  constexpr int k_attempts = 500;
  constexpr std::chrono::milliseconds k_pause{10};
  std::error_code error;
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    fs::remove_all(folder, error);
    if (!error && !fs::exists(folder, error)) {
      return;
    }
    std::this_thread::sleep_for(k_pause);
  }
}

void sweep_abandoned_homes(const std::string& parent_folder) noexcept {
  std::error_code error;
  for (fs::directory_iterator entry(parent_folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(k_name_start) && name.size() == k_name_start.size() + k_name_end.size() &&
        is_abandoned(entry->path())) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
    }
  }
}

HomeGuard start_home_guard() {
  HomeGuard started;
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    started.error = "cannot open a channel: " + reason_of(errno);
    return started;
  }
  started.process = ::fork();
  if (started.process == 0) {
    guard(ends[1]);
  }
  const int fork_error = errno;
  ::close(ends[1]);
  // Not a number of a standard stream, even if oclcc was started without them.
  started.lifeline = ::fcntl(ends[0], F_DUPFD_CLOEXEC, k_first_free_file);
  ::close(ends[0]);
  if (started.process < 0) {
    started.error = "cannot start a process: " + reason_of(fork_error);
    return started;
  }
  const std::string answer = receive_answer(started.lifeline);
  if (answer.empty()) {
    started.error = "the process that removes temporary directories was lost";
  } else {
    (answer.front() == k_made ? started.folder : started.error) = answer.substr(1);
  }
  return started;
}

} // namespace oclcc::worker

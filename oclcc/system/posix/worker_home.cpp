#include "worker/worker_home.hpp"

#include "base/text.hpp"
#include "worker/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <set>
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

std::string environment_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `entry` is "NAME=VALUE".
bool has_entry(const std::string& environment, const std::string& entry) {
  return ('\0' + environment + '\0').find('\0' + entry + '\0') != std::string::npos;
}

// Returns the number of found processes.
std::size_t kill_strays(const std::string& entry) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator place("/proc", error); !error && place != fs::directory_iterator();
       place.increment(error)) {
    const pid_t process = base::parse_number<pid_t>(place->path().filename().string()).value_or(0);
    if (process > 1 && process != ::getpid() && has_entry(environment_of(process), entry)) {
      ++count;
      ::kill(process, SIGKILL);
    }
  }
  return count;
}

bool is_only_child(const fs::path& task, pid_t known) {
  std::ifstream file(task / "children");
  return file && std::all_of(std::istream_iterator<pid_t>(file), {},
                             [&](pid_t child) { return child == known; });
}

// Whether this process has no child other than `known`: then its workers left no orphan. False if
// the system does not list children.
bool has_no_child_but(pid_t known) noexcept {
  try {
    std::error_code error;
    for (fs::directory_iterator task("/proc/self/task", error);
         !error && task != fs::directory_iterator(); task.increment(error)) {
      if (!is_only_child(task->path(), known)) {
        return false;
      }
    }
    return !error;
  } catch (const std::exception&) { // no memory
    return false;
  }
}

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

void send_answer(const std::string& answer) {
  // If the parent has died, nobody reads this, and the wait below ends at once.
  [[maybe_unused]] const ssize_t sent =
      ::send(k_guard_lifeline, answer.data(), answer.size(), MSG_NOSIGNAL);
}

// A worker ends with its parent (Linux's parent-death signal), but programs that its driver started
// do not. The guard ends the process group of the worker, and processes that left it (end_strays).
// After k_all_ended, it does neither. The parent sends the process id of a worker that has started,
// and its negative when it has ended.
constexpr pid_t k_all_ended = 0;

struct LeftBehind {
  std::set<pid_t> workers;
  bool may_have_strays = true;
};

LeftBehind wait_for_the_end_of_the_parent() {
  LeftBehind left;
  for (;;) {
    pid_t news = 0;
    const ssize_t count = ::read(k_guard_lifeline, &news, sizeof(news));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return left;
    }
    if (count != sizeof(news)) {
      continue;
    }
    if (news > 0) {
      left.workers.insert(news);
    } else if (news == k_all_ended) {
      left.may_have_strays = false;
    } else {
      left.workers.erase(-news);
    }
  }
}

// Removes the directory and its contents, while ending processes may still write to it.
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

// Sockets that keep the borders of messages.
Result<Channel> open_packet_channel() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::internal, "cannot open a channel to a process: {}", reason_of(errno));
  }
  FileDescriptor own(ends[0]);
  FileDescriptor other(ends[1]);
  CLBIN_TRY_ASSIGN(own, move_out_of_the_way(std::move(own)));
  CLBIN_TRY_ASSIGN(other, move_out_of_the_way(std::move(other)));
  return Channel{std::move(own), std::move(other)};
}

[[noreturn]] void guard(int lifeline) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
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
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return file.is_open() && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

} // namespace

void adopt_strays(Adoption adoption) noexcept {
  ::prctl(PR_SET_CHILD_SUBREAPER, adoption == Adoption::on ? 1 : 0);
}

void end_strays(const std::string& home) noexcept {
  // A process may start another one while /proc is read, and has no environment during exec:
  // requires two empty scans in a row.
  constexpr int k_quiet_looks = 2;
  constexpr int k_most_looks = 1000;
  constexpr std::chrono::milliseconds k_pause{5};
  try {
    const std::string entry = k_home_variable + ("=" + home);
    int quiet = 0;
    for (int look = 0; look < k_most_looks && quiet < k_quiet_looks; ++look) {
      quiet = kill_strays(entry) == 0 ? quiet + 1 : 0;
      std::this_thread::sleep_for(k_pause);
    }
  } catch (const std::exception&) { // no memory: nothing more can be done
    return;
  }
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

Result<void> WorkerHome::start_guard() {
  CLBIN_TRY_ASSIGN(Channel channel, open_packet_channel());
  m_guard = ::fork();
  if (m_guard == 0) {
    guard(channel.other.number());
  }
  if (m_guard < 0) {
    return fail(ErrorCode::internal, "cannot start a process: {}", reason_of(errno));
  }
  (void)channel.other.close();
  m_lifeline = std::move(channel.own);
  const std::string answer = receive_answer(m_lifeline.number());
  if (answer.empty()) {
    return fail(ErrorCode::file_write, "the process that removes temporary directories was lost");
  }
  if (answer.front() == k_failed) {
    return fail(ErrorCode::file_write, "{}", answer.substr(1));
  }
  m_path = answer.substr(1);
  return {};
}

Result<std::shared_ptr<WorkerHome>> WorkerHome::create(std::stop_token stop) {
  std::shared_ptr<WorkerHome> home(new WorkerHome);
  CLBIN_TRY(home->start_guard());
  home->m_hold = FileDescriptor(hold_home(home->path().string()));
  adopt_strays(Adoption::on);
  home->m_on_stop.emplace(std::move(stop), [raw = home.get()] { raw->interrupt(); });
  return home;
}

WorkerHome::~WorkerHome() {
  m_on_stop.reset(); // waits for a running callback
  bury_retired();
  if (m_workers.empty() && has_no_child_but(m_guard)) {
    tell_guard(k_all_ended);
  }
  release();
  adopt_strays(Adoption::off);
}

void WorkerHome::release() noexcept {
  if (std::exchange(m_is_released, true)) {
    return;
  }
  (void)m_lifeline.close();
  if (m_guard > 0) {
    (void)wait_for(m_guard);
  }
  std::error_code ignored;
  if (!m_path.empty() && fs::exists(m_path, ignored)) {
    remove_home(m_path.string()); // the guard was killed
  }
  (void)m_hold.close();
}

void WorkerHome::tell_guard(pid_t news) const noexcept {
  if (!m_is_interrupted) { // otherwise, the lifeline is closed
    // A guard that was killed cannot clean up.
    (void)!::send(m_lifeline.number(), &news, sizeof(news), MSG_NOSIGNAL);
  }
}

} // namespace oclcc::worker

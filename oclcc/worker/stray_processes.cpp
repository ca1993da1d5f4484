#include "worker/stray_processes.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace oclcc::worker {

namespace {

namespace fs = std::filesystem;

// Returns the number of a /proc directory by its name, or 0.
pid_t process_number(const fs::path& folder) {
  const std::string name = folder.filename().string();
  pid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

std::string environment_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `entry` is "NAME=VALUE".
bool has_entry(std::string_view environment, std::string_view entry) {
  while (!environment.empty()) {
    const std::size_t end = std::min(environment.find('\0'), environment.size());
    if (environment.substr(0, end) == entry) {
      return true;
    }
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return false;
}

// Returns the number of found processes.
std::size_t kill_strays(const std::string& entry) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator place("/proc", error); !error && place != fs::directory_iterator();
       place.increment(error)) {
    const pid_t process = process_number(place->path());
    if (process > 1 && process != ::getpid() && has_entry(environment_of(process), entry)) {
      ++count;
      ::kill(process, SIGKILL);
    }
  }
  return count;
}

bool is_only_child(const fs::path& task, pid_t known) {
  std::ifstream file(task / "children");
  if (!file) {
    return false;
  }
  for (pid_t child = 0; file >> child;) {
    if (child != known) {
      return false;
    }
  }
  return true;
}

} // namespace

void adopt_strays(Adoption adoption) noexcept {
  ::prctl(PR_SET_CHILD_SUBREAPER, adoption == Adoption::on ? 1 : 0);
}

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

} // namespace oclcc::worker

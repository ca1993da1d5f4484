#include "worker/memory_watch.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>

namespace oclcc::worker {

namespace {

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The second version's file, seen from inside the group; "max" where there is no limit.
std::optional<std::uint64_t> control_group_limit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::uint64_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

} // namespace

std::optional<std::uint64_t> resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  return file >> all >> resident ? std::optional(resident * page_bytes()) : std::nullopt;
}

std::optional<std::uint64_t> default_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) {
    return std::nullopt;
  }
  const std::uint64_t machine = static_cast<std::uint64_t>(pages) * page_bytes();
  return std::min(machine, control_group_limit().value_or(machine)) / 4 * 3;
}

} // namespace oclcc::worker

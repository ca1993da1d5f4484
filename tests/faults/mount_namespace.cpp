#include "faults/mount_namespace.hpp"

#include "base/file_io.hpp"
#include "support/child_process.hpp"

#include <cerrno>
#include <fmt/core.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <system_error>
#include <unistd.h>

namespace clbin::test {

namespace {

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

// Returns 0 or an errno.
int try_enter() {
  const auto user = getuid();
  const auto group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return errno;
  }
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) ||
      !write_file("/proc/self/gid_map", fmt::format("0 {} 1", group))) {
    return EPERM;
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
}

// Returns 0 or an errno.
int try_mount_small(const std::filesystem::path& folder, std::size_t size_bytes) {
  const std::string options = fmt::format("size={},mode=0700", size_bytes);
  return mount("none", folder.c_str(), "tmpfs", 0, options.c_str()) == 0 ? 0 : errno;
}

} // namespace

std::string why_no_mounts() {
  const auto folder = base::TemporaryFolder::create({}, "clbin-mount-").value();
  const ChildEnd end = run_in_child([&] {
    const int error_number = try_enter();
    return error_number != 0 ? error_number : try_mount_small(folder.path(), 4096);
  });
  if (end.exit_code == 0) {
    return {};
  }
  return fmt::format("file systems cannot be mounted here (unshare, mount): {}",
                     std::generic_category().message(end.exit_code.value_or(EPERM)));
}

void enter_mount_namespace() {
  EXPECT_EQ(try_enter(), 0);
}

void mount_read_only(const std::filesystem::path& folder) {
  EXPECT_EQ(mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr), 0);
  EXPECT_EQ(mount("none", folder.c_str(), nullptr,
                  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr),
            0)
      << std::generic_category().message(errno);
}

void mount_small(const std::filesystem::path& folder, std::size_t size_bytes) {
  EXPECT_EQ(try_mount_small(folder, size_bytes), 0);
}

} // namespace clbin::test

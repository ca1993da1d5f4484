// Starts of the host program (host_program.cpp) on one platform at a time, under the fault layer,
// and what each told. The test process itself meets no driver, so a fault ends a child at most.
#pragma once

#include "support/child_process.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clbin::test {

enum class BundleKind {
  both,
  entries,
  source,
  two_drivers, // both; its entries are there a second time, for the driver version "lifted 1.0"
};

// A platform of this machine that has a device.
struct HostPlatform {
  std::string name;             // of its first device: "PLATFORM / DEVICE"
  std::filesystem::path vendor; // for OCL_ICD_VENDORS: its .icd file
  std::size_t device_count = 0;

  // Made by its own drivers when first asked for.
  [[nodiscard]] std::filesystem::path bundle(BundleKind kind) const;
  // PoCL keeps builds by itself, so that libclbin's user cache leaves it alone
  // (doc/decisions/keeping_builds.md).
  [[nodiscard]] bool has_own_cache() const;
  // Whether its binaries fit a device of equal identity only (libclbin(3), "Loading").
  [[nodiscard]] bool needs_equal_identity() const;
};

// Those that OCL_ICD_VENDORS shows, found once for each value of POCL_DEVICES; empty where there is
// none.
[[nodiscard]] const std::vector<HostPlatform>& host_platforms();

struct AttemptTold {
  int decision = 0; // the numbers of clbin.h
  int origin = 0;
  std::string rule;
  std::string stage;
  int cl_code = 0;
  std::string target;
  std::string reason;
};

struct LoadTold {
  std::vector<AttemptTold> attempts;
  std::vector<std::string> warnings;
  std::string outcome; // "entry", "user cache", "il", "source"; "CLBIN_ERROR_…"; empty: never told
  std::string message;               // of an error
  std::vector<std::string> computed; // "42 63", one a device

  // "refused exact identity: clBuildProgram -11", one an attempt.
  [[nodiscard]] std::vector<std::string> path() const;
};

struct HostRun {
  ChildEnd end;
  std::vector<LoadTold> loads;
  std::string output; // all of it, for messages

  // How the last load ended: "entry 42 63", "CLBIN_ERROR_NO_SOURCE", "SIGSEGV".
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] const LoadTold& last() const;
};

struct HostStart {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  // Runs in the child before the program: mounts, limits. Nothing but system calls.
  std::function<void()> prepare;
  int days_later = 0; // than it really is, for the program
  // Kills the program with SIGKILL once the fault layer's log has a line that holds this.
  std::string kill_at;
};

// One that the caller kills; what it tells is not kept.
[[nodiscard]] std::unique_ptr<ChildProcess> start_host(const HostPlatform& platform,
                                                       const std::filesystem::path& bundle,
                                                       const HostStart& start);
// Until the fault layer's log has a line that holds `part`, or the program has ended.
void wait_for_fault(ChildProcess& child, const std::string& part);

// Any other program; its output is printed where it fails.
[[nodiscard]] ChildEnd run_program(const std::string& program,
                                   const std::vector<std::string>& arguments,
                                   const std::map<std::string, std::string>& environment);

// So many at the same time. The fault layer's rules are those of set_faults.
[[nodiscard]] std::vector<HostRun> run_hosts(const HostPlatform& platform,
                                             const std::filesystem::path& bundle,
                                             const HostStart& start, std::size_t count);
[[nodiscard]] HostRun run_host(const HostPlatform& platform, const std::filesystem::path& bundle,
                               const HostStart& start);

} // namespace clbin::test

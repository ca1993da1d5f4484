// Starts the host program (host_program.cpp) on one platform at a time, under the fault layer, and
// parses its output. The test process itself starts no driver, so a fault ends at most a child.
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
  two_drivers, // both, and each entry a second time, for the driver version "lifted 1.0"
};

// A platform of this machine that has a device.
struct HostPlatform {
  std::string name;             // of its first device: "PLATFORM / DEVICE / VERSION"
  std::filesystem::path vendor; // for OCL_ICD_VENDORS: its .icd file
  std::size_t device_count = 0;

  // Created with the platform's own drivers on the first call.
  [[nodiscard]] std::filesystem::path bundle(BundleKind kind) const;
  // PoCL caches builds itself, so libclbin does not use its user cache there
  // (doc/decisions/keeping_builds.md).
  [[nodiscard]] bool has_own_cache() const;
  // Mesa 22's rusticl ends the process over bytes that are not a binary of its own
  // (doc/drivers.md); later ones refuse them.
  [[nodiscard]] bool is_rusticl_22() const;
  // Returns whether its binaries fit only devices of equal identity (libclbin(3), "Loading").
  [[nodiscard]] bool needs_equal_identity() const;
};

// Returns the platforms that OCL_ICD_VENDORS shows, determined once for each value of POCL_DEVICES.
// Empty if there is none.
[[nodiscard]] const std::vector<HostPlatform>& host_platforms();
// Returns the one of them that uses the user cache and starts in the shortest time, for faults that
// no driver sees. nullptr if there is none.
[[nodiscard]] const HostPlatform* fastest_cached_platform();

struct AttemptTold {
  int decision = 0; // as numbered in clbin.h
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
  std::string outcome; // "entry", "user cache", "il", "source"; "CLBIN_ERROR_…"; empty: not printed
  std::string message;               // of an error
  std::vector<std::string> computed; // "42 63", one per device

  // Returns "refused exact identity: clBuildProgram -11", one text per attempt.
  [[nodiscard]] std::vector<std::string> path() const;
};

struct HostRun {
  ChildEnd end;
  std::vector<LoadTold> loads;
  std::string output; // complete, for messages

  // Returns the result of the last load: "entry 42 63", "CLBIN_ERROR_NO_SOURCE", "SIGSEGV".
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] const LoadTold& last() const;
};

// How the program gets its kernels. `bundle` of a start is the source for `build` and `layer`.
enum class HostWay {
  load,  // clbin_load
  build, // clbin_build
  layer, // clBuildProgram, under libclbin_layer.so; its log becomes the outcome of the load
};

struct HostStart {
  HostWay way = HostWay::load;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  // Runs in the child before the program, for mounts and limits. May only make system calls.
  std::function<void()> prepare;
  int days_later = 0; // shifts the program's clock
  // Kills the program with SIGKILL when a line of the fault layer's log contains this text.
  std::string kill_at;
};

// Starts a program that the caller kills. Its output is discarded.
[[nodiscard]] std::unique_ptr<ChildProcess> start_host(const HostPlatform& platform,
                                                       const std::filesystem::path& bundle,
                                                       const HostStart& start);
// Waits until a line of the fault layer's log contains `part`, or the program has ended.
void wait_for_fault(ChildProcess& child, const std::string& part);

// Runs any other program, and prints its output if it fails.
[[nodiscard]] ChildEnd run_program(const std::string& program,
                                   const std::vector<std::string>& arguments,
                                   const std::map<std::string, std::string>& environment);

// Starts this many at the same time, with the fault layer's rules of set_faults.
[[nodiscard]] std::vector<HostRun> run_hosts(const HostPlatform& platform,
                                             const std::filesystem::path& bundle,
                                             const HostStart& start, std::size_t count);
[[nodiscard]] HostRun run_host(const HostPlatform& platform, const std::filesystem::path& bundle,
                               const HostStart& start);

} // namespace clbin::test

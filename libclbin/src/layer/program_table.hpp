// Which programs and kernels the application holds, what the layer built for them, and when they
// end. Counts references as the application sees them; calls no driver.
#pragma once

#include "loader/run_time_program.hpp"

#include <set>
#include <shared_mutex>

namespace clbin::layer {

// What a build is made with.
struct BuildArguments {
  std::vector<cl_device_id> devices;
  std::string options;                        // as the application passed them
  std::map<cl_uint, base::Bytes> constants{}; // at the time of the build
};

// The result of a build that the driver did not make on the application's program: a program made
// from a binary, or a refusal of mode `strict`. Immutable; the last owner releases the program.
class Substitute {
public:
  Substitute() = default;
  // `key` is ServedBuild::key(); empty if no build for another device can follow.
  Substitute(loader::ServedProgram served, BuildArguments arguments, std::string key = {})
      : m_served(std::move(served)), m_arguments(std::move(arguments)), m_key(std::move(key)) {}
  [[nodiscard]] static std::shared_ptr<const Substitute> refusal(BuildArguments arguments,
                                                                 std::string log);

  // Null for a refusal.
  [[nodiscard]] cl_program program() const noexcept { return m_served.program.get(); }
  [[nodiscard]] const std::vector<cl_device_id>& devices() const { return m_arguments.devices; }
  [[nodiscard]] const std::string& options() const noexcept { return m_arguments.options; }
  [[nodiscard]] const std::string& key() const noexcept { return m_key; }
  // The build log for one of the devices. Thread-safe.
  [[nodiscard]] const std::string& log(cl_device_id device) const;
  // What is known of a kernel; null if nothing is. Thread-safe.
  [[nodiscard]] const format::KernelReflection* kernel(const std::string& name) const;

private:
  [[nodiscard]] const std::vector<loader::ProgramDetails>& details() const;

  loader::ServedProgram m_served;
  BuildArguments m_arguments;
  std::string m_key;
  mutable std::once_flag m_once;                         // for m_details
  mutable std::vector<loader::ProgramDetails> m_details; // one a device
};

// What identifies the recorded launches of a kernel.
struct RecordedNames {
  std::string program;
  std::string variant;
  std::string options; // of the variant
};

// A build by PoCL that is stored after the first launches: its binary contains code only for the
// work-group sizes that were launched until then.
struct PendingKeep {
  BuildArguments arguments;
  std::string key{}; // ServedBuild::key() at the time of the build
  // Whether it is also stored while the application runs, each time that it has waited for new
  // launches: it may keep the program until it ends.
  bool is_early = false;
  std::set<std::string> launches{}; // kernels and local sizes, distinct
  unsigned repeated = 0;            // launches since the last new one
  std::size_t stored = 0;           // of `launches`, when the binary was stored last
  bool is_being_stored = false;     // by a thread that calls end_early_keep()
};

// A program of the application: its source or IL, and what was built of it last.
struct TrackedProgram {
  cl_program handle = nullptr;
  cl_context context = nullptr;
  std::string text; // the strings of clCreateProgramWithSource, joined
  base::Bytes il;   // of clCreateProgramWithIL; empty: a program of source

  // Guarded by the table.
  std::map<cl_uint, base::Bytes> constants{};
  std::string label{}; // set before the first build
  std::shared_ptr<const Substitute> substitute{};
  std::optional<std::string> own_options{}; // passed by the application, if a rule changed them
  std::shared_ptr<const RecordedNames> recorded{};
  std::shared_ptr<PendingKeep> pending{};
  cl_uint references = 1; // of the application
  cl_uint kernels = 0;    // alive, made by the driver from `handle`
  cl_uint substitute_kernels = 0;
  cl_uint builds = 0; // in progress
  cl_uint holds = 0;  // references of the layer to `handle`: one a build, one for the substitute
};

struct TrackedKernel {
  std::shared_ptr<TrackedProgram> program;
  std::shared_ptr<const Substitute> substitute; // null: made from the application's program
  std::shared_ptr<const RecordedNames> recorded;
  std::string name;
  cl_uint references = 1;
};

// A program whose binary is to be stored now, or that has a new launch and is stored early.
struct DueKeep {
  std::shared_ptr<TrackedProgram> program; // null: none
  std::shared_ptr<PendingKeep> pending;
  std::size_t launches = 0; // that the binary contains
  loader::KeepTime time = loader::KeepTime::after_launches;
};

// What the caller releases, without a lock, after an object has left the table.
struct Ended {
  cl_program held = nullptr; // to be released `holds` times
  cl_uint holds = 0;
  std::shared_ptr<const Substitute> substitute{};        // of the program
  std::shared_ptr<const Substitute> kernel_substitute{}; // of the kernel
  DueKeep due{};                                         // before the driver releases anything
};

// What the counts of a program say about a build.
enum class BuildTurn : std::uint8_t { free, has_kernels, has_substitute_kernels };

// A consistent copy of what the answers about a program depend on.
struct ProgramView {
  std::shared_ptr<TrackedProgram> program; // null: not known
  std::shared_ptr<const Substitute> substitute;
  std::optional<std::string> own_options;
  cl_uint holds = 0;

  // Returns whether the program stands behind the application's.
  [[nodiscard]] bool has_program() const noexcept {
    return substitute != nullptr && substitute->program() != nullptr;
  }
  // Returns the program that was built for `handle`, which is the one of this view.
  [[nodiscard]] cl_program built(cl_program handle) const noexcept {
    return has_program() ? substitute->program() : handle;
  }
};

// Thread-safe.
class ProgramTable {
public:
  void add(TrackedProgram program);
  [[nodiscard]] ProgramView find(cl_program handle) const;
  // Calls `change` with the program, if it is known, while no other thread uses the table.
  void change(cl_program handle, const std::function<void(TrackedProgram&)>& change);
  // Call it before the driver's clReleaseProgram, because the driver may use the address again.
  // std::nullopt if the application has no reference left.
  [[nodiscard]] std::optional<Ended> release(cl_program handle);
  // Forgets a program that was not built: the layer then passes on every call for it. Does nothing
  // to a program that the layer has a reference to.
  void forget(cl_program handle);

  [[nodiscard]] std::map<cl_uint, base::Bytes>
  constants(const std::shared_ptr<TrackedProgram>& program) const;
  [[nodiscard]] BuildTurn build_turn(cl_program handle) const;
  // Keeps the program in the table during a build. The caller calls clRetainProgram before.
  void begin_build(const std::shared_ptr<TrackedProgram>& program);
  // Keeps that reference if the program has a substitute, and returns it otherwise.
  [[nodiscard]] Ended end_build(const std::shared_ptr<TrackedProgram>& program);
  // Records the result of a build: `substitute` is null if the driver built `handle` itself.
  // Returns what it replaces. `own_options` if they differ from those of the driver.
  [[nodiscard]] std::shared_ptr<const Substitute>
  set_build(const std::shared_ptr<TrackedProgram>& program,
            std::shared_ptr<const Substitute> substitute, std::optional<std::string> own_options);

  [[nodiscard]] bool awaits_launches(cl_kernel kernel) const;
  void note_launch(cl_kernel kernel, const std::string& launch);
  // Returns whether the launches of the kernel's program only repeat themselves by now. After that,
  // not before as many more have done so.
  [[nodiscard]] bool only_repeats(cl_kernel kernel);
  // Ends the watch over launches of the kernel's program. Returns it, unless everything is stored.
  [[nodiscard]] DueKeep take_pending(cl_kernel kernel);

  // Does not block.
  [[nodiscard]] bool has_new_launches() const noexcept { return m_has_new_launches.load(); }
  [[nodiscard]] std::vector<DueKeep> take_new_launches();
  // Returns the program of the launch if its binary is to be stored early, which nobody does now.
  // The number of stored launches grows by a quarter each time. Then call end_early_keep().
  [[nodiscard]] DueKeep begin_early_keep(const DueKeep& launch);
  void end_early_keep(const DueKeep& due);

  // `substitute` is null for a kernel that the driver made from the application's program.
  void add_kernel(cl_kernel kernel, const std::shared_ptr<TrackedProgram>& program,
                  std::shared_ptr<const Substitute> substitute, std::string name);
  [[nodiscard]] std::optional<TrackedKernel> find_kernel(cl_kernel kernel) const;
  void retain_kernel(cl_kernel kernel);
  // Call it before the driver's clReleaseKernel.
  [[nodiscard]] Ended release_kernel(cl_kernel kernel);

private:
  [[nodiscard]] Ended end_if_unused(const std::shared_ptr<TrackedProgram>& program);

  mutable std::shared_mutex m_mutex;
  std::unordered_map<cl_program, std::shared_ptr<TrackedProgram>> m_programs;
  std::unordered_map<cl_kernel, TrackedKernel> m_kernels;
  std::vector<DueKeep> m_new_launches;
  std::atomic<bool> m_has_new_launches{false};
};

} // namespace clbin::layer

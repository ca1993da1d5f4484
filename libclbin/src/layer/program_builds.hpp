// What clBuildProgram does: a binary of a bundle or the user cache, or else the driver's own build.
#pragma once

#include "layer/queries.hpp"
#include "layer/recorder.hpp"
#include "layer/running_launches.hpp"
#include "opencl/process_end.hpp"

namespace clbin::layer {

// What all builds share. Thread-safe.
struct BuildServices {
  // Opens the bundles of the settings. A problem with one is reported.
  BuildServices(const cl_icd_dispatch& next, const LayerSettings& settings, const LayerLog& log,
                const cache::CacheSettings& cache);

  opencl::Driver driver;
  const LayerSettings& settings;
  const LayerLog& log;
  loader::BuilderState builder;
};

// One build. Used by one thread; borrows the program and the services.
class ServedBuild {
public:
  // opencl_call, invalid_argument: nothing can be said about the program.
  [[nodiscard]] static base::Result<std::unique_ptr<ServedBuild>>
  prepare(BuildServices& services, const TrackedProgram& program, BuildArguments arguments);

  [[nodiscard]] const BuildArguments& arguments() const noexcept { return m_arguments; }
  // After the rules of the configuration.
  [[nodiscard]] const std::string& options() const noexcept { return m_options; }
  [[nodiscard]] bool has_changed_options() const { return m_options != m_arguments.options; }
  // "program 0123… (kernel 'add') with options '-DX=1' for 'DEVICE'"
  [[nodiscard]] std::string description() const;
  // Of the program and its options. Differs if a header has changed.
  [[nodiscard]] std::string key() const;
  // Why the program was not served.
  [[nodiscard]] std::string why_not() const;

  // std::nullopt: the driver accepts no binary.
  [[nodiscard]] std::optional<loader::ServedProgram> serve() { return m_program->serve(); }
  // "served from a bundle", "built from the IL of a bundle" or "served from the user cache", after
  // serve().
  [[nodiscard]] std::string_view outcome() const noexcept;
  // Stores the binaries of a program that the driver has built with options(), before it returns.
  void keep(cl_program program, loader::KeepTime time);
  // As keep(), of a program that the driver builds from the same source for that. The context must
  // exist; the application's program need not.
  void keep_copy(loader::KeepTime time);
  [[nodiscard]] bool is_on_pocl() const { return m_program->is_on_pocl(); }
  // What mode `record` writes about such a program. std::nullopt: it cannot be identified.
  [[nodiscard]] std::optional<RecordedBuild> recorded_build(cl_program program) const;

private:
  ServedBuild(BuildServices& services, const TrackedProgram& program, BuildArguments arguments)
      : m_services(services), m_tracked(program), m_arguments(std::move(arguments)) {}
  [[nodiscard]] base::Result<void> begin(const std::string& options);
  [[nodiscard]] loader::RunTimeRequest request() const;
  void finish_keeping();
  void add_recorded_entry(RecordedBuild& build, cl_program program, cl_device_id device) const;

  BuildServices& m_services;
  const TrackedProgram& m_tracked;
  BuildArguments m_arguments;
  std::string m_options;
  loader::LoadReport m_report;
  std::unique_ptr<loader::RunTimeProgram> m_program;
};

// " (kernel 'add')", by which a person recognizes a program in the log: the first kernel that the
// source declares, or the first one of the IL. Empty if none is found. " (label 'matmul')" if mode
// `record` was told a label.
[[nodiscard]] std::string kernel_in_parentheses(const TrackedProgram& program);

using ProgramCallback = void(CL_CALLBACK*)(cl_program, void*);

// The arguments of clBuildProgram.
struct BuildCall {
  cl_program program = nullptr;
  cl_uint count = 0;
  const cl_device_id* devices = nullptr;
  const char* options = nullptr;
  ProgramCallback callback = nullptr;
  void* user_data = nullptr;
};

// Returns whether clBuildProgram or clCompileProgram rejected its arguments and did nothing.
[[nodiscard]] bool is_argument_error(cl_int code) noexcept;

// Thread-safe. Borrows everything.
class ProgramBuilds {
public:
  ProgramBuilds(const cl_icd_dispatch& next, const LayerSettings& settings, const LayerLog& log,
                const cache::CacheSettings& cache, ProgramTable& programs, Recorder* recorder);

  // clBuildProgram for a program that is in the table.
  [[nodiscard]] cl_int build(const ProgramView& view, const BuildCall& call) noexcept;
  // clCompileProgram in mode `strict`. Returns CL_COMPILE_PROGRAM_FAILURE.
  [[nodiscard]] cl_int refuse_compile(const ProgramView& view, const BuildCall& call) noexcept;
  // Says that mode `strict` refuses to link the program.
  void report_refused_link(const ProgramView& view, cl_int code) const noexcept;
  // Lets the driver build a program that has a substitute. Not for mode `strict`.
  void build_natively(const ProgramView& view) noexcept;
  // Stores the binary of a program that PoCL has built and launched: now, or once no launch runs.
  // Call it before the driver's release of the program or of its last kernel.
  void keep(DueKeep due) noexcept;
  // Call it before a launch. Stores the binary if launches of the kernel only repeat themselves.
  void keep_repeated(cl_kernel kernel) noexcept;
  // Stores the binaries of programs that were launched for the first time, unless a launch runs.
  // Call it on a thread of the application, after a call that has waited.
  void after_wait() noexcept;
  // The launches that the application has begun, if the user cache stores programs of PoCL.
  [[nodiscard]] RunningLaunches& launches() noexcept { return m_launches; }
  // Releases what has left the table of programs.
  void release(const Ended& ended) const noexcept;
  // Records that the program is what the driver has made of it, without a substitute.
  void drop_substitute(const ProgramView& view) noexcept;

private:
  // One call of build().
  struct Attempt {
    std::unique_ptr<ServedBuild> served;
    std::vector<cl_device_id> of_context;
    bool covers_all_builds = true; // no other device has a build that must stay usable
  };

  // What mode `strict` refuses.
  struct Refusal {
    cl_int code = CL_SUCCESS;
    std::string_view action; // "build"
    std::string_view reason; // empty: that of the attempt
  };

  [[nodiscard]] cl_int pass_on(const BuildCall& call, const char* options) const noexcept;
  // opencl_call, invalid_argument: nothing can be said about the program or its devices.
  [[nodiscard]] base::Result<Attempt> prepare(const ProgramView& view, const BuildCall& call);
  // Returns whether the program is built for no other device of its context. One program of the
  // layer can only replace all builds of the application's program.
  [[nodiscard]] bool covers_all_builds(const ProgramView& view,
                                       const std::vector<cl_device_id>& devices,
                                       const std::vector<cl_device_id>& of_context) const;
  [[nodiscard]] bool serve(const ProgramView& view, Attempt& attempt);
  // Serves a build for another device of a program that is served already: one program for all of
  // these devices, if their builds have the same options.
  [[nodiscard]] bool serve_all(const ProgramView& view, const Attempt& attempt);
  // As prepare(). The driver then decides, which is logged, or mode `strict` refuses.
  [[nodiscard]] base::Result<Attempt> prepared(const ProgramView& view,
                                               const BuildCall& call) noexcept;
  // Passes on what the layer cannot handle. Mode `strict` returns `refusal` instead, because some
  // drivers build what OpenCL rejects.
  [[nodiscard]] cl_int pass_on_unless_strict(const ProgramView& view, const BuildCall& call,
                                             cl_int refusal,
                                             std::string_view reason) const noexcept;
  [[nodiscard]] cl_int build_held(const ProgramView& view, const BuildCall& call) noexcept;
  [[nodiscard]] cl_int build_by_driver(const ProgramView& view, const BuildCall& call,
                                       Attempt* attempt) noexcept;
  // Builds the source with the options that rules changed, in a program that is then released, and
  // returns the driver's code: not every driver can build a program again after a build of it has
  // failed (Intel's CPU runtime). IL is not built: the build itself decides.
  [[nodiscard]] cl_int try_options(const ProgramView& view, const ServedBuild& build) noexcept;
  // Fails a build in mode `strict`, and says why: in the log, on standard error, and in the build
  // log of the program, also for devices that are not those of the context. Returns the code.
  [[nodiscard]] cl_int refuse(const ProgramView& view, const BuildCall& call,
                              const base::Result<Attempt>& attempt,
                              const Refusal& refusal) noexcept;
  void report_refusal(std::string_view action, std::string_view subject, cl_int code,
                      std::string_view reason) const;
  [[nodiscard]] EarlyKeep early_keep_of(const TrackedProgram& program) const;
  void keep_early(const DueKeep& launch);
  // Stores what keep() has put off. Only in a pause.
  void keep_postponed();
  // Stores the binary of `program`, or of a copy if it is null, unless a header has changed or the
  // process is ending.
  void keep_by(const DueKeep& due, cl_program program);
  void keep_or_record(const ProgramView& view, ServedBuild& served);
  void log_build(const ServedBuild& served, std::string_view outcome, cl_int code) const;
  [[nodiscard]] bool is_built(cl_program program, const std::vector<cl_device_id>& devices) const;

  const cl_icd_dispatch& m_next;
  const LayerSettings& m_settings;
  const LayerLog& m_log;
  ProgramTable& m_programs;
  Recorder* m_recorder;
  BuildServices m_services;
  RunningLaunches m_launches;
  std::mutex m_postponed_mutex;
  std::vector<DueKeep> m_postponed; // each with a reference to the driver's program
  std::atomic<bool> m_has_postponed{false};
};

} // namespace clbin::layer

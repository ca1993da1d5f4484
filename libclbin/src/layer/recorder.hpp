// What the layer writes: problems and the log, for people, and what an application builds and
// launches, to a directory from which `oclcc --record` makes a bundle.
#pragma once

#include "format/bundle/known_answers.hpp"
#include "layer/chosen_size.hpp"
#include "layer/layer_settings.hpp"
#include "layer/program_table.hpp"

#include <CL/cl_icd.h>

namespace clbin::layer {

// Thread-safe. Each line is one system call, so that lines of several processes do not mix.
class LayerLog {
public:
  LayerLog() = default;
  // Opens the file for appending; "-" is standard error, an empty path no log. A file that cannot
  // be opened, such as a pipe without a reader, is reported on standard error.
  explicit LayerLog(const std::filesystem::path& path);

  [[nodiscard]] bool is_on() const noexcept { return m_file.is_open(); }
  // Writes "libclbin_layer[PID]: LINE" if the log is on.
  void write(std::string_view line) const;

private:
  base::FileDescriptor m_file;
};

// Writes "libclbin_layer: LINE" to standard error. As in the log, a line that cannot be written is
// lost, and no signal is delivered to the application.
void report_problem(std::string_view line);

struct RecordedBuild {
  format::ProgramInput program; // with one variant
  std::string kernel;           // " (kernel 'add')", for the log
};

// Thread-safe. A process that is killed leaves whole files: a bundle has a temporary name until it
// is complete, and a line of the launches is one system call.
class Recorder {
public:
  // `folder` exists; `log` outlives the recorder.
  Recorder(std::filesystem::path folder, const LayerLog& log)
      : m_folder(std::move(folder)), m_log(log) {}

  // Writes <program>-<variant>-<pid>-<n>.clbin. A problem is logged.
  void record(RecordedBuild build);
  // Appends a line "PROGRAM VARIANT KERNEL DIMENSIONS X Y Z", with " offset" at its end for a
  // launch with an offset, to launches-<pid>.log, unless this process has written the same line.
  void record(const std::string& program, const format::RecordedLaunch& launch);

  // Appends the file of an OpenCL ICD loader of this process to loaders-<pid>.log: first the one
  // that uses the layer, then one whose builds the layer does not see.
  void record_loader(const std::string& path);
  // Appends why the data of a launch are not recorded, a line for people, to omissions-<pid>.log.
  void record_omission(const std::string& line);
  // Notes once, in links-<pid>.log, that the application links programs, which are not recorded.
  void record_link();

private:
  void append(const std::string& name, const std::string& line) const;

  std::filesystem::path m_folder;
  const LayerLog& m_log;
  std::mutex m_mutex;
  std::uint64_t m_next_number = 0;
  std::set<std::string> m_launches;
  std::once_flag m_has_linked;
};

// A launch, before the driver sees it. Borrows from the call.
struct LaunchCall : UnsizedLaunch {
  const std::size_t* local = nullptr;
  cl_uint wait_count = 0;
  const cl_event* wait_list = nullptr;
};

// Records a few launches of each kernel with their arguments, and with what buffers and images
// contain before and after them, as known answers. Thread-safe. Never blocks for ever, and changes
// nothing that the application can see but the time: it reads through the application's queue, and
// gives up if that takes too long, because the application may still have to complete an event.
class DataRecorder {
public:
  // `next`, whose functions may be null, `driver` and `recorder` outlive it. Records at most
  // `max_bytes`.
  DataRecorder(const cl_icd_dispatch& next, const opencl::Driver& driver, Recorder& recorder,
               std::uint64_t max_bytes)
      : m_next(next), m_driver(driver), m_recorder(recorder), m_bytes_left(max_bytes) {
    m_abandoned.reserve(64); // one for each thread that launches at that time
  }

  // What the application has set, after the driver has accepted it. `value` is null for local
  // memory.
  void set_argument(cl_kernel kernel, cl_uint index, std::size_t size, const void* value);
  // The kernel uses memory that its arguments do not tell: no launch of it is recorded.
  void set_unknown_memory(cl_kernel kernel);
  // While the application has an event to complete, no launch is recorded: the queue may wait for
  // it, and Oclgrind's clFlush() does so, too.
  void add_user_event(cl_event event);
  void end_user_event(cl_event event);
  // A kernel that was created, or cloned from another one.
  void add_kernel(cl_kernel kernel, cl_kernel original = nullptr);

  // A launch whose data were read, until it is finished.
  struct Launch;
  struct EndLaunch {
    void operator()(Launch* launch) const noexcept;
  };
  using LaunchHandle = std::unique_ptr<Launch, EndLaunch>;
  // Reads what is there before. Null if the launch is not recorded.
  [[nodiscard]] LaunchHandle begin(const LaunchCall& call, const TrackedKernel& kernel);
  // Reads what is there after the event of the launch, and records both.
  void end(LaunchHandle launch, cl_event event);

private:
  struct Argument {
    enum class Kind : std::uint8_t { unset, value, local };
    Kind kind = Kind::unset;
    std::size_t size = 0;
    base::Bytes value{};
  };
  struct Arguments {
    std::vector<Argument> set;
    bool has_unknown_memory = false;
  };

  using Read = base::Result<void>;
  [[nodiscard]] bool claim(const std::string& kernel, const std::string& sizes);
  [[nodiscard]] Read describe(const LaunchCall& call, const TrackedKernel& kernel, Launch& launch);
  [[nodiscard]] base::Result<std::vector<format::KernelArgument>>
  arguments_of(const LaunchCall& call, const TrackedKernel& kernel);
  [[nodiscard]] Read describe_argument(const format::KernelArgument& known,
                                       const Argument& argument, Launch& launch) const;
  [[nodiscard]] Read describe_memory(const format::KernelArgument& known, const Argument& argument,
                                     Launch& launch) const;
  [[nodiscard]] Read describe_sampler(const Argument& argument, Launch& launch) const;
  [[nodiscard]] Read check_overlaps(const Launch& launch) const;
  [[nodiscard]] Read take_bytes(const Launch& launch);
  [[nodiscard]] Read read_all(Launch& launch, cl_uint wait_count, const cl_event* wait_list,
                              bool only_results);
  [[nodiscard]] cl_int wait_for(cl_command_queue queue, const std::vector<cl_event>& events) const;
  void omit(const Launch& launch, const std::string& reason);

  const cl_icd_dispatch& m_next;
  const opencl::Driver& m_driver;
  Recorder& m_recorder;
  std::mutex m_mutex;
  std::uint64_t m_bytes_left;
  std::map<cl_kernel, Arguments> m_arguments;
  std::set<cl_event> m_user_events; // not complete
  // By program and variant: those that were built again for their arguments.
  std::map<std::pair<std::string, std::string>, std::vector<format::KernelReflection>> m_reflected;
  std::map<std::string, std::set<std::string>> m_sizes; // of each kernel that are recorded
  std::vector<std::vector<base::Bytes>> m_abandoned;    // that the driver may still write to
};

} // namespace clbin::layer

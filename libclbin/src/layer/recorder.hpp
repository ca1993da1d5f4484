// What the layer writes: problems and the log, for people, and what an application builds and
// launches, to a directory from which `oclcc --record` makes a bundle.
#pragma once

#include "layer/layer_settings.hpp"
#include "layer/program_table.hpp"

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

} // namespace clbin::layer

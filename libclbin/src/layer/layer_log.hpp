// What the layer writes for people: the log that the user asked for, and problems.
#pragma once

#include "base/file_io.hpp"

#include <filesystem>
#include <string_view>

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

// Writes "libclbin_layer: LINE" to standard error. For problems, which are reported once. As in the
// log, a line that cannot be written is lost, and no signal is delivered to the application.
void report_problem(std::string_view line);

} // namespace clbin::layer

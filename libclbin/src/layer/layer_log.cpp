#include "layer/layer_log.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <span>
#include <string>
#include <unistd.h>

namespace clbin::layer {
namespace {

void write_line(int file, std::string text) {
  text += '\n';
  (void)base::write_all_without_signals(file, std::as_bytes(std::span(text)));
}

} // namespace

LayerLog::LayerLog(const std::filesystem::path& path) {
  if (path.empty()) {
    return;
  }
  if (path == "-") {
    m_file = base::FileDescriptor(STDERR_FILENO, base::CloseAtEnd::no);
    return;
  }
  // O_NONBLOCK: opening a pipe without a reader fails, and does not stop the application.
  m_file = base::FileDescriptor(base::open_retrying(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, S_IRUSR | S_IWUSR));
  if (!m_file.is_open()) {
    report_problem(
        fmt::format("cannot open the log {}: {}", base::in_quotes(path), base::reason_of(errno)));
  }
}

void LayerLog::write(std::string_view line) const {
  if (m_file.is_open()) {
    write_line(m_file.number(),
               fmt::format("libclbin_layer[{}]: {}", ::getpid(), base::printable(line)));
  }
}

void report_problem(std::string_view line) {
  write_line(STDERR_FILENO, fmt::format("libclbin_layer: {}", base::printable(line)));
}

} // namespace clbin::layer

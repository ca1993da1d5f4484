#include "layer/recorder.hpp"

#include "base/system/posix/calls.hpp"
#include "base/text.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace clbin::layer {

namespace {

void write_line(int file, const std::string& text) {
  (void)base::write_all_without_signals(file, base::as_bytes(text + '\n'));
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

namespace {

using base::FileDescriptor;
using base::Result;

// The merge of the recording chooses the final compression.
constexpr int k_compression_level = 3;
constexpr std::string_view k_producer = "libclbin_layer " CLBIN_LIBRARY_VERSION;

// Creates or opens the file as `flags` say, and writes at its end.
Result<void> write_file(const std::filesystem::path& path, int flags, base::ByteView bytes) {
  FileDescriptor file(
      base::open_retrying(path.c_str(), O_WRONLY | O_CREAT | flags, S_IRUSR | S_IWUSR));
  int error = file.is_open() ? base::write_all_without_signals(file.number(), bytes) : errno;
  if (error == 0) {
    error = file.close();
  }
  return error == 0 ? Result<void>() : base::write_error(base::in_quotes(path), error);
}

Result<void> write_by_rename(const std::filesystem::path& folder, const std::string& name,
                             base::ByteView bytes) {
  const std::filesystem::path temporary = folder / ("." + name + ".tmp");
  Result<void> written = write_file(temporary, O_EXCL, bytes);
  if (written.has_value() && ::rename(temporary.c_str(), (folder / name).c_str()) != 0) {
    written = base::write_error(base::in_quotes(folder / name), errno);
  }
  if (!written.has_value()) {
    (void)::unlink(temporary.c_str());
  }
  return written;
}

} // namespace

void Recorder::record(RecordedBuild build) {
  std::string name;
  {
    const std::scoped_lock lock(m_mutex);
    // Another process may have had the same number, in another container or before.
    do {
      name = fmt::format("{}-{}-{}-{}.clbin", build.program.name,
                         build.program.variants.front().name, ::getpid(), m_next_number++);
    } while (std::filesystem::exists(m_folder / name));
  }
  format::BundleInput bundle;
  bundle.producer = k_producer;
  bundle.programs.push_back(std::move(build.program));
  const auto bytes = format::write_bundle(bundle, {k_compression_level, {}});
  const Result<void> written =
      bytes.has_value() ? write_by_rename(m_folder, name, *bytes) : tl::unexpected(bytes.error());
  m_log.write(written.has_value() ? fmt::format("recorded {}{}", name, build.kernel)
                                  : fmt::format("not recorded: {}", written.error().message));
}

void Recorder::record(const std::string& program, const format::RecordedLaunch& launch) {
  std::string line =
      fmt::format("{} {} {} {} {}{}\n", program, launch.variant, launch.kernel, launch.dimensions,
                  fmt::join(launch.local_size, " "), launch.has_offset ? " offset" : "");
  const std::scoped_lock lock(m_mutex);
  if (!m_launches.insert(line).second) {
    return;
  }
  // A line feed in the name of a kernel would end the line, and begin another one.
  if (std::ranges::any_of(launch.kernel, [](unsigned char c) { return c < 0x20; })) {
    m_log.write("not recorded: launches of a kernel whose name contains control characters");
    return;
  }
  append("launches", line);
}

void Recorder::record_loader(const std::string& path) {
  append("loaders", base::printable(path) + "\n");
}

void Recorder::record_omission(const std::string& line) {
  m_log.write("not recorded: " + line);
  append("omissions", base::printable(line) + "\n");
}

void Recorder::record_link() {
  std::call_once(m_has_linked, [this] { append("links", "clLinkProgram\n"); });
}

void Recorder::append(const std::string& name, const std::string& line) const {
  // Opened for each line: a forked child writes to a file of its own.
  const std::filesystem::path path = m_folder / fmt::format("{}-{}.log", name, ::getpid());
  const Result<void> written =
      write_file(path, O_APPEND | O_NOFOLLOW | O_NONBLOCK, base::as_bytes(line));
  if (!written.has_value()) {
    m_log.write("not recorded: " + written.error().message);
  }
}

} // namespace clbin::layer

#include "command_line/modes.hpp"

#include "base/system/posix/calls.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "modes/recording.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"
#include "worker/spawn.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc {

namespace fs = std::filesystem;
using clbin::cache::ProcessEnvironment;
using format::BundleReader;

namespace {

struct ApplicationEnd {
  int exit_status = 0; // as shells report it: 128 + the signal, if one ended the application
  int signal = 0;      // 0 if none did
};

// The signals that are passed on, and SIGCHLD.
sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

// Returns the next of the blocked signals; std::nullopt after a while.
std::optional<siginfo_t> next_of(const sigset_t& signals) {
  const timespec a_while{1, 0}; // SIGCHLD is not certain to stay pending on every system
  siginfo_t signal{};
  return sigtimedwait(&signals, &signal, &a_while) > 0 ? std::optional(signal) : std::nullopt;
}

ApplicationEnd wait_for(pid_t process, const sigset_t& signals) {
  constexpr int k_signal_base = 128;
  int status = 0;
  pid_t ended = 0;
  for (;;) {
    ended = ::waitpid(process, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) {
      break;
    }
    const auto signal = next_of(signals);
    // The terminal sends its signals to the whole process group.
    const bool is_of_terminal = signal && signal->si_code == SI_KERNEL &&
                                (signal->si_signo == SIGINT || signal->si_signo == SIGQUIT);
    if (signal && signal->si_signo != SIGCHLD && !is_of_terminal) {
      (void)::kill(process, signal->si_signo);
    }
  }
  if (ended > 0 && WIFSIGNALED(status)) {
    return {k_signal_base + WTERMSIG(status), WTERMSIG(status)};
  }
  return {ended > 0 ? WEXITSTATUS(status) : 0, 0};
}

// Not with worker::Spawn: a script without "#!" must run, as for a shell, with the signals that
// oclcc was started with.
Result<ApplicationEnd> run_application(std::vector<std::string> command,
                                       std::vector<std::string> environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::internal, "cannot create a pipe: {}", base::reason_of(errno));
  }
  const FileDescriptor from_child(ends[0]); // an errno; a successful exec closes it
  FileDescriptor to_parent(ends[1]);
  const std::vector<char*> words = worker::pointers_to(command);
  const std::vector<char*> variables = worker::pointers_to(environment);
  const sigset_t signals = awaited_signals();
  const base::BlockedSignals blocked(signals);
  const pid_t process = ::fork();
  if (process < 0) {
    return fail(ErrorCode::internal, "cannot start a process: {}", base::reason_of(errno));
  }
  if (process == 0) {
    (void)std::signal(SIGXFSZ, SIG_DFL); // main() ignores it
    blocked.restore();
    ::execvpe(words.front(), words.data(), variables.data());
    const int error = errno;
    (void)base::write_all(to_parent.number(), std::as_bytes(std::span(&error, 1)));
    ::_exit(127);
  }
  (void)to_parent.close();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(from_child.number(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  const ApplicationEnd end = wait_for(process, signals);
  if (count == sizeof error) {
    return fail(error == ENOENT ? ErrorCode::file_not_found : ErrorCode::file_read,
                "cannot run '{}': {}", command.front(), base::reason_of(error));
  }
  return end;
}

constexpr std::string_view k_layer_name = "libclbin_layer.so";

std::string variable(const ProcessEnvironment& environment, const char* name) {
  return environment.variable(name).value_or("");
}

// The library of the layer: CLBIN_LAYER_LIBRARY, or where it is installed or built.
Result<fs::path> find_layer(const ProcessEnvironment& environment) {
  std::error_code error;
  if (const std::string given = variable(environment, "CLBIN_LAYER_LIBRARY");
      !given.empty() && environment.rights == clbin::cache::Rights::plain) {
    const fs::path path = fs::absolute(given, error);
    if (!fs::is_regular_file(path, error)) {
      return fail(ErrorCode::file_not_found, "CLBIN_LAYER_LIBRARY: there is no file '{}'", given);
    }
    return path;
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder, folder / ".." / OCLCC_LIBRARY_FOLDER, folder / ".." / "lib",
                                folder / ".." / "libclbin"}) {
    const fs::path path = (place / k_layer_name).lexically_normal();
    if (fs::is_regular_file(path, error)) {
      return path;
    }
  }
  return fail(ErrorCode::file_not_found,
              "cannot find {} beside oclcc or in its library directory: name it in "
              "CLBIN_LAYER_LIBRARY",
              k_layer_name);
}

// The existing recording, to which this run adds; std::nullopt if there is none.
Result<std::optional<BundleReader>> open_existing(const fs::path& path, const BundleKeys& keys) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(BundleReader bundle, open_readable_bundle(path, keys));
  CLBIN_TRY(named(bundle.verify(), path));
  return bundle;
}

std::vector<std::string> environment_of(const Options& options,
                                        const ProcessEnvironment& environment,
                                        const fs::path& layer, const fs::path& folder) {
  const std::string others = variable(environment, "OPENCL_LAYERS");
  const bool with_binaries = options.recorded_binaries == BinaryPolicy::build;
  const std::pair<std::string_view, std::string> own[] = {
      {"OPENCL_LAYERS", others.empty() ? layer.string() : others + ":" + layer.string()},
      {"CLBIN_LAYER_MODE", "record"},
      {"CLBIN_LAYER_RECORD", folder.string()},
      {"CLBIN_LAYER_RECORD_BINARIES", with_binaries ? "1" : "0"},
      {"CLBIN_LAYER_RECORD_DATA", fmt::format("{}", options.recorded_data_bytes)},
      {"CLBIN_LAYER_RECORD_SOURCE", options.source == SourcePolicy::keep ? "1" : "0"},
      // What PyOpenCL finds in its own cache, it does not build, and to the source of what it does
      // not find, it appends a random name.
      {"PYOPENCL_NO_CACHE", "1"},
  };
  std::vector<std::string> all;
  for (char** given = environ; given != nullptr && *given != nullptr; ++given) {
    all.emplace_back(*given);
  }
  for (const auto& [name, value] : own) {
    worker::set_variable(all, name, value);
  }
  return all;
}

// Everything that may fail, before the application runs.
struct Preparation {
  fs::path layer;
  std::optional<BundleReader> existing;
  base::OutputFile output;
  base::TemporaryFolder folder;
};

Result<Preparation> prepare(const Options& options, const ProcessEnvironment& environment,
                            Reporter& reporter) {
  if (*options.recording == "-") {
    return refused(
        "'--record' requires a file, because the application may write to standard output");
  }
  CLBIN_TRY_ASSIGN(fs::path layer, find_layer(environment));
  CLBIN_TRY(require_other_files({&*options.recording, 1}, trust::files_of_keys(options)));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  CLBIN_TRY_ASSIGN(auto existing, open_existing(*options.recording, keys));
  CLBIN_TRY_ASSIGN(base::OutputFile output, base::OutputFile::open(*options.recording));
  CLBIN_TRY_ASSIGN(base::TemporaryFolder folder,
                   base::TemporaryFolder::create({}, "oclcc-record-"));
  return Preparation{std::move(layer), std::move(existing), std::move(output), std::move(folder)};
}

Result<void> write_recording(Preparation& preparation, const Options& options, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(auto spill, base::SpillFile::create());
  Recording recording(spill);
  recording.add_folder(preparation.folder.path(), options.source, reporter);
  if (recording.program_count() == 0) {
    reporter.warning(fmt::format("the application built no program: '{}' is not written",
                                 options.recording->string()));
    reporter.note(recording.why_empty());
    return {};
  }
  if (recording.lacks_linked_programs()) {
    reporter.warning("the programs that the application links (clLinkProgram) are not recorded");
  }
  format::WriteOptions write;
  write.spill = spill;
  bool was_signed = false;
  if (const auto& existing = preparation.existing) {
    CLBIN_TRY(named(recording.add(*existing, SourcePolicy::keep), *options.recording));
    CLBIN_TRY_ASSIGN(write.encryption, trust::encryption_of(std::array{&*existing}));
    CLBIN_TRY_ASSIGN(const auto records, existing->signature_records());
    was_signed = !records.empty();
  }
  CLBIN_TRY(format::write_bundle(recording.take(), write, [&](base::ByteView part) {
    return preparation.output.append(part);
  }));
  CLBIN_TRY(preparation.output.commit());
  if (was_signed) {
    reporter.note(fmt::format("{}: {}", options.recording->string(), k_signatures_removed));
  }
  return {};
}

} // namespace

Result<ExitCode> record(const Options& options, const ModeContext& context) {
  constexpr int k_not_found = 127;
  constexpr int k_not_executable = 126;
  Reporter& reporter = context.reporter;
  CLBIN_TRY_ASSIGN(Preparation preparation, prepare(options, context.environment, reporter));
  const auto end = run_application(
      options.command,
      environment_of(options, context.environment, preparation.layer, preparation.folder.path()));
  if (!end && end.error().code != ErrorCode::internal) {
    reporter.error(end.error());
    const bool is_absent = end.error().code == ErrorCode::file_not_found;
    return static_cast<ExitCode>(is_absent ? k_not_found : k_not_executable);
  }
  CLBIN_TRY(end);
  if (end->signal != 0) {
    reporter.note(fmt::format("signal {} ({}) ended the application: what it had built is recorded",
                              end->signal, ::strsignal(end->signal)));
  }
  const auto written = write_recording(preparation, options, reporter);
  if (!written && end->exit_status != 0) {
    reporter.error(written.error());
  } else {
    CLBIN_TRY(written);
  }
  return static_cast<ExitCode>(end->exit_status);
}

} // namespace oclcc

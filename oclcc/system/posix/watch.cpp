// Each round is a fork of this process, which has no threads, no driver, and no state but the
// digests of the files. Whatever a compile allocates or breaks ends with its process, so that 1,000
// rounds need the memory of one. The process of the next round starts at once, finds the devices,
// which takes longer than to compile a small kernel, and waits.
//
// No change is lost. Directories are watched before the files in them are read, and the digests are
// taken before the round starts. Every event that arrives during a round starts another one, even
// if the files are as before: the compile may have read what was there between.
#include "compile/watch.hpp"

#include "base/system/posix/calls.hpp"
#include "closure/include_closure.hpp"
#include "compile/compile_job.hpp"
#include "compile/output_plan.hpp"
#include "terminal/interruption.hpp"
#include "trust/key_files.hpp"
#include "worker/spawn.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace oclcc {

namespace {

namespace fs = std::filesystem;
using clbin::closure::IncludeSearch;
using std::chrono::steady_clock;

// Programs rename and write several files when they save one.
constexpr std::chrono::milliseconds k_quiet{20};
constexpr std::chrono::milliseconds k_longest_wait{1000}; // for quiet, if a file is written forever

// ---- What a compile reads ----

struct Snapshot {
  // By the names of messages. std::nullopt if the file does not exist or cannot be read.
  std::map<fs::path, std::optional<base::Digest>> files;
  std::set<fs::path> absent; // where a new file would be read
};

void add_file(const fs::path& path, Snapshot& snapshot) {
  constexpr std::uint64_t k_max_read_bytes = 1ULL << 30U; // of a SPIR-V module
  const auto bytes = base::read_regular_file(path, k_max_read_bytes);
  snapshot.files[path] = bytes ? std::optional(base::digest_of(*bytes)) : std::nullopt;
}

// Returns whether all files of the program are known.
bool add_closure(const fs::path& main_file, const IncludeSearch& search, Snapshot& snapshot) {
  const auto graph = clbin::closure::find_include_graph(main_file, search);
  if (!graph) {
    add_file(main_file, snapshot);
    for (const fs::path& name : search.forced_includes) {
      snapshot.absent.insert(name);
      for (const fs::path& folder : search.folders) {
        snapshot.absent.insert(folder / name);
      }
    }
    return false;
  }
  for (const auto& file : graph->files) {
    if (!file.place.is_own) {
      snapshot.files[file.place.path] = base::digest_of(base::as_bytes(file.text));
    }
  }
  snapshot.absent.insert(graph->absent.begin(), graph->absent.end());
  return true;
}

// Without options, the response files are wrong.
Snapshot take_snapshot(const Result<Options>& options, const Snapshot& before) {
  Snapshot now;
  bool is_complete = options.has_value();
  if (options) {
    const IncludeSearch search = include_search(*options);
    for (const Input& input : options->inputs) {
      is_complete = add_closure(input.path, search, now) && is_complete;
    }
    auto others = trust::files_of_keys(*options);
    others.insert(others.end(), options->response_files.begin(), options->response_files.end());
    others.push_back(remote::read_remote_settings(clbin::cache::this_process()).file);
    std::erase(others, fs::path());
    std::ranges::for_each(others, [&](const fs::path& path) { add_file(path, now); });
  }
  if (!is_complete) { // the files of before are likely to be read again
    for (const auto& [path, content] : before.files) {
      if (!now.files.contains(path)) {
        add_file(path, now);
      }
    }
    now.absent.insert(before.absent.begin(), before.absent.end());
  }
  return now;
}

std::ptrdiff_t count_of(const Snapshot& snapshot) {
  return std::ranges::count_if(snapshot.files,
                               [](const auto& file) { return file.second.has_value(); });
}

using Names = std::set<std::string>;

Names changes_between(const Snapshot& before, const Snapshot& now) {
  Names changed;
  Names added_or_gone; // because of other changes, or of a new file
  for (const auto& [path, content] : now.files) {
    const auto old = before.files.find(path);
    if (old == before.files.end()) {
      added_or_gone.insert(path.string());
    } else if (old->second != content) {
      changed.insert(path.string());
    }
  }
  for (const auto& [path, content] : before.files) {
    if (!now.files.contains(path)) {
      added_or_gone.insert(path.string());
    }
  }
  return changed.empty() ? added_or_gone : changed;
}

// ---- Events ----

// Entries of a directory.
struct Entries {
  Names names;
  std::uint32_t events = IN_ONLYDIR | IN_MASK_ADD | IN_CREATE | IN_DELETE | IN_MOVE;
};
using Directories = std::map<fs::path, Entries>;

// Adds every entry on the way to `path`, because a change of each can make it another file. Follows
// symbolic links.
void add_entries(const fs::path& path, Directories& directories) {
  constexpr int k_max_links = 40; // as Linux
  std::error_code error;
  fs::path folder = fs::current_path(error);
  std::deque<fs::path> parts(path.begin(), path.end());
  for (int links = 0; !parts.empty() && links <= k_max_links;) {
    const fs::path part = parts.front();
    parts.pop_front();
    if (part.is_absolute() || part == "..") {
      folder = part == ".." ? folder.parent_path() : part;
      continue;
    }
    if (part.empty() || part == ".") {
      continue;
    }
    Entries& entries = directories[folder];
    entries.names.insert(part.string());
    entries.events |= parts.empty() ? IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB : 0U;
    const fs::path target = fs::read_symlink(folder / part, error);
    if (error) { // not a link
      folder /= part;
    } else {
      parts.insert(parts.begin(), target.begin(), target.end());
      ++links;
    }
  }
}

tl::unexpected<Error> watch_error(const fs::path& directory) {
  const int number = errno;
  const std::string_view remedy =
      number == ENOSPC   ? "; raise the limit with 'sysctl fs.inotify.max_user_watches=1048576'"
      : number == EMFILE ? "; raise the limit with 'sysctl fs.inotify.max_user_instances=1024'"
                         : "";
  const std::string reason = number == ENOSPC   ? "this user has no watches left"
                             : number == EMFILE ? "too many programs of this user watch files"
                                                : reason_of(number);
  return fail(ErrorCode::file_read, "cannot watch {}: {}{}", base::in_quotes(directory), reason,
              remedy);
}

enum class Coverage : std::uint8_t { same, extended };

// The directories that contain the files of a snapshot, so that a file may be replaced.
class FileWatch {
public:
  static Result<FileWatch> create() {
    base::FileDescriptor file(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    return file.is_open() ? Result<FileWatch>(FileWatch(std::move(file))) : watch_error(".");
  }

  // extended: entries are watched that were not, and may have changed after the snapshot was taken.
  Result<Coverage> follow(const Snapshot& snapshot) {
    Directories directories;
    for (const auto& [path, content] : snapshot.files) {
      add_entries(path, directories);
    }
    for (const fs::path& path : snapshot.absent) {
      add_entries(path, directories);
    }
    std::map<int, Names> watched;
    for (const auto& [directory, entries] : directories) {
      const int watch = ::inotify_add_watch(m_file.number(), directory.c_str(), entries.events);
      if (watch >= 0) {
        watched[watch].insert(entries.names.begin(), entries.names.end());
      } else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP) {
        return watch_error(directory);
      } // otherwise, it is itself a watched entry, or the compile cannot read it either
    }
    std::swap(m_names, watched);
    Coverage coverage = Coverage::same;
    for (const auto& [watch, names] : m_names) {
      coverage = std::ranges::includes(watched[watch], names) ? coverage : Coverage::extended;
      watched.erase(watch);
    }
    for (const auto& [watch, names] : watched) {
      (void)::inotify_rm_watch(m_file.number(), watch); // fails if the directory is gone
    }
    return coverage;
  }

  // Returns the names of the entries with events since the last call.
  Names take_events() {
    Names names;
    std::array<char, 65536> buffer{};
    ssize_t count = 0;
    while ((count = ::read(m_file.number(), buffer.data(), buffer.size())) > 0) {
      inotify_event event{};
      for (ssize_t at = 0; at < count; at += static_cast<ssize_t>(sizeof event + event.len)) {
        std::memcpy(&event, buffer.data() + at, sizeof event);
        const std::string name = event.len == 0 ? "" : buffer.data() + at + sizeof event;
        const auto watched = m_names.find(event.wd);
        if (watched != m_names.end() && watched->second.contains(name)) {
          names.insert(name);
        } else if ((event.mask & IN_Q_OVERFLOW) != 0) {
          names.insert("many files"); // events are lost: any file may have changed
        }
      }
    }
    return names;
  }

  // Blocks until an event of the entries, unless one is `pending`, and then until there are none
  // for a moment.
  void wait(bool is_pending) {
    while (!is_pending) {
      poll_for(-1);
      is_pending = !take_events().empty();
    }
    const auto end = steady_clock::now() + k_longest_wait;
    auto quiet = steady_clock::now() + k_quiet;
    for (auto now = steady_clock::now(); now < std::min(quiet, end); now = steady_clock::now()) {
      poll_for(static_cast<int>(
          std::chrono::ceil<std::chrono::milliseconds>(std::min(quiet, end) - now).count()));
      quiet = take_events().empty() ? quiet : steady_clock::now() + k_quiet;
    }
  }

private:
  explicit FileWatch(base::FileDescriptor file) : m_file(std::move(file)) {}

  void poll_for(int milliseconds) const {
    pollfd waited{m_file.number(), POLLIN, 0};
    (void)::poll(&waited, 1, milliseconds);
  }

  base::FileDescriptor m_file;
  std::map<int, Names> m_names; // of entries, by the watch of their directory
};

// ---- Rounds ----

std::optional<fs::file_time_type> time_of(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

// What a round is told when it starts: "kernel.cl changed: ", or nothing for the first, and what
// follows the outcome.
struct RoundTexts {
  std::string subject;
  std::string end;
};

// Blocks until the texts arrive, each with a zero byte at its end. Ends this process if they do
// not.
RoundTexts receive_texts(int channel) {
  std::string received;
  while (std::ranges::count(received, '\0') < 2) {
    std::array<char, 4096> part{};
    const ssize_t count = ::read(channel, part.data(), part.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      ::_exit(0); // other options, or the end of --watch
    }
    received.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  const std::size_t end = received.find('\0');
  return {received.substr(0, end), received.substr(end + 1, received.size() - end - 2)};
}

// A round that compiles.
struct RunningRound {
  RoundTexts texts;
  fs::path output; // empty if there is none
  std::optional<fs::file_time_type> time_before{};
  steady_clock::time_point start{};
};

// "kernel.cl changed: wrote kernel.clbin in 0.12 s"; empty if the command ends.
std::string outcome_of(const RunningRound& round, ExitCode code) {
  if (round.texts.subject.empty() && code == ExitCode::command_line) {
    return {};
  }
  const std::chrono::duration<double> seconds = steady_clock::now() - round.start;
  const auto time = time_of(round.output);
  const std::string name = round.output.string();
  const bool is_new = time != round.time_before;
  const std::string done = is_new                      ? "wrote " + name
                           : code == ExitCode::success ? "compiled"
                                                       : "failed";
  return fmt::format("{}{} in {:.2f} s{}{}", round.texts.subject, done, seconds.count(),
                     time && !is_new ? fmt::format(", {} is as before", name) : "",
                     round.texts.end);
}

// Runs in the process of the round.
ExitCode run_here(const Options& options, int channel, RunRound* run) {
  RunningRound round;
  const auto wait = [&] {
    round.texts = receive_texts(channel);
    round.start = steady_clock::now();
    const auto plan = plan_output(options);
    round.output = plan && options.goal == CompileGoal::output ? plan->path : "";
    round.time_before = time_of(round.output);
  };
  return run(options, {wait, [&](ExitCode code) { return outcome_of(round, code); }});
}

// The process of a round, which finds the devices and then waits.
class Round {
public:
  static Result<std::unique_ptr<Round>> prepare(const Options& options, RunRound* run) {
    CLBIN_TRY_ASSIGN(worker::Channel channel, worker::open_channel());
    (void)std::fflush(nullptr); // or the child prints it again
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      return fail(ErrorCode::internal, "cannot start a process: {}", reason_of(errno));
    }
    if (child == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGTERM); // if the parent is killed
      (void)channel.own.close();                // or the end of the parent would not be seen
      const ExitCode code = ::getppid() == parent ? run_here(options, channel.other.number(), run)
                                                  : ExitCode::internal;
      (void)std::fflush(nullptr);
      ::_exit(static_cast<int>(code));
    }
    return std::unique_ptr<Round>(new Round(options, child, std::move(channel.own)));
  }

  // Ends the process unless it has been waited for.
  ~Round() {
    (void)m_channel.close();
    if (m_process > 0) {
      (void)worker::wait_for(m_process);
    }
  }
  Round(Round&&) = delete; // and no copies

  // Whether the process waits to compile with these options.
  [[nodiscard]] bool is_for(const Options& options) const {
    return options == m_options && !worker::has_ended(m_process);
  }

  // Compiles. Returns the wait status of the process. Does not return if a signal arrives
  // meanwhile, which the process gets, too, and which ends this process after it.
  int run(const RoundTexts& texts) {
    sigset_t signals = base::ending_signals();
    ::sigaddset(&signals, SIGCHLD);
    const base::BlockedSignals blocked(signals);
    const std::string text = texts.subject + '\0' + texts.end + '\0';
    (void)base::write_all_without_signals(m_channel.number(), base::as_bytes(text));
    const timespec a_while{1, 0}; // SIGCHLD is not certain to stay pending
    int status = 0;
    int ended_by = 0;
    while (::waitpid(m_process, &status, WNOHANG) == 0) {
      const int signal = ::sigtimedwait(&signals, nullptr, &a_while);
      if (signal > 0 && signal != SIGCHLD) {
        ended_by = signal;
        (void)::kill(m_process, signal);
      }
    }
    m_process = 0;
    blocked.restore();
    if (ended_by != 0) {
      (void)std::raise(ended_by);
    }
    return status;
  }

private:
  Round(Options options, pid_t process, base::FileDescriptor channel)
      : m_options(std::move(options)), m_process(process), m_channel(std::move(channel)) {}

  Options m_options;
  pid_t m_process; // 0 after it was waited for
  base::FileDescriptor m_channel;
};

// Runs the round `next`, or another one if it is for other options or null, and replaces it by the
// one after it. Returns the wait status.
Result<int> run_and_prepare(std::unique_ptr<Round>& next, const Options& options, RunRound* run,
                            const RoundTexts& texts) {
  if (!next || !next->is_for(options)) {
    next.reset();
    CLBIN_TRY_ASSIGN(next, Round::prepare(options, run));
  }
  const int status = next->run(texts);
  next.reset();
  CLBIN_TRY_ASSIGN(next, Round::prepare(options, run));
  return status;
}

// "kernel.cl, common.h changed: "
std::string subject_of(const Names& changed) {
  constexpr std::size_t k_most_names = 4;
  const auto end = std::next(changed.begin(),
                             static_cast<std::ptrdiff_t>(std::min(changed.size(), k_most_names)));
  const std::size_t more = changed.size() - std::min(changed.size(), k_most_names);
  return fmt::format("{}{} changed: ", fmt::join(changed.begin(), end, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// Reads a pipe neither twice nor without the compile.
Result<Options> read_options(const std::vector<std::string>& words) {
  CLBIN_TRY_ASSIGN(Options options, parse_command_line(words));
  std::vector<fs::path> files = input_paths(options);
  files.insert(files.end(), options.forced_includes.begin(), options.forced_includes.end());
  for (const fs::path& file : files) {
    std::error_code error;
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
      return refused("'--watch' requires regular files, and '{}' is none", file.string());
    }
  }
  return options;
}

// Returns what the next round will read, with watches that are older. The response files, too, are
// read again after they are watched.
Result<Snapshot> take_watched_snapshot(const std::vector<std::string>& words,
                                       Result<Options>& options, const Snapshot& before,
                                       FileWatch& files) {
  for (;;) {
    Snapshot now = take_snapshot(options, before);
    CLBIN_TRY_ASSIGN(const Coverage coverage, files.follow(now));
    const Result<Options> read = std::exchange(options, read_options(words));
    if (coverage == Coverage::same && read.has_value() == options.has_value() &&
        (!read || *read == *options)) {
      return now;
    }
  }
}

} // namespace

Result<ExitCode> watch(const std::vector<std::string>& words, RunRound* run, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(FileWatch files, FileWatch::create());
  Snapshot read;
  Names seen; // events during a round
  std::unique_ptr<Round> next;
  for (bool is_first = true;;) {
    Result<Options> options = read_options(words);
    if (is_first) {
      CLBIN_TRY(options);
    }
    CLBIN_TRY_ASSIGN(Snapshot now, take_watched_snapshot(words, options, read, files));
    Names changed = changes_between(read, now);
    changed = changed.empty() ? seen : changed;
    if (changed.empty()) { // a file was touched, or written with what it contained
      files.wait(false);
      continue;
    }
    if (options) {
      const std::string end = is_first ? fmt::format("; watching {} files", count_of(now)) : "";
      CLBIN_TRY_ASSIGN(
          const int status,
          run_and_prepare(next, *options, run, {is_first ? "" : subject_of(changed), end}));
      if (is_first && WIFEXITED(status) &&
          WEXITSTATUS(status) == static_cast<int>(ExitCode::command_line)) {
        return ExitCode::command_line;
      }
      if (WIFSIGNALED(status)) {
        reporter.error(fmt::format("signal {} ended the compile", WTERMSIG(status)));
      }
    } else {
      reporter.error(options.error());
    }
    read = std::move(now);
    is_first = false;
    seen = files.take_events();
    files.wait(!seen.empty());
  }
}

} // namespace oclcc

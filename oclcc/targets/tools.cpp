#include "targets/tools.hpp"

#include "base/system/process.hpp"
#include "units/recipes.hpp"
#include "worker/spawn.hpp"

#include <fmt/format.h>
#include <system_error>
#include <thread>

namespace oclcc::offline {

using base::reason_of;

namespace {

// Returns the directories of an environment variable such as PATH, in order, without empty ones.
std::vector<std::filesystem::path> folders_of_variable(const char* name) {
  return worker::paths_in(base::environment_variable(name).value_or(""));
}

constexpr std::uint64_t k_max_output_bytes = 1ULL << 20U;
constexpr std::chrono::milliseconds k_between_looks{2};
constexpr std::chrono::milliseconds k_between_looks_at_memory{20};

// Starts the tool as the leader of a process group. Its temporary files belong into its folder, and
// the home finds programs that it started by the name of the home.
Result<pid_t> start_tool(const std::filesystem::path& tool, const Words& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& output,
                         const worker::WorkerHome& home) {
  std::vector<std::string> environment = worker::own_environment();
  worker::set_temporary_folder(environment, folder.string());
  worker::set_variable(environment, worker::k_home_variable, home.path().string());
  // oclcc blocks and ignores signals that should end the tool.
  worker::Spawn spawn(worker::DefaultSignals::all);
  spawn.open_null(base::k_standard_input);
  spawn.create(base::k_standard_output, output);
  spawn.duplicate(base::k_standard_output, base::k_standard_error);
  spawn.change_folder(folder);
  spawn.lead_process_group();
  const auto process = spawn.start(tool, Words{tool.string()} + arguments, std::move(environment));
  if (!process) {
    return fail(ErrorCode::internal, "cannot start '{}': {}", tool.string(),
                reason_of(process.error()));
  }
  return *process;
}

// A running tool, which the home ends if oclcc is interrupted or dies.
class RunningTool {
public:
  RunningTool(pid_t process, worker::WorkerHome& home) : m_process(process), m_home(home) {
    m_home.add(process);
  }
  // Ends the tool and what it started.
  ~RunningTool() { (void)end(); }
  RunningTool(const RunningTool&) = delete;
  RunningTool& operator=(const RunningTool&) = delete;

  [[nodiscard]] bool is_running() const { return !worker::has_ended(m_process); }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return worker::resident_bytes(m_process).value_or(0);
  }
  // Returns how it ended; std::nullopt if the system does not report it, and at further calls.
  std::optional<worker::ProcessEnd> end() {
    const pid_t process = std::exchange(m_process, -1);
    if (process < 0) {
      return std::nullopt;
    }
    m_home.remove(process);
    worker::end_group(process); // if it has exited, what it left running
    const std::optional<int> status = worker::wait_for(process);
    worker::bury_group(process);
    return status ? std::optional(worker::end_of(*status)) : std::nullopt;
  }

private:
  pid_t m_process;
  worker::WorkerHome& m_home;
};

// Blocks until the tool exits by itself. internal: it was running too long, or used too much
// memory.
Result<void> wait_for_exit(const RunningTool& tool, std::string_view name,
                           const worker::WorkerSettings& settings, std::chrono::seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  auto next_look_at_memory = std::chrono::steady_clock::now();
  while (tool.is_running()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) {
      return fail(ErrorCode::internal, "{} did not finish within {} s", name, timeout.count());
    }
    if (settings.memory_limit_bytes && now >= next_look_at_memory) {
      next_look_at_memory = now + k_between_looks_at_memory;
      if (tool.memory_bytes() > *settings.memory_limit_bytes) {
        return fail(ErrorCode::internal, "{} used more than {} MiB of memory (--memory-limit)",
                    name, *settings.memory_limit_bytes >> 20U);
      }
    }
    std::this_thread::sleep_for(k_between_looks);
  }
  return {};
}

// Returns the end of what the tool printed.
std::string printed(const std::filesystem::path& output) {
  const auto file = base::open_file_source(output);
  if (!file) {
    return file.error().message;
  }
  const std::uint64_t size = (*file)->size_bytes();
  const std::uint64_t length = std::min(size, k_max_output_bytes);
  const auto bytes = (*file)->read(size - length, length, "the output of a tool");
  return bytes ? std::string(base::as_text(bytes->view())) : bytes.error().message;
}

std::optional<std::filesystem::path> locate_given(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return path.has_parent_path() ? std::nullopt : find_tool(path.string(), {});
  }
  const auto absolute = std::filesystem::absolute(path, error); // tools run in other folders
  return error ? path : absolute;
}

std::optional<std::filesystem::path> locate(const ToolRow::Tool& tool, const ToolPaths& given) {
  if (const auto found = given.find(tool.name); found != given.end()) {
    return locate_given(found->second);
  }
  if (!tool.file.starts_with('/')) {
    return find_tool(tool.file, tool.folders);
  }
  std::error_code error;
  return std::filesystem::exists(tool.file, error) ? std::optional<std::filesystem::path>(tool.file)
                                                   : std::nullopt;
}

Result<void> require_given(const ToolPaths& given) {
  for (const auto& [name, path] : given) {
    if (!locate_given(path)) {
      return fail(ErrorCode::file_not_found, "'--tool {}={}': there is no such file{}", name,
                  path.string(), path.has_parent_path() ? "" : ", also not in PATH");
    }
  }
  return {};
}

ToolPaths tools_of(const ToolRow& row, const ToolPaths& given) {
  ToolPaths found;
  for (const ToolRow::Tool& tool : row.tools) {
    if (const auto path = locate(tool, given)) {
      found[tool.name] = *path;
    }
  }
  return found;
}

std::optional<ToolPaths> first_complete(const std::vector<ToolRow>& rows, const ToolPaths& given) {
  for (const ToolRow& row : rows) {
    ToolPaths found = tools_of(row, given);
    if (found.size() == row.tools.size()) {
      return found;
    }
  }
  return std::nullopt;
}

// Targets that lack tools, and their packages or files, each once.
struct LackingTargets {
  std::vector<std::string> names;
  std::vector<std::string> lacking;

  void add(const std::string& name, const std::vector<std::string>& more) {
    names.push_back(name);
    std::ranges::copy_if(more, std::back_inserter(lacking),
                         [&](const std::string& one) { return !has(lacking, one); });
  }
  [[nodiscard]] std::string text() const {
    const std::size_t others = names.size() - 1;
    const std::string subject =
        others == 0 ? "needs"
                    : fmt::format("and {} more target{} need", others, others == 1 ? "" : "s");
    return fmt::format("'{}' {} programs that are not installed", names.front(), subject);
  }
};

bool begins_with_any(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

constexpr std::string_view k_ocloc_library = "libocloc";
constexpr std::string_view k_libraries_of_compilers[] = {
    "libLLVM", "libclang-cpp", k_ocloc_library, "libigc", "libigdfcl", "libopencl-clang"};
// ocloc's library loads them by name.
constexpr std::string_view k_loaded_by_ocloc[] = {"libigc", "libigdfcl", "libopencl-clang"};

// Returns the folders of LD_LIBRARY_PATH, that beside the folder of the program, and Debian's for
// one architecture in it.
std::vector<std::filesystem::path> library_folders(const std::filesystem::path& program) {
  std::vector<std::filesystem::path> folders = folders_of_variable("LD_LIBRARY_PATH");
  const std::filesystem::path own = program.parent_path() / "../lib";
  folders.push_back(own);
  std::error_code error;
  // Debian's clang is /usr/lib/llvm-15/bin/clang, and its libLLVM in /usr/lib/x86_64-linux-gnu.
  for (const std::filesystem::path& parent : {own, own / "../.."}) {
    for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
      if (entry.path().filename().string().ends_with("-linux-gnu") && entry.is_directory(error)) {
        folders.push_back(entry.path());
      }
    }
  }
  return folders;
}

// By name, "libLLVM-15.so.1", which is the same on every machine. An empty path: not found.
using Libraries = std::map<std::string, std::filesystem::path>;

// The libraries of compilers among those that a program loads.
class LibrarySearch {
public:
  explicit LibrarySearch(const std::filesystem::path& program)
      : m_folders(library_folders(program)) {}

  void add_all_of(const SharedObject& object) {
    for (const std::string& name : object.needed) {
      if (!begins_with_any(name, k_libraries_of_compilers) || m_found.contains(name)) {
        continue;
      }
      add(name, find(name));
      if (name.starts_with(k_ocloc_library)) {
        add_beginning_with(k_loaded_by_ocloc);
      }
    }
  }
  void add_beginning_with(std::span<const std::string_view> beginnings) {
    std::error_code error;
    for (const std::filesystem::path& folder : m_folders) {
      for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = file.path().filename().string();
        if (begins_with_any(name, beginnings) && !m_found.contains(name)) {
          add(name, file.path());
        }
      }
    }
  }
  [[nodiscard]] Libraries take() { return std::move(m_found); }

private:
  [[nodiscard]] std::filesystem::path find(const std::string& name) const {
    std::error_code error;
    const auto folder =
        std::ranges::find_if(m_folders, [&](const std::filesystem::path& candidate) {
          return std::filesystem::exists(candidate / name, error);
        });
    return folder == m_folders.end() ? std::filesystem::path() : *folder / name;
  }
  void add(const std::string& name, const std::filesystem::path& path) {
    m_found.emplace(name, path);
    if (const auto object = read_shared_object(path)) {
      add_all_of(*object);
    }
  }

  std::vector<std::filesystem::path> m_folders;
  Libraries m_found;
};

// Returns the shared libraries of compilers that the program loads. Those of other versions, which
// other programs load, are not among them. It is not known what a script starts: returns all that
// are beside it.
Libraries libraries_of(const std::filesystem::path& program) {
  LibrarySearch search(program);
  if (const auto object = read_shared_object(program)) {
    search.add_all_of(*object);
  } else if (worker::is_program(program)) {
    search.add_beginning_with(k_libraries_of_compilers);
  }
  return search.take();
}

// Debian's clang is a small program over two libraries of more than 150 MB, and ocloc one over
// Intel's compiler, which take too long to digest in each run. Their sizes and times change with
// the package, as ccache relies on.
std::vector<std::string> stamps_of_libraries(const std::filesystem::path& program) {
  std::vector<std::string> stamps;
  for (const auto& [name, path] : libraries_of(program)) {
    stamps.push_back(fmt::format("{} {}", name, file_stamp(path)));
  }
  return stamps;
}

// Returns the contents of a tool and of its libraries. std::nullopt if one is not found or cannot
// be read.
std::optional<std::string> shared_contents_of(const std::filesystem::path& tool,
                                              ContentDigests& digests) {
  auto contents = digests.of(tool);
  if (!contents) {
    return std::nullopt;
  }
  for (const auto& [name, path] : libraries_of(tool)) {
    const auto identity = path.empty() ? std::nullopt : library_identity(path, digests);
    if (!identity) {
      return std::nullopt;
    }
    *contents += fmt::format(", {} {}", name, *identity);
  }
  return contents;
}

} // namespace

std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders) {
  std::vector<std::filesystem::path> folders = folders_of_variable("PATH");
  folders.insert(folders.end(), further_folders.begin(), further_folders.end());
  for (const std::filesystem::path& folder : folders) {
    if (const auto program = worker::program_in(folder, name)) {
      std::error_code error; // the tool runs in another directory
      return std::filesystem::absolute(*program, error);
    }
  }
  return std::nullopt;
}

std::string_view reason_in(std::string_view output) {
  constexpr std::size_t k_max_bytes = 300;
  std::string_view last;
  for (const std::string_view untrimmed : base::split_lines(output)) {
    const std::string_view line = base::without_blanks(untrimmed);
    if (line.find("error") != std::string_view::npos ||
        line.find("fatal") != std::string_view::npos) {
      return line.substr(0, k_max_bytes);
    }
    last = line.empty() ? last : line;
  }
  return last.substr(0, k_max_bytes);
}

Result<ToolSession> ToolSession::start(const ToolPaths& tools,
                                       const worker::WorkerSettings& settings,
                                       std::chrono::seconds timeout,
                                       std::string_view folder_prefix) {
  CLBIN_TRY_ASSIGN(auto folder,
                   base::TemporaryFolder::create(settings.home->path(), folder_prefix));
  return ToolSession(tools, settings, timeout, std::move(folder));
}

const std::filesystem::path& ToolSession::path(std::string_view tool) const {
  return m_tools.find(tool)->second;
}

Result<ToolRun> ToolSession::run(std::string_view tool, const Words& arguments) const {
  const std::string name = path(tool).filename().string();
  const std::filesystem::path output = folder() / "output";
  worker::WorkerHome& home = *m_settings.home;
  CLBIN_TRY_ASSIGN(const pid_t process, start_tool(path(tool), arguments, folder(), output, home));
  RunningTool running(process, home);
  const auto exited = wait_for_exit(running, name, m_settings, m_timeout);
  const std::optional<worker::ProcessEnd> end = running.end();
  home.stay_if_interrupted();
  CLBIN_TRY(exited);
  if (!end) {
    return fail(ErrorCode::internal, "the exit status of {} is not known", name);
  }
  if (!end->crash.empty()) {
    return fail(ErrorCode::internal, "{} crashed ({})", name, end->crash);
  }
  return ToolRun{end->exit_status, printed(output)};
}

Result<void> ToolSession::run_step(std::string_view tool, const Words& arguments) const {
  CLBIN_TRY_ASSIGN(const ToolRun done, run(tool, arguments));
  if (done.exit_status != 0) {
    return fail(ErrorCode::internal, "{}", failure_text(tool, done));
  }
  return {};
}

Result<void> ToolSession::write_input(const char* name, std::string_view text) const {
  return base::write_output_file(folder() / name, base::as_bytes(text));
}

Result<base::Bytes> ToolSession::read_output(std::string_view tool, const char* name) const {
  constexpr std::uint64_t k_max_bytes = 1ULL << 30U;
  auto bytes = base::read_whole_file(folder() / name, k_max_bytes);
  if (bytes) {
    return bytes;
  }
  if (bytes.error().code == ErrorCode::file_not_found) {
    return fail(ErrorCode::internal, "{} wrote no file", tool);
  }
  return fail(ErrorCode::internal, "cannot read the output of {}: {}", tool, bytes.error().message);
}

Result<std::string> print_version(const ToolSession& session, std::string_view tool) {
  CLBIN_TRY_ASSIGN(ToolRun run, session.run(tool, {"--version"}));
  if (run.exit_status != 0) {
    return fail(ErrorCode::internal, "{}",
                failure_text(fmt::format("'{} --version'", session.path(tool).string()), run));
  }
  return std::move(run.output);
}

std::string failure_text(std::string_view tool, const ToolRun& run) {
  const std::string_view reason = reason_in(run.output);
  return fmt::format("{} ended with {}{}{}", tool, run.exit_status,
                     reason.empty() ? ", without a message" : ": ", reason);
}

std::string debian_release_in(std::string_view os_release) {
  constexpr std::string_view k_version = "VERSION_ID=";
  bool is_debian = false;
  std::string version;
  for (const std::string_view untrimmed : base::split_lines(os_release)) {
    const std::string_view line = base::without_blanks(untrimmed);
    is_debian = is_debian || line == "ID=debian" || line == "ID=\"debian\"";
    if (line.starts_with(k_version)) {
      version = line.substr(k_version.size());
      std::erase(version, '"');
    }
  }
  return is_debian ? version : std::string();
}

std::string debian_release() {
  constexpr std::uint64_t k_max_bytes = 64ULL << 10U;
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    if (const auto bytes = base::read_whole_file(path, k_max_bytes)) {
      return debian_release_in(base::as_text(*bytes));
    }
  }
  return {};
}

Result<void> require_tools(const std::vector<TargetTools>& targets, const ToolPaths& given,
                           std::string_view debian) {
  CLBIN_TRY(require_given(given));
  LackingTargets with_packages;
  LackingTargets without_packages;
  for (const TargetTools& target : targets) {
    const MissingTools missing = missing_tools(target.rows, given, debian);
    if (!missing.packages.empty()) {
      with_packages.add(target.name, missing.packages);
    } else if (!missing.is_empty()) {
      without_packages.add(target.name, missing.files);
    }
  }
  std::vector<std::string> parts;
  if (!with_packages.names.empty()) {
    parts.push_back(fmt::format("{}; install Debian's package{} {}", with_packages.text(),
                                with_packages.lacking.size() == 1 ? "" : "s",
                                fmt::join(with_packages.lacking, " ")));
  }
  if (!without_packages.names.empty()) {
    parts.push_back(
        fmt::format("{}: {}", without_packages.text(), fmt::join(without_packages.lacking, " ")));
  }
  return parts.empty() ? Result<void>() : fail(ErrorCode::no_device, "{}", fmt::join(parts, "; "));
}

Result<ToolPaths> find_tools(std::string_view target, const std::vector<ToolRow>& rows,
                             const ToolPaths& given, std::string_view debian) {
  CLBIN_TRY(require_given(given));
  if (auto found = first_complete(rows, given)) {
    return *std::move(found);
  }
  return tl::unexpected(require_tools({{std::string(target), rows}}, given, debian).error());
}

MissingTools missing_tools(const std::vector<ToolRow>& rows, const ToolPaths& given,
                           std::string_view debian) {
  MissingTools missing;
  if (first_complete(rows, given)) {
    return missing;
  }
  const auto own = std::ranges::find_if(
      rows, [&](const ToolRow& row) { return !debian.empty() && row.debian == debian; });
  const ToolRow& row = own == rows.end() ? rows.front() : *own;
  const ToolPaths found = tools_of(row, given);
  for (const ToolRow::Tool& tool : row.tools) {
    if (found.find(tool.name) == found.end()) {
      missing.files.push_back(tool.file);
      missing.packages.push_back(tool.package);
    }
  }
  if (own == rows.end() || has(missing.packages, "")) {
    missing.packages.clear();
  }
  return missing;
}

std::optional<std::vector<clbin::cache::Ingredient>>
shared_ingredients_of(const ToolPaths& tools, ContentDigests& digests) {
  std::vector<clbin::cache::Ingredient> ingredients;
  for (const auto& [name, path] : tools) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    auto contents = error ? std::nullopt : shared_contents_of(real, digests);
    if (!contents) {
      return std::nullopt;
    }
    ingredients.push_back({name, *std::move(contents), clbin::cache::ShowValue::no});
  }
  return ingredients;
}

Result<std::vector<clbin::cache::Ingredient>> ToolDigests::ingredients_of(const ToolPaths& tools) {
  std::vector<clbin::cache::Ingredient> ingredients;
  for (const auto& [name, path] : tools) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    auto found = m_digests.find(real);
    if (found == m_digests.end()) {
      const auto digest = m_contents.of(path);
      if (!digest) {
        return fail(ErrorCode::file_read, "cannot read '{}'", path.string());
      }
      found = m_digests
                  .emplace(real,
                           fmt::format("{} {}", *digest, fmt::join(stamps_of_libraries(real), " ")))
                  .first;
    }
    ingredients.push_back({name, found->second, clbin::cache::ShowValue::no});
  }
  return ingredients;
}

} // namespace oclcc::offline

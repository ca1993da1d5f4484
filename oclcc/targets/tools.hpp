// The programs and libraries that offline compilers call: which versions of them are used, and how
// they are run.
#pragma once

#include "base/text.hpp"
#include "cache/cache_recipe.hpp"
#include "terminal/reporter.hpp"
#include "units/content_digests.hpp"
#include "worker/worker_process.hpp"

namespace oclcc::offline {

using Words = std::vector<std::string>;

// Returns the words between spaces.
[[nodiscard]] inline Words words_of(std::string_view text) {
  const auto words = base::words_between_spaces(text);
  return {words.begin(), words.end()};
}

inline Words operator+(Words words, const Words& further) {
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

[[nodiscard]] inline bool has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

[[nodiscard]] inline base::Bytes bytes_of(std::string_view text) {
  const base::ByteView bytes = base::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

// Removes the first line from `text`, and returns it without its line feed.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Returns the first executable file `name` in the directories of PATH, then in `further_folders`.
[[nodiscard]] std::optional<std::filesystem::path>
find_tool(std::string_view name, const std::vector<std::filesystem::path>& further_folders);

struct ToolRun {
  int exit_status = 0;
  std::string output; // standard output and standard error, interleaved
};

// Returns the first error in the output of a tool, otherwise its last line, of at most 300 bytes.
[[nodiscard]] std::string_view reason_in(std::string_view output);

// Returns "clang ended with 1: error: …", with reason_in() of what a tool printed that failed.
[[nodiscard]] std::string failure_text(std::string_view tool, const ToolRun& run);

// Tools by name, "clang".
using ToolPaths = std::map<std::string, std::filesystem::path, std::less<>>;

// "clang build ID": beside the version of a program, its GNU build ID is recorded if it has one,
// because two builds of one version may make different code.
constexpr std::string_view k_build_id_suffix = " build ID";

// One run of the tools, in a temporary folder of its own.
class ToolSession {
public:
  // Creates the folder in the home of `settings`, which must have one. `tools` and `settings` must
  // outlive the session; `timeout` is for each run of a tool. file_write.
  [[nodiscard]] static Result<ToolSession> start(const ToolPaths& tools,
                                                 const worker::WorkerSettings& settings,
                                                 std::chrono::seconds timeout,
                                                 std::string_view folder_prefix);

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return m_folder.path(); }
  [[nodiscard]] const std::filesystem::path& path(std::string_view tool) const;
  // Runs the tool in the folder, without input, and blocks until it exits. The home ends the tool,
  // and what the tool started, when oclcc is interrupted. internal: the tool cannot be started,
  // crashed ("ptxas crashed (signal 11)"), or was killed after the timeout or because it exceeded
  // the memory limit of the settings.
  [[nodiscard]] Result<ToolRun> run(std::string_view tool, const Words& arguments) const;
  // Likewise. internal, with failure_text, if the tool failed.
  [[nodiscard]] Result<void> run_step(std::string_view tool, const Words& arguments) const;

  [[nodiscard]] Result<void> write_input(const char* name, std::string_view text) const;
  // Reads a file in the folder that `tool` should have written. internal: there is none, or it is
  // larger than 1 GiB.
  [[nodiscard]] Result<base::Bytes> read_output(std::string_view tool, const char* name) const;

private:
  ToolSession(const ToolPaths& tools, const worker::WorkerSettings& settings,
              std::chrono::seconds timeout, base::TemporaryFolder folder)
      : m_tools(tools), m_settings(settings), m_timeout(timeout), m_folder(std::move(folder)) {}

  const ToolPaths& m_tools;
  const worker::WorkerSettings& m_settings;
  std::chrono::seconds m_timeout;
  base::TemporaryFolder m_folder;
};

// Returns what "TOOL --version" prints. internal, with failure_text, if the tool failed.
[[nodiscard]] Result<std::string> print_version(const ToolSession& session, std::string_view tool);

// One row of the table of what was tested together.
struct ToolRow {
  struct Tool {
    std::string name;    // "clang"
    std::string file;    // "clang-15", in PATH; of a library, an absolute path
    std::string package; // empty if the row's release of Debian has none
    std::vector<std::filesystem::path> folders{}; // searched after PATH
    // Beginnings of the versions that were tested, "13.0", if the file name does not contain them.
    std::vector<std::string> tested_versions{};
  };
  std::vector<Tool> tools;
  std::string debian{}; // the release of Debian that has the packages, "12"
};

// Returns the release of Debian, "12", that a file like os-release(5) names; empty if it is another
// distribution. Of derivatives of Debian it is not known which packages they have.
[[nodiscard]] std::string debian_release_in(std::string_view os_release);
// Returns the release of Debian that runs here; empty if another distribution does.
[[nodiscard]] std::string debian_release();

// What no row has completely.
struct MissingTools {
  // Of the row for this release of Debian; empty if there is none, or if one of them does not
  // exist.
  std::vector<std::string> packages;
  // File names of the programs, and paths of the libraries, otherwise of the first row.
  std::vector<std::string> files;

  [[nodiscard]] bool is_empty() const noexcept { return files.empty(); }
};
[[nodiscard]] MissingTools missing_tools(const std::vector<ToolRow>& rows, const ToolPaths& given,
                                         std::string_view debian);

// A target, "spirv:1.2", or what else needs tools, and the sets of tools that serve it.
struct TargetTools {
  std::string name;
  std::vector<ToolRow> rows;
};
// Requires a complete row of each target, without starting a tool. `given`, of --tool NAME=PATH,
// replace what is searched for; a name without a slash that is no file is searched for in PATH.
// no_device, with what missing_tools() returns of all targets; file_not_found: a given path does
// not exist.
[[nodiscard]] Result<void> require_tools(const std::vector<TargetTools>& targets,
                                         const ToolPaths& given, std::string_view debian);
// Returns the tools of the first complete row. Errors as above.
[[nodiscard]] Result<ToolPaths> find_tools(std::string_view target,
                                           const std::vector<ToolRow>& rows, const ToolPaths& given,
                                           std::string_view debian);

// Returns ingredients like those of ToolDigests, but with the shared libraries by library_identity,
// so that they are the same on every machine with these files. std::nullopt if a file cannot be
// found or read.
[[nodiscard]] std::optional<std::vector<clbin::cache::Ingredient>>
shared_ingredients_of(const ToolPaths& tools, ContentDigests& digests);

// Digests tools, each once. Not thread-safe.
class ToolDigests {
public:
  // `contents` may remember digests from run to run.
  explicit ToolDigests(ContentDigests contents) : m_contents(std::move(contents)) {}

  // Returns ingredients of a cache key, which change if the bytes of any of `tools`, or the shared
  // libraries of compilers that they load, change. They do not depend on where the tools are.
  // file_read: a tool cannot be read, or changes meanwhile.
  [[nodiscard]] Result<std::vector<clbin::cache::Ingredient>>
  ingredients_of(const ToolPaths& tools);

private:
  ContentDigests m_contents;
  std::map<std::filesystem::path, std::string> m_digests;
};

} // namespace oclcc::offline

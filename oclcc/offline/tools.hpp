// The programs and libraries that offline compilers call: which versions of them are used, and how
// they are run.
#pragma once

#include "base/result.hpp"
#include "cache/cache_recipe.hpp"
#include "cache/content_digests.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oclcc::offline {

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

// Returns `text` without white space at its end.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Returns the first error in the output of a tool, otherwise its last line, of at most 300 bytes.
[[nodiscard]] std::string_view reason_in(std::string_view output);

// Returns "clang ended with 1: error: …", with reason_in() of what a tool printed that failed.
[[nodiscard]] std::string failure_text(std::string_view tool, const ToolRun& run);

// Runs the tool in `folder`, without input, and blocks until it exits. `settings` must have a home:
// it ends the tool, and what the tool started, when oclcc is interrupted. internal: the tool cannot
// be started, crashed ("ptxas crashed (signal 11)"), or was killed after `timeout` or because it
// exceeded the memory limit of `settings`.
[[nodiscard]] clbin::base::Result<ToolRun> run_tool(const std::filesystem::path& tool,
                                                    const std::vector<std::string>& arguments,
                                                    const std::filesystem::path& folder,
                                                    const worker::WorkerSettings& settings,
                                                    std::chrono::seconds timeout);

// Tools by name, "clang".
using ToolPaths = std::map<std::string, std::filesystem::path, std::less<>>;

// One row of the table of what was tested together.
struct ToolRow {
  struct Tool {
    std::string name; // "clang"
    std::string file; // "clang-15", in PATH; of a library, an absolute path
    std::string package;
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

// Returns the tools of the first row whose tools all exist, without starting any. `given`, of
// --tool NAME=PATH, replace what is searched for; a name without a slash that is no file is
// searched for in PATH. no_device, with what missing_tools() returns; file_not_found: a given path
// does not exist.
[[nodiscard]] clbin::base::Result<ToolPaths> find_tools(std::string_view target,
                                                        const std::vector<ToolRow>& rows,
                                                        const ToolPaths& given,
                                                        std::string_view debian);

// What no row has completely.
struct MissingTools {
  // Of the row for this release of Debian; empty if there is none.
  std::vector<std::string> packages;
  // File names of the programs, and paths of the libraries, otherwise of the first row.
  std::vector<std::string> files;

  [[nodiscard]] bool is_empty() const noexcept { return files.empty(); }
};
[[nodiscard]] MissingTools missing_tools(const std::vector<ToolRow>& rows, const ToolPaths& given,
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
  [[nodiscard]] clbin::base::Result<std::vector<clbin::cache::Ingredient>>
  ingredients_of(const ToolPaths& tools);

private:
  ContentDigests m_contents;
  std::map<std::filesystem::path, std::string> m_digests;
};

} // namespace oclcc::offline

#include "offline/tools.hpp"

#include "base/file_io.hpp"
#include "cache/shared_object.hpp"
#include "cache/unit_recipe.hpp"
#include "offline/text_lines.hpp"
#include "offline/tool_process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

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

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// Returns the shared libraries of compilers that the program loads. Those of other versions, which
// other programs load, are not among them. It is not known what a script starts: returns all that
// are beside it.
Libraries libraries_of(const std::filesystem::path& program) {
  LibrarySearch search(program);
  if (const auto object = read_shared_object(program)) {
    search.add_all_of(*object);
  } else if (is_program(program)) {
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

std::string debian_release_in(std::string_view os_release) {
  constexpr std::string_view k_version = "VERSION_ID=";
  bool is_debian = false;
  std::string version;
  while (!os_release.empty()) {
    const std::string_view line = trimmed(take_line(os_release));
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
    if (const auto bytes = clbin::base::read_whole_file(path, k_max_bytes)) {
      return debian_release_in(clbin::base::as_text(*bytes));
    }
  }
  return {};
}

Result<ToolPaths> find_tools(std::string_view target, const std::vector<ToolRow>& rows,
                             const ToolPaths& given, std::string_view debian) {
  CLBIN_TRY(require_given(given));
  if (auto found = first_complete(rows, given)) {
    return *std::move(found);
  }
  const MissingTools missing = missing_tools(rows, given, debian);
  if (missing.packages.empty()) {
    return fail(ErrorCode::no_device, "'{}' needs programs that are not installed: {}", target,
                fmt::join(missing.files, " "));
  }
  return fail(ErrorCode::no_device,
              "'{}' needs programs that are not installed; install Debian's package{} {}", target,
              missing.packages.size() == 1 ? "" : "s", fmt::join(missing.packages, " "));
}

MissingTools missing_tools(const std::vector<ToolRow>& rows, const ToolPaths& given,
                           std::string_view debian) {
  MissingTools missing;
  if (first_complete(rows, given)) {
    return missing;
  }
  const auto own = std::find_if(rows.begin(), rows.end(), [&](const ToolRow& row) {
    return !debian.empty() && row.debian == debian;
  });
  const ToolRow& row = own == rows.end() ? rows.front() : *own;
  const ToolPaths found = tools_of(row, given);
  for (const ToolRow::Tool& tool : row.tools) {
    if (found.find(tool.name) == found.end()) {
      missing.files.push_back(tool.file);
      if (own != rows.end()) {
        missing.packages.push_back(tool.package);
      }
    }
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

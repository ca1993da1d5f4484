#include "offline/tools.hpp"

#include "base/digest.hpp"
#include "base/file_io.hpp"
#include "cache/unit_recipe.hpp"
#include "offline/tool_process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <system_error>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr std::uint64_t k_max_tool_bytes = 1ULL << 30U;

std::optional<std::filesystem::path> locate(const ToolRow::Tool& tool, const ToolPaths& given) {
  if (const auto found = given.find(tool.name); found != given.end()) {
    std::error_code error; // tools run in other folders
    const auto path = std::filesystem::absolute(found->second, error);
    return error ? found->second : path;
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
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return fail(ErrorCode::file_not_found, "'--tool {}={}': there is no such file", name,
                  path.string());
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

bool is_library_of_a_compiler(std::string_view name) {
  constexpr std::string_view k_libraries[] = {"libLLVM", "libclang-cpp", "libocloc",
                                              "libigc",  "libigdfcl",    "libopencl-clang"};
  return std::any_of(std::begin(k_libraries), std::end(k_libraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

// Returns the folder beside that of the program, and Debian's for one architecture in it.
std::vector<std::filesystem::path> library_folders(const std::filesystem::path& program) {
  const std::filesystem::path own = program.parent_path() / "../lib";
  std::vector<std::filesystem::path> folders = {own};
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

// Returns the shared libraries of compilers beside the program, in any order.
std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& program) {
  std::vector<std::filesystem::path> libraries;
  std::error_code error;
  for (const std::filesystem::path& folder : library_folders(program)) {
    for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
      if (is_library_of_a_compiler(file.path().filename().string())) {
        libraries.push_back(file.path());
      }
    }
  }
  return libraries;
}

// Debian's clang is a small program over two libraries of more than 150 MB, and ocloc one over
// Intel's compiler, which take too long to digest in each run. Their sizes and times change with
// the package, as ccache relies on.
std::vector<std::string> stamps_of_libraries(const std::filesystem::path& program) {
  std::vector<std::string> stamps;
  for (const auto& file : libraries_of(program)) {
    stamps.push_back(fmt::format("{} {}", file.filename().string(), file_stamp(file)));
  }
  std::sort(stamps.begin(), stamps.end()); // folders list their files in any order
  return stamps;
}

// Of a folder, such as AMD's device libraries: the digests of its files.
Result<std::string> digest_of_tool(const std::filesystem::path& tool) {
  std::error_code error;
  if (!std::filesystem::is_directory(tool, error)) {
    CLBIN_TRY_ASSIGN(const auto bytes, clbin::base::read_whole_file(tool, k_max_tool_bytes));
    return clbin::base::to_hex(clbin::base::digest_of(bytes));
  }
  std::vector<std::string> lines;
  for (const auto& file : std::filesystem::directory_iterator(tool, error)) {
    if (file.is_regular_file(error)) {
      CLBIN_TRY_ASSIGN(const std::string digest, digest_of_tool(file.path()));
      lines.push_back(fmt::format("{} {}\n", file.path().filename().string(), digest));
    }
  }
  std::sort(lines.begin(), lines.end());
  return clbin::base::to_hex(
      clbin::base::digest_of(clbin::base::as_bytes(fmt::format("{}", fmt::join(lines, "")))));
}

} // namespace

Result<ToolPaths> find_tools(std::string_view target, const std::vector<ToolRow>& rows,
                             const ToolPaths& given) {
  CLBIN_TRY(require_given(given));
  if (auto found = first_complete(rows, given)) {
    return *std::move(found);
  }
  const std::vector<std::string> missing = missing_packages(rows, given);
  return fail(ErrorCode::no_device,
              "'{}' needs programs that are not installed; install Debian's package{} {}", target,
              missing.size() == 1 ? "" : "s", fmt::join(missing, " "));
}

std::vector<std::string> missing_packages(const std::vector<ToolRow>& rows,
                                          const ToolPaths& given) {
  std::vector<std::string> packages;
  if (first_complete(rows, given)) {
    return packages;
  }
  const ToolPaths found = tools_of(rows.front(), given);
  for (const ToolRow::Tool& tool : rows.front().tools) {
    if (found.find(tool.name) == found.end()) {
      packages.push_back(tool.package);
    }
  }
  return packages;
}

std::optional<std::vector<clbin::cache::Ingredient>>
shared_ingredients_of(const ToolPaths& tools, ContentDigests& digests) {
  std::vector<clbin::cache::Ingredient> ingredients;
  for (const auto& [name, path] : tools) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    std::vector<std::string> contents = {digests.of(real).value_or("")};
    for (const auto& file : libraries_of(real)) {
      contents.push_back(digests.of(file).value_or(""));
      if (!contents.back().empty()) {
        contents.back() = fmt::format("{} {}", file.filename().string(), contents.back());
      }
    }
    if (error || std::ranges::find(contents, "") != contents.end()) {
      return std::nullopt;
    }
    std::sort(contents.begin() + 1, contents.end()); // folders list their files in any order
    ingredients.push_back(
        {name, fmt::format("{}", fmt::join(contents, " ")), clbin::cache::ShowValue::no});
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
      CLBIN_TRY_ASSIGN(const std::string digest, digest_of_tool(error ? path : real));
      found = m_digests
                  .emplace(real,
                           fmt::format("{} {}", digest, fmt::join(stamps_of_libraries(real), " ")))
                  .first;
    }
    ingredients.push_back({name, found->second, clbin::cache::ShowValue::no});
  }
  return ingredients;
}

} // namespace oclcc::offline

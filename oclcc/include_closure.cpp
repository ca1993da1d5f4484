#include "include_closure.hpp"

#include "base/file_io.hpp"
#include "directive_scanner.hpp"
#include "include_names.hpp"
#include "macro_options.hpp"
#include "source_map.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace oclcc {

namespace base = clbin::base;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_max_file_bytes = 64ULL << 20U;
constexpr std::size_t k_max_files = 10000;
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

// The header names that an #include may spell, and the files that were found for them.
using Meanings = std::map<std::string, std::optional<std::size_t>>;

struct ClosureFile {
  fs::path path; // as the user would write it
  std::string text;
  Directives directives;
  // By directive: what it may mean. Several only where a macro has several values.
  std::vector<Meanings> meanings;
  std::string spelling; // of the first #include that reached it; empty: none did
};

enum class EmptyFile : std::uint8_t { refuse, accept };

base::Result<std::string> read_text(const fs::path& path, EmptyFile empty) {
  CLBIN_TRY_ASSIGN(const base::Bytes bytes, base::read_whole_file(path, k_max_file_bytes));
  std::string_view text = base::as_text(bytes);
  if (text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  if (text.empty() && empty == EmptyFile::refuse) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' is empty", path.string());
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' is not source text: it has a zero byte at offset {}", path.string(),
                      zero);
  }
  return std::string(text);
}

fs::path shown_path(const fs::path& path) {
  return path == "-" ? fs::path("<stdin>") : path;
}

struct Replacement {
  TextRange range;
  std::string name;
};

std::string replace_all(std::string text, std::vector<Replacement> replacements) {
  std::sort(
      replacements.begin(), replacements.end(),
      [](const Replacement& a, const Replacement& b) { return a.range.begin > b.range.begin; });
  for (const Replacement& replacement : replacements) {
    const TextRange& range = replacement.range;
    std::string token = "\"" + replacement.name + "\"";
    // A name broken over lines by continuations: the lines after it keep their numbers.
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(range.end);
    for (auto count = std::count(begin, end, '\n'); count > 0; --count) {
      token += "\\\n";
    }
    text.replace(range.begin, range.end - range.begin, token);
  }
  return text;
}

MacroOptions split(const IncludeSearch& search) {
  return split_macro_options(search.driver_options, macros_named_by(search.variant_options));
}

class ClosureBuilder {
public:
  explicit ClosureBuilder(const IncludeSearch& search)
      : m_search(search), m_macro_options(split(search)) {
    add_macro_values(search.driver_options, m_macros);
    add_macro_values(search.variant_options, m_macros);
  }

  base::Result<IncludeClosure> build(const fs::path& main_file) {
    CLBIN_TRY_ASSIGN(std::string text, read_text(main_file, EmptyFile::refuse));
    // Standard input lies in no folder, and nothing can include it.
    const std::string key = main_file == "-" ? std::string() : key_of(main_file);
    CLBIN_TRY(add_file(key, shown_path(main_file), std::move(text)));
    CLBIN_TRY(add_forced_includes());
    CLBIN_TRY(resolve_all());
    return make_closure(main_file);
  }

private:
  static std::string key_of(const fs::path& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    return error ? path.string() : canonical.string();
  }

  base::Result<std::size_t> add_file(const std::string& key, const fs::path& path,
                                     std::string text) {
    if (m_files.size() == k_max_files) {
      return base::fail(base::ErrorCode::invalid_argument, "'{}' is one of more than {} headers",
                        path.string(), k_max_files);
    }
    ClosureFile file;
    file.path = path;
    file.directives = scan_directives(text);
    file.text = std::move(text);
    file.meanings.resize(file.directives.includes.size());
    for (const MacroDefinition& macro : file.directives.macros) {
      m_macros[macro.name].insert(macro.value);
    }
    m_files.push_back(std::move(file));
    m_known.emplace(key, m_files.size() - 1);
    return m_files.size() - 1;
  }

  // The file at `path`, or nothing where there is no regular file.
  base::Result<std::optional<std::size_t>> find_file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      return std::nullopt;
    }
    const std::string key = key_of(path);
    if (const auto known = m_known.find(key); known != m_known.end()) {
      return known->second;
    }
    CLBIN_TRY_ASSIGN(std::string text, read_text(path, EmptyFile::accept));
    CLBIN_TRY_ASSIGN(const std::size_t index, add_file(key, path, std::move(text)));
    return index;
  }

  base::Result<void> add_forced_includes() {
    for (const fs::path& name : m_search.forced_includes) {
      CLBIN_TRY_ASSIGN(std::optional<std::size_t> found, find_file(name));
      if (!found) {
        CLBIN_TRY_ASSIGN(found, find_in_folders(name));
      }
      if (!found) {
        return base::fail(base::ErrorCode::file_not_found,
                          "cannot open '{}', which '-include' names: No such file or directory",
                          name.string());
      }
      reach(*found, name.string());
      m_forced.push_back(*found);
    }
    return {};
  }

  void reach(std::size_t index, const std::string& spelling) {
    if (m_files[index].spelling.empty()) {
      m_files[index].spelling = spelling;
    }
  }

  base::Result<std::optional<std::size_t>> find_in_folders(const fs::path& name) {
    for (const fs::path& folder : m_search.folders) {
      CLBIN_TRY_ASSIGN(const auto found, find_file(folder / name));
      if (found) {
        return found;
      }
    }
    return std::nullopt;
  }

  base::Result<std::optional<std::size_t>> find_include(std::size_t from, IncludeForm form,
                                                        const std::string& name) {
    if (form == IncludeForm::quoted) {
      CLBIN_TRY_ASSIGN(const auto beside, find_file(m_files[from].path.parent_path() / name));
      if (beside) {
        return beside;
      }
    }
    return find_in_folders(name);
  }

  // New files may bring new values of macros, and those new files: until nothing is new.
  base::Result<void> resolve_all() {
    for (std::size_t resolved = 0; resolved != m_files.size();) {
      CLBIN_TRY(resolve_from(resolved));
      resolved = m_files.size();
      CLBIN_TRY(resolve_macros());
    }
    return {};
  }

  base::Result<void> resolve_from(std::size_t first) {
    for (std::size_t i = first; i < m_files.size(); ++i) {
      CLBIN_TRY(resolve_file(i));
    }
    return {};
  }

  base::Result<void> resolve_file(std::size_t index) {
    for (std::size_t i = 0; i < m_files[index].meanings.size(); ++i) {
      CLBIN_TRY(resolve_name(index, i, m_files[index].directives.includes[i]));
    }
    return {};
  }

  base::Result<void> resolve_name(std::size_t index, std::size_t include,
                                  const IncludeDirective& meant) {
    return meant.form == IncludeForm::macro
               ? base::Result<void>()
               : add_meaning(index, include, meant.form, std::string(meant.name));
  }

  base::Result<void> resolve_macros() {
    const std::size_t count = m_files.size();
    for (std::size_t i = 0; i < count; ++i) {
      CLBIN_TRY(resolve_macros_of(i));
    }
    return {};
  }

  base::Result<void> resolve_macros_of(std::size_t index) {
    for (std::size_t i = 0; i < m_files[index].meanings.size(); ++i) {
      CLBIN_TRY(resolve_macro(index, i));
    }
    return {};
  }

  base::Result<void> resolve_macro(std::size_t index, std::size_t include) {
    const IncludeDirective directive = m_files[index].directives.includes[include];
    if (directive.form != IncludeForm::macro) {
      return {};
    }
    for (const IncludeDirective& meant : header_names_of(directive.name, m_files[index].path)) {
      CLBIN_TRY(resolve_name(index, include, meant));
    }
    return {};
  }

  // All that #include NAME may spell, through macros whose value is a macro's name.
  std::vector<IncludeDirective> header_names_of(const std::string& name, const fs::path& file) {
    if (name == "__FILE__") {
      return {{IncludeForm::quoted, file.filename().string(), {}}};
    }
    std::vector<IncludeDirective> header_names;
    std::set<std::string> seen = {name};
    for (std::vector<std::string> pending = {name}; !pending.empty();) {
      const std::string macro = pending.back();
      pending.pop_back();
      m_included_macros.insert(macro);
      for (const std::string& value : m_macros[macro]) {
        IncludeDirective meant = parse_header_name(value);
        if (meant.form != IncludeForm::macro) {
          header_names.push_back(std::move(meant));
        } else if (meant.name == value && seen.insert(value).second) {
          pending.push_back(value);
        }
      }
    }
    return header_names;
  }

  base::Result<void> add_meaning(std::size_t index, std::size_t include, IncludeForm form,
                                 const std::string& name) {
    CLBIN_TRY_ASSIGN(const auto found, find_include(index, form, name));
    if (found) {
      reach(*found, name);
    }
    m_files[index].meanings[include][(form == IncludeForm::quoted ? '"' : '<') + name] = found;
    return {};
  }

  void add_edges(std::size_t index, std::vector<IncludeEdge>& edges) const {
    for (const Meanings& meanings : m_files[index].meanings) {
      for (const auto& [spelling, target] : meanings) {
        if (target) {
          edges.push_back({index, *target});
        }
      }
    }
  }

  std::vector<std::string> choose_names() const {
    std::vector<std::string> spellings;
    std::vector<IncludeEdge> edges;
    for (std::size_t i = 0; i < m_files.size(); ++i) {
      spellings.push_back(m_files[i].spelling);
      add_edges(i, edges);
    }
    return choose_include_names(spellings, edges);
  }

  std::string rewritten_text(const ClosureFile& file, const std::vector<std::string>& names) const {
    std::vector<Replacement> replacements;
    for (std::size_t i = 0; i < file.meanings.size(); ++i) {
      const IncludeDirective& include = file.directives.includes[i];
      const Meanings& meanings = file.meanings[i];
      if (meanings.size() == 1 && meanings.begin()->second) {
        const std::string& name = names[*meanings.begin()->second];
        if (include.form != IncludeForm::quoted || include.name != name) {
          replacements.push_back({include.token, name});
        }
      }
    }
    for (const MacroDefinition& macro : file.directives.macros) {
      if (const auto target = only_target_of(macro)) {
        replacements.push_back({macro.token, names[*target]});
      }
    }
    return replace_all(file.text, std::move(replacements));
  }

  // Where #include NAME has several meanings, the #define lines that spell them are rewritten.
  std::optional<std::size_t> only_target_of(const MacroDefinition& macro) const {
    const IncludeDirective meant = parse_header_name(macro.value);
    if (meant.form == IncludeForm::macro || m_included_macros.count(macro.name) == 0) {
      return std::nullopt;
    }
    const std::string spelling = (meant.form == IncludeForm::quoted ? '"' : '<') + meant.name;
    std::optional<std::size_t> result;
    for (const ClosureFile& file : m_files) {
      for (const Meanings& meanings : file.meanings) {
        const auto found = meanings.find(spelling);
        if (meanings.size() < 2 || found == meanings.end() || !found->second) {
          continue;
        }
        if (result && result != found->second) {
          return std::nullopt;
        }
        result = found->second;
      }
    }
    return result;
  }

  [[nodiscard]] bool needs_prologue() const {
    return !m_macro_options.lines.empty() || !m_forced.empty();
  }

  std::string prologue(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& line : m_macro_options.lines) {
      text += line + "\n";
    }
    for (const std::size_t index : m_forced) {
      text += "#include \"" + names[index] + "\"\n";
    }
    return text + "#include \"" + names.front() + "\"\n";
  }

  IncludeClosure make_closure(const fs::path& main_file) {
    const std::string main_name = main_file == "-" ? "stdin.cl" : main_file.filename().string();
    if (needs_prologue()) {
      reach(0, main_name);
    }
    const std::vector<std::string> names = choose_names();
    IncludeClosure closure;
    const std::string display = m_files.front().path.string();
    closure.package.main =
        needs_prologue()
            ? clbin::format::SourceFile{std::string(k_prologue_name), display, prologue(names)}
            : clbin::format::SourceFile{main_name, display, rewritten_text(m_files.front(), names)};
    for (std::size_t i = 0; i < m_files.size(); ++i) {
      if (!names[i].empty()) {
        closure.package.headers.push_back(
            {names[i], m_files[i].path.string(), rewritten_text(m_files[i], names)});
      }
      if (i != 0 || main_file != "-") {
        closure.files.push_back(m_files[i].path);
      }
    }
    return closure;
  }

  const IncludeSearch& m_search;
  MacroOptions m_macro_options;
  MacroValues m_macros;
  std::set<std::string> m_included_macros;
  std::vector<ClosureFile> m_files; // the main file first
  std::map<std::string, std::size_t> m_known;
  std::vector<std::size_t> m_forced;
};

} // namespace

base::Result<IncludeClosure> find_include_closure(const fs::path& main_file,
                                                  const IncludeSearch& search) {
  return ClosureBuilder(search).build(main_file);
}

std::vector<std::string> driver_options_of(const IncludeSearch& search,
                                           const std::vector<std::string>& variant_options) {
  std::vector<std::string> options = split(search).kept;
  options.insert(options.end(), variant_options.begin(), variant_options.end());
  return cancel_undone(options);
}

clbin::format::SourcePackage without_paths(clbin::format::SourcePackage package) {
  package.main.display_name = fs::path(package.main.display_name).filename().string();
  for (clbin::format::SourceFile& header : package.headers) {
    header.display_name = header.include_name;
  }
  return package;
}

} // namespace oclcc

#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "closure/include_closure.hpp"
#include "closure/macro_options.hpp"

namespace clbin::closure {

namespace fs = std::filesystem;

IncludeWarning warning_at(const IncludedFile& file, std::size_t offset, std::string text) {
  const std::string_view before = std::string_view(file.text).substr(0, offset);
  const std::size_t line_begin = before.find_last_of("\r\n") + 1; // npos + 1 is 0
  const std::size_t line_end = file.text.find_first_of("\r\n", offset);
  IncludeWarning warning;
  warning.file = base::name_of(file.place.path);
  warning.line = static_cast<std::uint32_t>(source::count_line_ends(before) + 1);
  warning.column = static_cast<std::uint32_t>(offset - line_begin + 1);
  warning.text = std::move(text);
  warning.source_line = file.text.substr(line_begin, line_end - line_begin);
  return warning;
}

namespace {

constexpr std::uint64_t k_max_file_bytes = 64ULL << 20U;
constexpr std::size_t k_max_files = 10000;
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

enum class EmptyFile : std::uint8_t { refuse, accept };

base::Result<std::string> read_text(const fs::path& path, EmptyFile empty) {
  CLBIN_TRY_ASSIGN(const base::Bytes bytes, base::read_whole_file(path, k_max_file_bytes));
  std::string_view text = base::as_text(bytes);
  if (text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  if (text.empty() && empty == EmptyFile::refuse) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' is empty", base::name_of(path));
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' is not source text: it contains a zero byte at offset {}",
                      base::name_of(path), zero);
  }
  // A message about a line of a key file would quote it.
  if (const auto key = base::name_of_key_file(text)) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' is not source text: it is {}",
                      base::name_of(path), *key);
  }
  return std::string(text);
}

std::string key_of(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? base::name_of(path) : base::name_of(canonical);
}

// Returns the possible places of a header, in search order. `from` is the including file, or
// nullptr for -include.
std::vector<HeaderPlace> header_places(const IncludeSearch& search, const HeaderPlace* from,
                                       const IncludeDirective& meant) {
  const fs::path name = base::to_path(meant.name);
  if (name.is_absolute()) {
    return {{name, std::nullopt}};
  }
  std::vector<HeaderPlace> places;
  if (from != nullptr && meant.form == IncludeForm::quoted && meant.start == IncludeStart::first) {
    places.push_back({from->path.parent_path() / name, std::nullopt});
  }
  const bool further = from != nullptr && from->folder && meant.start == IncludeStart::next;
  for (std::size_t i = further ? *from->folder + 1 : 0; i < search.folders.size(); ++i) {
    places.push_back({search.folders[i] / name, i});
  }
  return places;
}

// Whether `path` is a pipe or a device, on which compilers would block. False for a directory,
// which compilers ignore.
bool is_irregular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// The result of a search for one header.
struct Found {
  std::optional<std::size_t> file;
  // The reason why an existing file is not read; empty if `file` is set or no file exists.
  std::optional<base::Error> unread;
};

class GraphBuilder {
public:
  explicit GraphBuilder(const IncludeSearch& search) : m_search(search) {
    add_macro_values(search.driver_options, m_graph.macros);
    add_macro_values(search.variant_options, m_graph.macros);
  }

  base::Result<IncludeGraph> build(const fs::path& main_file) {
    CLBIN_TRY_ASSIGN(std::string text, read_text(main_file, EmptyFile::refuse));
    // Standard input has no directory, and no #include can name it.
    const bool is_stdin = main_file == "-";
    const fs::path shown = is_stdin ? fs::path("<stdin>") : main_file;
    CLBIN_TRY(add_file(is_stdin ? std::string() : key_of(main_file), {shown, std::nullopt},
                       std::move(text)));
    CLBIN_TRY(add_forced_includes());
    CLBIN_TRY(resolve_all());
    return std::move(m_graph);
  }

  base::Result<IncludeGraph> build(MainText main) {
    add_macro_values(main.definitions, m_graph.macros);
    CLBIN_TRY(add_file({}, {base::to_path(main.name), std::nullopt}, std::move(main.text)));
    for (format::SourceFile& header : main.headers) {
      CLBIN_TRY_ASSIGN(
          const std::size_t index,
          add_file({}, {base::to_path(header.include_name), std::nullopt}, std::move(header.text)));
      m_named.insert_or_assign(base::name_of(base::to_path(header.include_name).lexically_normal()),
                               index);
      reach(index, header.include_name);
    }
    m_graph.named_headers = main.headers.size();
    CLBIN_TRY(resolve_all());
    find_unresolved();
    return std::move(m_graph);
  }

private:
  base::Result<std::size_t> add_file(const std::string& key, const HeaderPlace& place,
                                     std::string text) {
    std::vector<IncludedFile>& files = m_graph.files;
    if (files.size() == k_max_files) {
      return base::fail(base::ErrorCode::invalid_argument, "'{}' exceeds the limit of {} headers",
                        base::name_of(place.path), k_max_files);
    }
    IncludedFile file;
    file.place = place;
    file.directives = scan_directives(text);
    file.text = std::move(text);
    file.meanings.resize(file.directives.includes.size());
    for (const MacroDefinition& macro : file.directives.macros) {
      if (m_graph.macros[macro.name].insert(value_of(macro)).second) {
        m_expansions.clear();
      }
    }
    files.push_back(std::move(file));
    if (!key.empty()) {
      m_known.emplace(key, files.size() - 1);
    }
    return files.size() - 1;
  }

  base::Result<Found> read_file(const std::string& key, const HeaderPlace& place) {
    auto text = read_text(place.path, EmptyFile::accept);
    if (!text) {
      m_graph.absent.insert(place.path);
      return Found{std::nullopt, text.error()};
    }
    CLBIN_TRY_ASSIGN(const std::size_t index, add_file(key, place, std::move(*text)));
    return Found{index, std::nullopt};
  }

  base::Result<Found> find_file(const HeaderPlace& place) {
    if (std::error_code error; !fs::is_regular_file(place.path, error)) {
      m_graph.absent.insert(place.path);
      return Found{};
    }
    const std::string key = key_of(place.path);
    const auto known = m_known.find(key);
    return known != m_known.end() ? Found{known->second, std::nullopt} : read_file(key, place);
  }

  base::Result<Found> find_own(const std::string& name) {
    const auto own = m_search.own_headers.find(name);
    if (own == m_search.own_headers.end()) {
      return Found{};
    }
    const std::string key = "<own>/" + name;
    const auto known = m_known.find(key);
    if (known != m_known.end()) {
      return Found{known->second, std::nullopt};
    }
    CLBIN_TRY_ASSIGN(
        const std::size_t index,
        add_file(key, {base::to_path(name), std::nullopt, true}, std::string(own->second)));
    return Found{index, std::nullopt};
  }

  // An unreadable file ends the search, as in gcc; a pipe or a device does not. What no file is may
  // be a header of its own, by its name in the #include line.
  base::Result<Found> find_first(const std::vector<HeaderPlace>& places, const std::string& name) {
    for (const HeaderPlace& place : places) {
      CLBIN_TRY_ASSIGN(Found found, find_file(place));
      if (found.file || found.unread) {
        return found;
      }
    }
    const auto irregular =
        std::ranges::find_if(places, [](const HeaderPlace& p) { return is_irregular(p.path); });
    if (irregular == places.end()) {
      return find_own(name);
    }
    return Found{std::nullopt, base::Error{base::ErrorCode::file_read,
                                           fmt::format("'{}' is not a regular file: it is not read",
                                                       base::name_of(irregular->path))}};
  }

  // The user named this file, so that even a pipe (the shell's <(…)) is read, as in gcc.
  base::Result<Found> find_forced(const fs::path& name) {
    const HeaderPlace here = {name, std::nullopt};
    CLBIN_TRY_ASSIGN(Found found,
                     is_irregular(name) ? read_file(base::name_of(name), here) : find_file(here));
    if (found.file || found.unread) {
      return found;
    }
    IncludeDirective meant;
    meant.name = base::name_of(name);
    return find_first(header_places(m_search, nullptr, meant), meant.name);
  }

  base::Result<void> add_forced_includes() {
    for (const fs::path& name : m_search.forced_includes) {
      CLBIN_TRY_ASSIGN(Found found, find_forced(name));
      if (found.unread) {
        return tl::unexpected<base::Error>(*found.unread);
      }
      if (!found.file) {
        return base::fail(base::ErrorCode::file_not_found,
                          "cannot open '{}', which '-include' names: No such file or directory",
                          base::name_of(name));
      }
      reach(*found.file, base::name_of(name));
      m_graph.forced.push_back(*found.file);
    }
    return {};
  }

  void reach(std::size_t index, const std::string& spelling) {
    if (m_graph.files[index].spelling.empty()) {
      m_graph.files[index].spelling = spelling;
    }
  }

  // Repeats until there are no new files, because new files can define macros that name further
  // files.
  base::Result<void> resolve_all() {
    for (std::size_t resolved = 0; resolved != m_graph.files.size();) {
      for (; resolved < m_graph.files.size(); ++resolved) {
        CLBIN_TRY(resolve_includes(resolved, &GraphBuilder::resolve_name));
      }
      for (std::size_t i = 0; i < resolved; ++i) {
        CLBIN_TRY(resolve_includes(i, &GraphBuilder::resolve_macro));
      }
    }
    return {};
  }

  using Resolve = base::Result<void> (GraphBuilder::*)(std::size_t file, std::size_t include);
  base::Result<void> resolve_includes(std::size_t file, Resolve resolve) {
    for (std::size_t i = 0; i < m_graph.files[file].meanings.size(); ++i) {
      CLBIN_TRY((this->*resolve)(file, i));
    }
    return {};
  }

  base::Result<void> resolve_name(std::size_t file, std::size_t include) {
    return add_meaning(file, include, m_graph.files[file].directives.includes[include]);
  }

  base::Result<void> resolve_macro(std::size_t index, std::size_t include) {
    const IncludedFile& file = m_graph.files[index];
    const IncludeDirective& directive = file.directives.includes[include];
    if (directive.form != IncludeForm::macro) {
      return {};
    }
    const MacroExpansion& expansion = expansion_of(directive.name, file.place.path);
    if (expansion.extent == MacroExpansion::Extent::cut_short && !m_warned_of_long_expansion) {
      m_warned_of_long_expansion = true;
      m_graph.warnings.push_back(
          warning_at(file, directive.token.begin,
                     "the macros of this #include are too long to expand: headers that it names "
                     "may be missing from the bundle"));
    }
    // A copy, because found files add macros and so invalidate the expansions.
    const std::set<std::string> texts = expansion.texts;
    for (const std::string& text : texts) {
      CLBIN_TRY(add_meaning(index, include, parse_header_name(text)));
    }
    return {};
  }

  // All possible expansions of the text after #include. Cached until a macro gets a new value,
  // because every new file causes a query for every #include.
  const MacroExpansion& expansion_of(const std::string& text, const fs::path& file) {
    const auto [known, fresh] = m_expansions.try_emplace({text, base::name_of(file.filename())});
    if (fresh) {
      known->second =
          expand_macros(text, m_graph.macros, base::name_of(file.filename()), m_graph.budget);
      const std::set<std::string>& macros = known->second.macros;
      m_graph.included_macros.insert(macros.begin(), macros.end());
    }
    return known->second;
  }

  // `meant` is a copy, because found files move the directives. Ignores the names of macros.
  base::Result<void> add_meaning(std::size_t index, std::size_t include, IncludeDirective meant) {
    if (meant.form == IncludeForm::macro) {
      return {};
    }
    const IncludedFile& from = m_graph.files[index];
    meant.start = from.directives.includes[include].start;
    CLBIN_TRY_ASSIGN(const Found found, find_header(from, meant));
    if (found.file) {
      reach(*found.file, meant.name);
    }
    if (found.unread) {
      leave_unread(index, include, found.unread->message);
    }
    const char quote = meant.form == IncludeForm::quoted ? '"' : '<';
    m_graph.files[index].meanings[include][quote + meant.name] = found.file;
    return {};
  }

  base::Result<Found> find_header(const IncludedFile& from, const IncludeDirective& meant) {
    const std::string& name = meant.name;
    const std::vector<HeaderPlace> places = header_places(m_search, &from.place, meant);
    const fs::path beside = from.place.path.parent_path() / base::to_path(name);
    const auto index = static_cast<std::size_t>(&from - m_graph.files.data());
    const bool is_of_file = index > m_graph.named_headers;
    if (m_named.empty() ||
        (is_of_file && meant.form == IncludeForm::quoted && fs::is_regular_file(beside))) {
      return find_first(places, name);
    }
    for (const fs::path& candidate : {beside, base::to_path(name)}) {
      const auto named = m_named.find(base::name_of(candidate.lexically_normal()));
      if (named != m_named.end()) {
        return Found{named->second, std::nullopt};
      }
    }
    return find_first(places, name);
  }

  // All macros are known only after all files are.
  void find_unresolved() {
    for (const IncludedFile& file : m_graph.files) {
      for (const IncludeDirective& include : file.directives.includes) {
        if (include.form == IncludeForm::macro &&
            !names_headers(expansion_of(include.name, file.place.path))) {
          m_graph.unresolved.push_back(
              warning_at(file, include.token.begin, "the header that macros name is not known"));
        }
      }
    }
  }

  static bool names_headers(const MacroExpansion& expansion) {
    return expansion.extent == MacroExpansion::Extent::whole && !expansion.texts.empty() &&
           std::ranges::all_of(expansion.texts, [](const std::string& text) {
             return parse_header_name(text).form != IncludeForm::macro;
           });
  }

  void leave_unread(std::size_t index, std::size_t include, const std::string& reason) {
    if (!m_graph.unread.emplace(index, include).second) {
      return;
    }
    const IncludedFile& file = m_graph.files[index];
    m_graph.warnings.push_back(
        warning_at(file, file.directives.includes[include].token.begin, reason));
  }

  const IncludeSearch& m_search;
  IncludeGraph m_graph;
  std::map<std::string, std::size_t> m_known;                                 // by canonical path
  std::map<std::pair<std::string, std::string>, MacroExpansion> m_expansions; // by text and file
  std::map<std::string, std::size_t> m_named; // headers of a main file in memory
  bool m_warned_of_long_expansion = false;
};

} // namespace

base::Result<IncludeGraph> find_include_graph(const fs::path& main_file,
                                              const IncludeSearch& search) {
  return GraphBuilder(search).build(main_file);
}

base::Result<IncludeGraph> find_include_graph(MainText main, const IncludeSearch& search) {
  return GraphBuilder(search).build(std::move(main));
}

} // namespace clbin::closure

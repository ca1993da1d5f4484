#include "closure/include_closure.hpp"

#include "base/system/files.hpp"
#include "closure/macro_options.hpp"

namespace clbin::closure {

namespace fs = std::filesystem;

namespace {

// Whether #include "…" can contain the name.
std::string printable_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }, '_');
  return name;
}

std::string last_part(const std::string& spelling) {
  return printable_name(base::name_of(base::to_path(spelling).lexically_normal().filename()));
}

// "./a//b.h" is "a/b.h". Returns the last part of a name that leaves the headers' folder.
std::string inside_name(const std::string& spelling) {
  const fs::path path = base::to_path(spelling).lexically_normal();
  const bool leaves = path.has_root_path() || path.empty() || *path.begin() == "..";
  const std::string name = leaves ? std::string() : printable_name(base::generic_name_of(path));
  return name.empty() ? last_part(spelling) : name;
}

std::string numbered(const std::string& name, unsigned number) {
  const fs::path path = base::to_path(name);
  const std::string file =
      base::name_of(path.stem()) + "~" + std::to_string(number) + base::name_of(path.extension());
  return base::generic_name_of(path.parent_path() / base::to_path(file));
}

// Returns `name_of` each spelling, or an empty name for an empty spelling. Numbers repeated names.
std::vector<std::string> unique_names(const std::vector<std::string>& spellings,
                                      std::string (*name_of)(const std::string&)) {
  // Drivers' names of the main file. A header with such a name would be mistaken for it.
  std::set<std::string> used{"input.cl", "CompileSource"};
  // Numbers below the next one are used: counting from 2 each time would take quadratic time.
  std::map<std::string, unsigned> next;
  std::vector<std::string> names;
  for (const std::string& spelling : spellings) {
    const std::string name = spelling.empty() ? std::string() : name_of(spelling);
    std::string unused = name;
    while (!name.empty() && !used.insert(unused).second) {
      unused = numbered(name, next.emplace(name, 2).first->second++);
    }
    names.push_back(unused);
  }
  return names;
}

// Whether a compiler that searches the directory of the including file first finds a different
// header.
bool some_edge_goes_astray(const std::vector<std::string>& names,
                           const std::vector<IncludeEdge>& edges) {
  std::map<std::string, std::size_t> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    files.emplace(names[i], i);
  }
  return std::ranges::any_of(edges, [&](const IncludeEdge& edge) {
    const fs::path folder = base::to_path(names[edge.from]).parent_path();
    const auto found = files.find(
        base::generic_name_of((folder / base::to_path(names[edge.to])).lexically_normal()));
    return found != files.end() && found->second != edge.to;
  });
}

struct Replacement {
  TextRange range;
  std::string text;
};

std::string quoted(const std::string& name) {
  return '"' + name + '"';
}

std::string replace_all(const std::string& text, std::vector<Replacement> replacements) {
  std::sort(
      replacements.begin(), replacements.end(),
      [](const Replacement& a, const Replacement& b) { return a.range.begin < b.range.begin; });
  std::string result;
  std::size_t taken = 0;
  for (const Replacement& replacement : replacements) {
    const TextRange& range = replacement.range;
    if (range.begin < taken) {
      continue;
    }
    result.append(text, taken, range.begin - taken);
    result += replacement.text;
    // A name may be split by line continuations: the following lines keep their numbers.
    const auto replaced = std::string_view(text).substr(range.begin, range.end - range.begin);
    for (auto count = source::count_line_ends(replaced); count > 0; --count) {
      result += "\\\n";
    }
    taken = range.end;
  }
  return result.append(text, taken);
}

MacroOptions split(const IncludeSearch& search) {
  return split_macro_options(search.driver_options, macros_named_by(search.variant_options));
}

// Turns the graph's files into a package whose #include lines name each other.
class ClosureWriter {
public:
  ClosureWriter(IncludeGraph graph, const IncludeSearch& search)
      : m_search(search), m_graph(std::move(graph)), m_macro_options(split(search)) {
    add_selected_lines();
    m_ambiguous = ambiguous_spellings();
  }

  IncludeClosure write(const fs::path& main_file) {
    const std::string main_name =
        main_file == "-" ? "stdin.cl" : base::name_of(main_file.filename());
    std::string& spelling = m_graph.files.front().spelling;
    if (needs_prologue() && spelling.empty()) {
      spelling = main_name;
    }
    const std::vector<std::string> names = choose_names();
    IncludeClosure closure;
    const std::string display = base::name_of(m_graph.files.front().place.path);
    closure.package.main =
        needs_prologue()
            ? format::SourceFile{std::string(k_prologue_name), display, prologue(names)}
            : format::SourceFile{main_name, display, rewritten_text(0, names)};
    for (std::size_t i = 0; i < m_graph.files.size(); ++i) {
      if (!names[i].empty()) {
        closure.package.headers.push_back(
            {names[i], base::name_of(m_graph.files[i].place.path), rewritten_text(i, names)});
      }
      const HeaderPlace& place = m_graph.files[i].place;
      if (!place.is_own && (i != 0 || main_file != "-")) {
        closure.files.push_back(place.path);
      }
    }
    closure.warnings = std::move(m_graph.warnings);
    return closure;
  }

private:
  using TargetsOfSpellings = std::map<std::string, std::set<std::size_t>>;

  // Definitions with quotes of single variants. Each depends on a macro that its variants define.
  void add_selected_lines() {
    std::vector<std::string> options = m_macro_options.kept;
    options.insert(options.end(), m_search.variant_options.begin(), m_search.variant_options.end());
    std::set<std::string> selectors;
    for (const std::string& option : options) {
      const auto selected = lines_behind_selector(option);
      if (selected && selectors.insert(selected->selector).second) {
        m_macro_options.lines.insert(m_macro_options.lines.end(), selected->lines.begin(),
                                     selected->lines.end());
      }
    }
  }

  // Calls `visit` for each spelling of each #include: with the index of the file that contains it,
  // all its meanings, and the file that the spelling means, if any.
  template <typename Visit>
  void for_each_target(const Visit& visit) const {
    for (std::size_t index = 0; index < m_graph.files.size(); ++index) {
      for (const IncludeMeanings& meanings : m_graph.files[index].meanings) {
        for (const auto& [spelling, target] : meanings) {
          visit(index, meanings, spelling, target);
        }
      }
    }
  }

  std::vector<std::string> choose_names() const {
    std::vector<std::string> spellings;
    std::ranges::transform(m_graph.files, std::back_inserter(spellings), &IncludedFile::spelling);
    std::vector<IncludeEdge> edges;
    for_each_target([&](std::size_t from, const auto&, const auto&, const auto& target) {
      if (target) {
        edges.push_back({from, *target});
      }
    });
    return choose_include_names(spellings, edges);
  }

  std::string rewritten_text(std::size_t index, const std::vector<std::string>& names) {
    const IncludedFile& file = m_graph.files[index];
    std::vector<Replacement> replacements;
    for (std::size_t i = 0; i < file.meanings.size(); ++i) {
      rewrite_include(index, i, names, replacements);
    }
    for (const MacroDefinition& macro : file.directives.macros) {
      if (const auto target = only_target_of(macro)) {
        replacements.push_back({macro.token, quoted(names[*target])});
      }
    }
    return replace_all(file.text, std::move(replacements));
  }

  void rewrite_include(std::size_t index, std::size_t i, const std::vector<std::string>& names,
                       std::vector<Replacement>& replacements) const {
    const IncludeDirective& include = m_graph.files[index].directives.includes[i];
    const IncludeMeanings& meanings = m_graph.files[index].meanings[i];
    if (meanings.size() != 1) {
      return;
    }
    const auto& [spelling, target] = *meanings.begin();
    if (!target) {
      // Makes the compiler report a missing file instead of blocking on a pipe.
      const std::size_t relative = spelling.find_first_not_of('/', 1);
      if (m_graph.unread.count({index, i}) != 0 && relative != std::string::npos) {
        replacements.push_back({include.token, quoted(spelling.substr(relative))});
      }
      return;
    }
    const std::string& name = names[*target];
    if (include.form != IncludeForm::quoted || include.name != name) {
      replacements.push_back({include.token, quoted(name)});
    }
    if (include.start == IncludeStart::next) {
      const std::string_view word = m_graph.files[index].text;
      const bool probe = word.substr(include.keyword.begin).starts_with('_');
      replacements.push_back({include.keyword, probe ? "__has_include" : "include"});
    }
  }

  // Returns the header name of a definition after macro expansion; std::nullopt if there are
  // several.
  std::optional<std::string> only_spelling_of(const MacroDefinition& macro) {
    if (macro.parameters || m_graph.included_macros.count(macro.name) == 0) {
      return std::nullopt;
    }
    const MacroExpansion expansion = expand_macros(macro.value, m_graph.macros, {}, m_graph.budget);
    if (expansion.texts.size() != 1) {
      return std::nullopt;
    }
    const IncludeDirective meant = parse_header_name(*expansion.texts.begin());
    if (meant.form == IncludeForm::macro) {
      return std::nullopt;
    }
    return (meant.form == IncludeForm::quoted ? '"' : '<') + meant.name;
  }

  // Returns the spellings of each #include NAME with several meanings, and the files found for
  // them.
  TargetsOfSpellings ambiguous_spellings() const {
    TargetsOfSpellings spellings;
    for_each_target(
        [&](std::size_t, const auto& meanings, const auto& spelling, const auto& target) {
          if (meanings.size() > 1 && target) {
            spellings[spelling].insert(*target);
          }
        });
    return spellings;
  }

  // If #include NAME has several meanings, rewrites the #define lines with these names.
  std::optional<std::size_t> only_target_of(const MacroDefinition& macro) {
    const auto spelling = m_ambiguous.empty() ? std::nullopt : only_spelling_of(macro);
    const auto found = spelling ? m_ambiguous.find(*spelling) : m_ambiguous.end();
    const bool is_only = found != m_ambiguous.end() && found->second.size() == 1;
    return is_only ? std::optional(*found->second.begin()) : std::nullopt;
  }

  [[nodiscard]] bool needs_prologue() const {
    return !m_macro_options.lines.empty() || !m_graph.forced.empty();
  }

  std::string prologue(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& line : m_macro_options.lines) {
      text += line + "\n";
    }
    for (const std::size_t index : m_graph.forced) {
      text += "#include \"" + names[index] + "\"\n";
    }
    return text + "#include \"" + names.front() + "\"\n";
  }

  const IncludeSearch& m_search;
  IncludeGraph m_graph;
  MacroOptions m_macro_options;
  TargetsOfSpellings m_ambiguous;
};

} // namespace

std::vector<std::string> choose_include_names(const std::vector<std::string>& spellings,
                                              const std::vector<IncludeEdge>& edges) {
  std::vector<std::string> names = unique_names(spellings, inside_name);
  return some_edge_goes_astray(names, edges) ? unique_names(spellings, last_part) : names;
}

base::Result<IncludeClosure> find_include_closure(const fs::path& main_file,
                                                  const IncludeSearch& search) {
  CLBIN_TRY_ASSIGN(IncludeGraph graph, find_include_graph(main_file, search));
  return write_include_closure(std::move(graph), search, main_file);
}

IncludeClosure write_include_closure(IncludeGraph graph, const IncludeSearch& search,
                                     const fs::path& main_file) {
  return ClosureWriter(std::move(graph), search).write(main_file);
}

std::vector<std::string> driver_options_of(const IncludeSearch& search,
                                           const std::vector<std::string>& variant_options) {
  std::vector<std::string> options = split(search).kept;
  options.insert(options.end(), variant_options.begin(), variant_options.end());
  options = cancel_undone(options);
  for (std::string& option : options) {
    if (const auto selected = lines_behind_selector(option)) {
      option = "-D" + selected->selector;
    }
  }
  return options;
}

format::SourcePackage without_paths(format::SourcePackage package) {
  package.main.display_name = base::name_of(base::to_path(package.main.display_name).filename());
  for (format::SourceFile& header : package.headers) {
    header.display_name = header.include_name;
  }
  return package;
}

} // namespace clbin::closure

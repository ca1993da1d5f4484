#include "source/source_closing.hpp"

#include "base/text.hpp"
#include "source/closed_text.hpp"

namespace clbin::source {

namespace {

// Returns the size of all texts in bytes.
std::size_t size_of(const format::SourcePackage& package) {
  std::size_t size = package.main.text.size();
  for (const format::SourceFile& header : package.headers) {
    size += header.text.size();
  }
  return size;
}

void add_macros(std::string_view text, MacroTable& macros) {
  for (const MacroDefinition& definition : scan_directives(text).macros) {
    macros[definition.name].insert(value_of(definition));
  }
}

// Returns the lines "#define NAME VALUE" that compilers derive from -D options. Keeps quotes, and
// splits within them, because their treatment depends on the driver.
std::string lines_of(std::string_view options) {
  std::string lines;
  bool awaits_name = false;
  for (std::string_view word : base::words_between_spaces(options)) {
    const bool defines = awaits_name || (word.starts_with("-D") && word != "-D");
    awaits_name = !awaits_name && word == "-D";
    if (!defines) {
      continue;
    }
    word.remove_prefix(word.starts_with("-D") ? 2 : 0);
    const std::size_t equals = std::min(word.find('='), word.size());
    lines += "#define ";
    lines += word.substr(0, equals);
    lines += ' ';
    lines += equals == word.size() ? "1" : word.substr(equals + 1);
    lines += '\n';
  }
  return lines;
}

constexpr unsigned k_max_passes = 8;
constexpr std::array<std::string_view, 3> k_probes{"__has_include", "__has_include_next",
                                                   "__has_embed"};

std::vector<std::string*> texts_of(format::SourcePackage& package) {
  std::vector<std::string*> texts{&package.main.text};
  for (format::SourceFile& header : package.headers) {
    texts.push_back(&header.text);
  }
  return texts;
}

template <typename Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  const LenientText lenient(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lenient.is_word_start(i)) {
      visit(lenient.word_at(i).word);
    }
  }
}

// Determines whether "##" could join words of the source to one that probes for headers.
class ProbeParts {
public:
  void add(std::string_view text) {
    for_each_word(text, [this](const std::string& word) {
      const bool is_part = std::any_of(k_probes.begin(), k_probes.end(), [&](std::string_view p) {
        return !word.empty() && p.find(word) != std::string_view::npos;
      });
      if (is_part) {
        m_parts.insert(word);
      }
    });
  }

  [[nodiscard]] bool make_a_probe() const {
    return std::any_of(k_probes.begin(), k_probes.end(),
                       [this](std::string_view probe) { return make(probe); });
  }

private:
  [[nodiscard]] bool make(std::string_view word) const {
    std::vector<bool> reached(word.size() + 1, false);
    reached[0] = true;
    for (std::size_t end = 1; end <= word.size(); ++end) {
      for (std::size_t begin = 0; begin < end && !reached[end]; ++begin) {
        const std::string part(word.substr(begin, end - begin));
        reached[end] = reached[begin] && m_parts.count(part) != 0;
      }
    }
    return reached.back();
  }

  std::set<std::string> m_parts;
};

format::SourcePackage refused(const format::SourcePackage& package, std::string_view reason) {
  format::SourcePackage result;
  result.main = package.main;
  result.main.text = "#error " + std::string(reason) + "\n";
  return result;
}

bool begins_a_probe(std::string_view text) {
  bool begins = false;
  for_each_word(text, [&](const std::string& word) {
    begins = begins || (word.starts_with('_') &&
                        k_probes.end() !=
                            std::find_if(k_probes.begin(), k_probes.end(),
                                         [&](std::string_view p) { return p.starts_with(word); }));
  });
  return begins;
}

bool macros_can_make_probes(const std::vector<std::string*>& texts, std::string_view options) {
  // Almost no program contains the beginning of such a word.
  if (!begins_a_probe(options) &&
      std::none_of(texts.begin(), texts.end(),
                   [](const std::string* text) { return begins_a_probe(*text); })) {
    return false;
  }
  ProbeParts parts;
  parts.add(options);
  std::for_each(texts.begin(), texts.end(), [&](const std::string* text) { parts.add(*text); });
  return parts.make_a_probe();
}

// Finds the macros that are only ever defined as strings that name headers.
void find_definitions(const std::vector<std::string*>& texts, std::string_view options,
                      ClosingState& state) {
  state.definitions.clear();
  for (const DefinitionSweep sweep : {DefinitionSweep::candidates, DefinitionSweep::others}) {
    for (const std::string* text : texts) {
      add_definitions(LenientText(*text), sweep, state);
    }
  }
  for_each_word(options, [&](const std::string& word) {
    state.definitions.erase(word);
    state.definitions.erase(word.substr(word.starts_with('D') ? 1 : 0)); // -DNAME
  });
}

// Replaces until nothing is left to replace, because a replacement can remove text that prevented
// another directive from being recognized. Returns false if too many passes are required.
bool close_texts(const std::vector<std::string*>& texts, std::string_view options,
                 ClosingState& state) {
  for (unsigned pass = 0; pass < k_max_passes; ++pass) {
    const std::size_t proved = state.proved.size();
    find_definitions(texts, options, state);
    bool is_closed = true;
    for (std::string* text : texts) {
      if (auto closed = close_text(LenientText(*text), state)) {
        *text = *std::move(closed);
        is_closed = false;
      }
    }
    if (is_closed && proved == state.proved.size()) {
      return true;
    }
  }
  return false;
}

} // namespace

void IncludedMacros::read_macros() {
  m_macros.emplace();
  if (size_of(m_package) > k_max_bytes) {
    return;
  }
  add_macros(m_package.main.text, *m_macros);
  for (const format::SourceFile& header : m_package.headers) {
    add_macros(header.text, *m_macros);
  }
  MacroTable given;
  add_macros(lines_of(m_options), given);
  // Options replace definitions of the text, which are typically inside #ifndef.
  for (auto& [name, values] : given) {
    (*m_macros)[name] = std::move(values);
  }
}

std::optional<std::string> IncludedMacros::only_name(const std::string& text) {
  if (!m_macros) {
    read_macros();
  }
  const MacroExpansion expansion = expand_macros(text, *m_macros, {}, m_budget);
  if (expansion.extent == MacroExpansion::Extent::cut_short || expansion.texts.size() != 1) {
    return std::nullopt;
  }
  IncludeDirective meant = parse_header_name(*expansion.texts.begin());
  if (meant.form == IncludeForm::macro) {
    return std::nullopt;
  }
  return std::move(meant.name);
}

format::SourcePackage close_source(const format::SourcePackage& package, std::string_view options) {
  if (size_of(package) > k_max_source_bytes) {
    return refused(package,
                   "the bundle's source is larger than 16 MiB, and libclbin does not build it");
  }
  format::SourcePackage closed = package;
  const std::vector<std::string*> texts = texts_of(closed);
  const HeaderNames names(package);
  IncludedMacros macros(package, options);
  ClosingState state{names, macros, {}, {}, 0};
  for (std::string* text : texts) {
    *text = normalized(*text);
  }
  if (!close_texts(texts, options, state)) {
    return refused(package, "the includes of this source are ambiguous");
  }
  if (macros_can_make_probes(texts, options)) {
    return refused(
        package,
        "this source or its build options construct a preprocessor word that searches for files");
  }
  for (format::SourceFile& header : closed.headers) {
    header.include_name = HeaderNames::closed(header.include_name);
  }
  return closed;
}

std::string with_open_names(std::string_view log) {
  std::string result;
  std::size_t taken = 0;
  for (std::size_t at = log.find(k_closed_prefix); at != std::string_view::npos;
       at = log.find(k_closed_prefix, taken)) {
    result += log.substr(taken, at - taken);
    taken = at + k_closed_prefix.size();
  }
  result += log.substr(taken);
  return result;
}

} // namespace clbin::source

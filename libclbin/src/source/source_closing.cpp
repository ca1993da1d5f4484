// Compilers disagree about comments, strings and ends of lines (raw strings, digit separators,
// unterminated literals, blanks after a backslash). The reader does not decide between them: it
// treats every position as code, so that no compiler finds a directive that it misses.
#include "source/source_closing.hpp"

#include "base/text.hpp"
#include "source/macro_expansion.hpp"

namespace clbin::source {

namespace {

constexpr std::size_t k_none = std::string_view::npos;
constexpr std::size_t k_max_name = 1024;         // of a header, and of text to be expanded
constexpr std::size_t k_max_definitions = 10000; // further ones are not proved
constexpr std::size_t k_max_long_errors = 1000;  // further ones do not lengthen their lines
// Macros of larger packages are not read, because they use several times the memory of the text.
constexpr std::size_t k_max_macro_bytes = 4U << 20U;
constexpr std::size_t k_max_gap = 512;
constexpr std::string_view k_reason = "error the bundle does not contain this header:";

enum class Meaning : std::uint8_t {
  none,
  include,       // #include, #import
  other_include, // never resolved by a header of a package
  define,
  probe,       // __has_include
  other_probe, // never resolved by a header of a package
  gcc,
  alias,
};

Meaning meaning_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Meaning>, 12> k_meanings{{
      {"include", Meaning::include},
      {"import", Meaning::include},
      {"include_next", Meaning::other_include},
      {"embed", Meaning::other_include},
      {"__include_macros", Meaning::other_include},
      {"define", Meaning::define},
      {"undef", Meaning::define},
      {"__has_include", Meaning::probe},
      {"__has_include_next", Meaning::other_probe},
      {"__has_embed", Meaning::other_probe},
      {"GCC", Meaning::gcc},
      {"include_alias", Meaning::alias},
  }};
  const auto found =
      std::ranges::find_if(k_meanings, [&](const auto& entry) { return entry.first == word; });
  return found == k_meanings.end() ? Meaning::none : found->second;
}

constexpr std::string_view k_trigraph_ends = "=/'()!<>-";
constexpr std::string_view k_trigraph_characters = "#\\^[]|{}~";

bool is_gap_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c != '\n' && (byte <= ' ' || byte >= 0x7F);
}

char character_of_trigraph(std::string_view text) {
  if (!text.starts_with("??") || text.size() < 3) {
    return '\0';
  }
  const std::size_t index = k_trigraph_ends.find(text[2]);
  return index == std::string_view::npos ? '\0' : k_trigraph_characters[index];
}

// A word and its position in the text. `word` does not contain the line continuations within it.
struct LenientWord {
  std::size_t begin = 0; // k_none after a gap that is too long
  std::string word;      // empty if there is none, or if it is longer than any relevant word
  std::size_t end = 0;
};

// A view of normalized text, which must outlive it. Each call takes constant time.
class LenientText {
public:
  explicit LenientText(std::string_view text) : m_text(text) {}

  [[nodiscard]] std::string_view text() const { return m_text; }
  [[nodiscard]] bool is_at(std::size_t at, char c) const {
    return at < m_text.size() && m_text[at] == c;
  }

  bool is_word_start(std::size_t at) const {
    return is_identifier(m_text[at]) && (at == 0 || !is_identifier(m_text[at - 1]));
  }

  LenientWord word_at(std::size_t at) const {
    constexpr std::size_t k_max_word = 40;
    LenientWord result{at, {}, at};
    for (std::size_t next = after_splices(at); next < m_text.size() && is_identifier(m_text[next]);
         next = after_splices(result.end)) {
      if (result.word.size() == k_max_word) {
        return {at, {}, 0};
      }
      result.word += m_text[next];
      result.end = next + 1;
    }
    return result;
  }

  LenientWord word_after_gap(std::size_t at) const {
    const std::size_t begin = after_gap(at);
    return begin == k_none ? LenientWord{k_none, {}, 0} : word_at(begin);
  }

  // Returns the position after "#" or "%:" at `at`; `at` itself if there is neither.
  std::size_t after_hash(std::size_t at) const {
    if (is_at(at, '#')) {
      return at + 1;
    }
    if (!is_at(at, '%')) {
      return at;
    }
    const std::size_t colon = after_splices(at + 1);
    return is_at(colon, ':') ? colon + 1 : at;
  }

  // Returns the position after the blanks, line continuations and block comments that begin at
  // `at`. Blanks are all control characters except the line feed, and all non-ASCII bytes. Returns
  // k_none if they exceed k_max_gap bytes, which does not occur in programs in use at the positions
  // queried.
  std::size_t after_gap(std::size_t at) const {
    const std::size_t limit = at + k_max_gap;
    while (at < m_text.size() && at < limit) {
      if (is_gap_blank(m_text[at])) {
        ++at;
        continue;
      }
      const std::size_t spliced = after_splice(at);
      const std::size_t next = spliced != at ? spliced : after_comment(at, limit);
      if (next == at || next == k_none) {
        return next;
      }
      at = next;
    }
    return at < limit ? at : k_none;
  }

  // Returns the position after the line continuations that begin at `at`.
  std::size_t after_splices(std::size_t at) const {
    for (std::size_t next = after_splice(at); next != at; next = after_splice(at)) {
      at = next;
    }
    return at;
  }

private:
  std::size_t after_splice(std::size_t at) const {
    return is_at(at, '\\') && is_at(at + 1, '\n') ? at + 2 : at;
  }

  // Returns the position after a comment that begins at `at`; `at` itself if there is none; k_none
  // if the comment ends after `limit`.
  std::size_t after_comment(std::size_t at, std::size_t limit) const {
    const std::size_t star = is_at(at, '/') ? after_splices(at + 1) : at;
    if (star == at || !is_at(star, '*')) {
      return at;
    }
    for (std::size_t i = star + 1; i < limit && i < m_text.size(); ++i) {
      const std::size_t slash = m_text[i] == '*' ? after_splices(i + 1) : i;
      if (slash != i && is_at(slash, '/')) {
        return slash + 1;
      }
    }
    // An unterminated comment hides the rest of the text from every compiler that recognizes it.
    return k_none;
  }

  std::string_view m_text;
};

using HeaderNames = std::map<std::string, std::string>;

std::string closed(const std::string& name) {
  const std::size_t last = name.rfind('/') + 1; // npos + 1 is 0
  return name.substr(0, last) + std::string(k_closed_prefix) + name.substr(last);
}

// Returns the names of the headers in the closed package, by their original names and by
// themselves.
HeaderNames closed_names(const format::SourcePackage& package) {
  HeaderNames names;
  for (const format::SourceFile& header : package.headers) {
    names[header.include_name] = closed(header.include_name);
  }
  for (const format::SourceFile& header : package.headers) {
    const std::string name = closed(header.include_name);
    names[name] = name;
  }
  return names;
}

// Returns std::nullopt if the package has no such header, or if compilers may read the name
// differently.
std::optional<std::string> closed_name(const HeaderNames& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

// "name" or <name> at `at`; std::nullopt if there is none, or one that cannot be a header of a
// package.
struct HeaderToken {
  std::optional<std::string> closed; // the closed name, if the package has such a header
  std::size_t end = 0;
};
std::optional<HeaderToken> header_token_at(std::string_view text, std::size_t at,
                                           const HeaderNames& names) {
  const char open = at < text.size() ? text[at] : '\0';
  if (open != '"' && open != '<') {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + 1, k_max_name);
  const std::size_t size = rest.find_first_of(open == '"' ? "\"\n" : ">\n");
  if (size == k_none || rest[size] == '\n') {
    return std::nullopt;
  }
  const std::string name(rest.substr(0, size));
  // Characters that could begin a directive, end the name or join lines for some compiler.
  if (name.find_first_of("#%\"<>\\") != std::string::npos) {
    return std::nullopt;
  }
  return HeaderToken{closed_name(names, name), at + 1 + size + 1};
}

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

// Returns the macros of a package and of its build options, which resolve #include NAME.
MacroTable macros_of(const format::SourcePackage& package, std::string_view options) {
  MacroTable macros;
  if (size_of(package) > k_max_macro_bytes) {
    return macros;
  }
  add_macros(package.main.text, macros);
  for (const format::SourceFile& header : package.headers) {
    add_macros(header.text, macros);
  }
  MacroTable given;
  add_macros(lines_of(options), given);
  // Options replace definitions of the text, which are typically inside #ifndef.
  for (auto& [name, values] : given) {
    macros[name] = std::move(values);
  }
  return macros;
}

// State that the texts of a package share.
struct ClosingState {
  const format::SourcePackage& package; // as given
  std::string_view options;
  const HeaderNames names;
  std::optional<MacroTable> macros{}; // read on first use, because few programs need them
  ExpansionBudget budget{};
  // Macros that are only ever defined as strings that name headers, and that no option defines.
  std::set<std::string> definitions{};
  std::set<std::string> proved{}; // those of `definitions` that an #include names
  std::size_t long_errors = 0;    // #error lines that include the reason

  // Returns the closed name of the header that `text` expands to; std::nullopt if it is empty, may
  // expand to none or to several, or if the expansion takes too long.
  std::optional<std::string> closed_expansion(const std::string& text) {
    if (text.empty()) {
      return std::nullopt;
    }
    if (!macros) {
      macros = macros_of(package, options);
    }
    const MacroExpansion expansion = expand_macros(text, *macros, {}, budget);
    if (expansion.extent == MacroExpansion::Extent::cut_short || expansion.texts.size() != 1) {
      return std::nullopt;
    }
    const IncludeDirective meant = parse_header_name(*expansion.texts.begin());
    return meant.form == IncludeForm::macro ? std::nullopt : closed_name(names, meant.name);
  }
};

std::string quoted(const std::string& name) {
  return '"' + name + '"';
}

// Text on one line that macros expand to a header name.
struct ComputedName {
  std::string text;
  std::size_t end = 0;
};

class TextCloser {
public:
  TextCloser(LenientText text, ClosingState& state)
      : m_text(text), m_view(text.text()), m_state(state) {}

  // Returns std::nullopt if nothing was replaced.
  std::optional<std::string> close() {
    for (std::size_t i = 0; i < m_view.size(); ++i) {
      const char c = m_view[i];
      if (c == '#' || c == '%') {
        close_directive(i);
      } else if ((c == '_' || c == 'G' || c == 'i') && m_text.is_word_start(i)) {
        close_word(i);
      }
    }
    if (m_taken == 0) {
      return std::nullopt;
    }
    m_result += m_view.substr(m_taken);
    return std::move(m_result);
  }

private:
  void replace(std::size_t begin, std::size_t end, std::string_view text) {
    // The next pass examines the text within a replacement.
    if (begin < m_taken) {
      return;
    }
    m_result += m_view.substr(m_taken, begin - m_taken);
    m_result += text;
    // Preserves the line numbers of the lines that follow.
    const std::string_view replaced = m_view.substr(begin, end - begin);
    for (auto count = std::ranges::count(replaced, '\n'); count > 0; --count) {
      m_result += "\\\n";
    }
    m_taken = end;
  }

  void close_directive(std::size_t at) {
    const std::size_t after = m_text.after_hash(at);
    if (after == at) {
      return;
    }
    const LenientWord word = m_text.word_after_gap(after);
    if (word.begin == k_none) {
      replace(at, after, " "); // not a directive
      return;
    }
    const Meaning meaning = meaning_of(word.word);
    if (meaning == Meaning::include && answer_include(word.end)) {
      return;
    }
    if (meaning == Meaning::include || meaning == Meaning::other_include) {
      const bool says_why = m_state.long_errors++ < k_max_long_errors;
      const std::string error(says_why ? k_reason : "error");
      replace(word.begin, word.end, m_text.is_at(word.end, ' ') ? error : error + ' ');
    } else if (meaning == Meaning::define) {
      close_definition(word.end);
    }
  }

  // Returns true if the text after the word that ends at `end` names a header of the package.
  bool answer_include(std::size_t end) {
    const std::size_t at = m_text.after_gap(end);
    if (at == k_none || at >= m_view.size()) {
      return false;
    }
    if (const auto token = header_token_at(m_view, at, m_state.names)) {
      name_header(at, token->end, token->closed);
      return token->closed.has_value();
    }
    if (!is_identifier_start(m_view[at])) {
      return false;
    }
    if (is_proved(m_text.word_at(at).word)) {
      return true;
    }
    const ComputedName computed = computed_name(at, Ends::with_line);
    const auto name = m_state.closed_expansion(computed.text);
    name_header(at, computed.end, name);
    return name.has_value();
  }

  void name_header(std::size_t begin, std::size_t end, const std::optional<std::string>& name) {
    if (name && m_view.substr(begin, end - begin) != quoted(*name)) {
      replace(begin, end, quoted(*name));
    }
  }

  bool is_proved(const std::string& name) {
    const bool proved = m_state.definitions.count(name) != 0;
    if (proved) {
      m_state.proved.insert(name);
    }
    return proved;
  }

  enum class Ends : std::uint8_t { with_line, with_parenthesis };

  // Returns an empty text if it does not end as `ends` requires, or is too long.
  [[nodiscard]] ComputedName computed_name(std::size_t at, Ends ends) const {
    ComputedName name;
    unsigned depth = 0;
    const std::size_t limit = at + k_max_name;
    for (std::size_t i = m_text.after_splices(at); i < limit; i = m_text.after_splices(i + 1)) {
      const std::string_view rest = m_view.substr(std::min(i, m_view.size()));
      const bool line_ends =
          rest.empty() || rest.front() == '\n' || rest.starts_with("//") || rest.starts_with("/*");
      const bool closes = !rest.empty() && rest.front() == ')' && depth == 0;
      if (line_ends || (ends == Ends::with_parenthesis && closes)) {
        name.end = i;
        return line_ends == (ends == Ends::with_line) ? name : ComputedName();
      }
      depth += rest.front() == '(' ? 1 : 0;
      depth -= rest.front() == ')' && depth != 0 ? 1 : 0;
      name.text += rest.front();
    }
    return {};
  }

  // Closes a #define or #undef of a word that probes for headers, or of a macro that an #include
  // names.
  void close_definition(std::size_t end) {
    const LenientWord name = m_text.word_after_gap(end);
    if (name.begin == k_none) {
      return;
    }
    const Meaning meaning = meaning_of(name.word);
    if (meaning == Meaning::probe || meaning == Meaning::other_probe) {
      replace(name.begin, name.end, "clbin_has_include");
      return;
    }
    const std::size_t value = m_text.after_gap(name.end);
    if (m_state.proved.count(name.word) == 0 || value == k_none) {
      return;
    }
    if (const auto token = header_token_at(m_view, value, m_state.names)) {
      name_header(value, token->end, token->closed);
    }
  }

  void close_word(std::size_t at) {
    const LenientWord word = m_text.word_at(at);
    const Meaning meaning = meaning_of(word.word);
    if (meaning == Meaning::probe || meaning == Meaning::other_probe) {
      close_probe(at, word.end, meaning);
    } else if (meaning == Meaning::alias) {
      replace(at, word.end, "closed");
    } else if (meaning == Meaning::gcc) {
      const LenientWord second = m_text.word_after_gap(word.end);
      if (second.word == "dependency") {
        replace(second.begin, second.end, "closed");
      }
    }
  }

  void close_probe(std::size_t at, std::size_t word_end, Meaning meaning) {
    const std::size_t open = m_text.after_gap(word_end);
    if (open == k_none || !m_text.is_at(open, '(')) {
      replace(at, word_end, " __LINE__ ");
      return;
    }
    const ProbeAnswer answer = answer_probe(open);
    const bool found = answer.is_found && meaning == Meaning::probe;
    replace(at, answer.end, found ? " 1 " : " 0 ");
  }

  struct ProbeAnswer {
    bool is_found = false;
    std::size_t end = 0;
  };

  ProbeAnswer answer_probe(std::size_t open) {
    const std::size_t at = m_text.after_gap(open + 1);
    if (at == k_none || at >= m_view.size()) {
      return {false, open + 1};
    }
    if (const auto token = header_token_at(m_view, at, m_state.names)) {
      const std::size_t close = m_text.after_gap(token->end);
      const bool closes = close != k_none && m_text.is_at(close, ')');
      return {token->closed.has_value(), closes ? close + 1 : token->end};
    }
    const ComputedName computed = computed_name(at, Ends::with_parenthesis);
    if (computed.text.empty()) {
      return {false, open + 1};
    }
    const bool found =
        is_identifier_start(m_view[at]) &&
        (is_proved(m_text.word_at(at).word) || m_state.closed_expansion(computed.text).has_value());
    return {found, computed.end + 1};
  }

  LenientText m_text;
  std::string_view m_view;
  ClosingState& m_state;
  std::string m_result;
  std::size_t m_taken = 0; // bytes of the text that m_result covers
};

// Returns true if the macro whose name ends at `end` is defined as a string that names a header.
bool names_header_at(const LenientText& text, std::size_t end, const HeaderNames& names) {
  const std::size_t value = text.after_gap(end);
  if (value == k_none || text.is_at(text.after_splices(end), '(') || !text.is_at(value, '"')) {
    return false;
  }
  const auto token = header_token_at(text.text(), value, names);
  return token && token->closed.has_value();
}

// Calls `visit` with the name of each macro that `text` defines, and with whether it is one that an
// #include may name, defined as a string that names a header.
template <typename Visit>
void for_each_definition(const LenientText& text, const HeaderNames& names, const Visit& visit) {
  const std::string_view view = text.text();
  for (std::size_t at = view.find_first_of("#%"); at != k_none;
       at = view.find_first_of("#%", at + 1)) {
    const std::size_t after = text.after_hash(at);
    const LenientWord word = after == at ? LenientWord() : text.word_after_gap(after);
    if (word.word != "define") {
      continue;
    }
    const LenientWord name = text.word_after_gap(word.end);
    if (name.begin == k_none) {
      continue;
    }
    visit(name.word, !name.word.empty() && !name.word.starts_with('_') &&
                         names_header_at(text, name.end, names));
  }
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

// Adds the words of the text of which "##" could make one that probes for headers.
void add_probe_parts(std::string_view text, std::set<std::string>& parts) {
  for_each_word(text, [&](const std::string& word) {
    const auto contains = [&](std::string_view probe) { return probe.find(word) != k_none; };
    if (!word.empty() && std::ranges::any_of(k_probes, contains)) {
      parts.insert(word);
    }
  });
}

bool can_make(std::string_view word, const std::set<std::string>& parts) {
  std::vector<bool> reached(word.size() + 1, false);
  reached[0] = true;
  for (std::size_t end = 1; end <= word.size(); ++end) {
    for (std::size_t begin = 0; begin < end && !reached[end]; ++begin) {
      reached[end] = reached[begin] && parts.contains(std::string(word.substr(begin, end - begin)));
    }
  }
  return reached.back();
}

format::SourcePackage refused(const format::SourcePackage& package, std::string_view reason) {
  format::SourcePackage result;
  result.main = package.main;
  result.main.text = "#error " + std::string(reason) + "\n";
  return result;
}

bool macros_can_make_probes(const std::vector<std::string*>& texts, std::string_view options) {
  std::set<std::string> parts;
  add_probe_parts(options, parts);
  for (const std::string* text : texts) {
    add_probe_parts(*text, parts);
  }
  return std::ranges::any_of(k_probes, [&](auto probe) { return can_make(probe, parts); });
}

// Finds the macros that are only ever defined as strings that name headers.
void find_definitions(const std::vector<std::string*>& texts, ClosingState& state) {
  state.definitions.clear();
  for (const std::string* text : texts) {
    for_each_definition(LenientText(*text), state.names, [&](const auto& name, bool names_header) {
      if (names_header && state.definitions.size() < k_max_definitions) {
        state.definitions.insert(name);
      }
    });
  }
  for (const std::string* text : texts) {
    for_each_definition(LenientText(*text), state.names, [&](const auto& name, bool names_header) {
      if (!names_header) {
        state.definitions.erase(name);
      }
    });
  }
  for_each_word(state.options, [&](const std::string& word) {
    state.definitions.erase(word);
    state.definitions.erase(word.substr(word.starts_with('D') ? 1 : 0)); // -DNAME
  });
}

// Replaces until nothing is left to replace, because a replacement can remove text that prevented
// another directive from being recognized. Returns false if too many passes are required.
bool close_texts(const std::vector<std::string*>& texts, ClosingState& state) {
  for (unsigned pass = 0; pass < k_max_passes; ++pass) {
    const std::size_t proved = state.proved.size();
    find_definitions(texts, state);
    bool is_closed = true;
    for (std::string* text : texts) {
      if (auto closed = TextCloser(LenientText(*text), state).close()) {
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

std::string normalized(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char trigraph = character_of_trigraph(text.substr(i));
    const bool ends_line =
        text[i] == '\n' || (text[i] == '\r' && !text.substr(i + 1).starts_with('\n'));
    if (trigraph != '\0') {
      result += trigraph;
      i += 2;
    } else if (ends_line) {
      std::size_t end = result.size();
      while (end > 0 && is_gap_blank(result[end - 1])) {
        --end;
      }
      result.resize(end > 0 && result[end - 1] == '\\' ? end : result.size());
      result += '\n';
    } else {
      result += text[i] == '\0' ? ' ' : text[i];
    }
  }
  return result;
}

format::SourcePackage close_source(const format::SourcePackage& package, std::string_view options) {
  if (size_of(package) > k_max_source_bytes) {
    return refused(package,
                   "the bundle's source is larger than 16 MiB, and libclbin does not build it");
  }
  format::SourcePackage result = package;
  const std::vector<std::string*> texts = texts_of(result);
  ClosingState state{package, options, closed_names(package)};
  for (std::string* text : texts) {
    *text = normalized(*text);
  }
  if (!close_texts(texts, state)) {
    return refused(package, "the includes of this source are ambiguous");
  }
  if (macros_can_make_probes(texts, options)) {
    return refused(
        package,
        "this source or its build options construct a preprocessor word that searches for files");
  }
  for (format::SourceFile& header : result.headers) {
    header.include_name = closed(header.include_name);
  }
  return result;
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

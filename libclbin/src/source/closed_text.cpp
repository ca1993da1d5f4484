#include "source/closed_text.hpp"

#include "source/source_closing.hpp"

namespace clbin::source {

namespace {

constexpr std::size_t k_none = std::string_view::npos;
constexpr std::size_t k_max_name = 1024;         // of a header, and of text to be expanded
constexpr std::size_t k_max_definitions = 10000; // further ones are not proved
constexpr std::size_t k_max_long_errors = 1000;  // further ones do not lengthen their lines
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
  const auto found = std::find_if(k_meanings.begin(), k_meanings.end(),
                                  [&](const auto& entry) { return entry.first == word; });
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

// Phase 1: replaces each trigraph and each end of a line by one character.
std::string with_plain_characters(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char trigraph = character_of_trigraph(text.substr(i));
    const bool ends_line = text[i] == '\r' && !text.substr(i + 1).starts_with('\n');
    if (trigraph != '\0') {
      result += trigraph;
      i += 2;
    } else if (ends_line) {
      result += '\n';
    } else {
      result += text[i] == '\0' ? ' ' : text[i];
    }
  }
  return result;
}

// Phase 2, without joining lines.
std::string without_blanks_before_line_ends(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '\\') {
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_gap_blank(text[end])) {
      ++end;
    }
    if (end < text.size() && text[end] == '\n') {
      i = end - 1;
    }
  }
  return result;
}

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
  TextCloser(const LenientText& text, ClosingState& state)
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
    for (auto count = std::count(replaced.begin(), replaced.end(), '\n'); count > 0; --count) {
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
    if (const auto token = header_token_at(m_view, at)) {
      const auto closed = m_state.names.closed_name(token->name);
      if (closed) {
        name_header(at, token->end, *closed);
      }
      return closed.has_value();
    }
    if (!is_identifier_start(m_view[at])) {
      return false;
    }
    if (is_proved(m_text.word_at(at).word)) {
      return true;
    }
    const ComputedName computed = computed_name(at, Ends::with_line);
    const auto closed = closed_name_of(computed.text);
    if (closed) {
      name_header(at, computed.end, *closed);
    }
    return closed.has_value();
  }

  void name_header(std::size_t begin, std::size_t end, const std::string& closed) {
    if (m_view.substr(begin, end - begin) != quoted(closed)) {
      replace(begin, end, quoted(closed));
    }
  }

  bool is_proved(const std::string& name) {
    const bool proved = m_state.definitions.count(name) != 0;
    if (proved) {
      m_state.proved.insert(name);
    }
    return proved;
  }

  std::optional<std::string> closed_name_of(const std::string& computed) {
    const auto name = computed.empty() ? std::nullopt : m_state.macros.only_name(computed);
    return name ? m_state.names.closed_name(*name) : std::nullopt;
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
    const auto token = header_token_at(m_view, value);
    const auto closed = token ? m_state.names.closed_name(token->name) : std::nullopt;
    if (closed) {
      name_header(value, token->end, *closed);
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
    if (const auto token = header_token_at(m_view, at)) {
      const std::size_t close = m_text.after_gap(token->end);
      const bool closes = close != k_none && m_text.is_at(close, ')');
      return {m_state.names.closed_name(token->name).has_value(), closes ? close + 1 : token->end};
    }
    const ComputedName computed = computed_name(at, Ends::with_parenthesis);
    if (computed.text.empty()) {
      return {false, open + 1};
    }
    const bool found =
        is_identifier_start(m_view[at]) &&
        (is_proved(m_text.word_at(at).word) || closed_name_of(computed.text).has_value());
    return {found, computed.end + 1};
  }

  const LenientText& m_text;
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
  const auto token = header_token_at(text.text(), value);
  return token && names.closed_name(token->name).has_value();
}

} // namespace

std::string normalized(std::string_view text) {
  return without_blanks_before_line_ends(with_plain_characters(text));
}

bool LenientText::is_word_start(std::size_t at) const {
  return is_identifier(m_text[at]) && (at == 0 || !is_identifier(m_text[at - 1]));
}

std::size_t LenientText::after_splice(std::size_t at) const {
  return is_at(at, '\\') && is_at(at + 1, '\n') ? at + 2 : at;
}

std::size_t LenientText::after_splices(std::size_t at) const {
  for (std::size_t next = after_splice(at); next != at; next = after_splice(at)) {
    at = next;
  }
  return at;
}

LenientWord LenientText::word_at(std::size_t at) const {
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

LenientWord LenientText::word_after_gap(std::size_t at) const {
  const std::size_t begin = after_gap(at);
  return begin == k_none ? LenientWord{k_none, {}, 0} : word_at(begin);
}

std::size_t LenientText::after_hash(std::size_t at) const {
  if (is_at(at, '#')) {
    return at + 1;
  }
  if (!is_at(at, '%')) {
    return at;
  }
  const std::size_t colon = after_splices(at + 1);
  return is_at(colon, ':') ? colon + 1 : at;
}

std::size_t LenientText::after_comment(std::size_t at, std::size_t limit) const {
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

std::size_t LenientText::after_gap(std::size_t at) const {
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

HeaderNames::HeaderNames(const format::SourcePackage& package) {
  for (const format::SourceFile& header : package.headers) {
    m_closed[header.include_name] = closed(header.include_name);
  }
  for (const format::SourceFile& header : package.headers) {
    const std::string name = closed(header.include_name);
    m_closed[name] = name;
  }
}

std::string HeaderNames::closed(const std::string& name) {
  const std::size_t last = name.rfind('/') + 1; // npos + 1 is 0
  return name.substr(0, last) + std::string(k_closed_prefix) + name.substr(last);
}

std::optional<std::string> HeaderNames::closed_name(const std::string& name) const {
  const auto found = m_closed.find(name);
  return found == m_closed.end() ? std::nullopt : std::optional(found->second);
}

std::optional<HeaderToken> header_token_at(std::string_view text, std::size_t at) {
  const char open = at < text.size() ? text[at] : '\0';
  if (open != '"' && open != '<') {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + 1, k_max_name);
  const std::size_t size = rest.find_first_of(open == '"' ? "\"\n" : ">\n");
  if (size == k_none || rest[size] == '\n') {
    return std::nullopt;
  }
  std::string name(rest.substr(0, size));
  // Characters that could begin a directive, end the name or join lines for some compiler.
  if (name.find_first_of("#%\"<>\\") != std::string::npos) {
    return std::nullopt;
  }
  return HeaderToken{std::move(name), at + 1 + size + 1};
}

void add_definitions(const LenientText& text, DefinitionSweep sweep, ClosingState& state) {
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
    const bool names_header = names_header_at(text, name.end, state.names);
    const bool is_candidate = !name.word.empty() && !name.word.starts_with('_') && names_header;
    if (sweep == DefinitionSweep::candidates && is_candidate &&
        state.definitions.size() < k_max_definitions) {
      state.definitions.insert(name.word);
    } else if (sweep == DefinitionSweep::others && !is_candidate) {
      state.definitions.erase(name.word);
    }
  }
}

std::optional<std::string> close_text(const LenientText& text, ClosingState& state) {
  return TextCloser(text, state).close();
}

} // namespace clbin::source

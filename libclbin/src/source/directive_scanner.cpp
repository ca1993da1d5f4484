#include "source/directive_scanner.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace clbin::source {

namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

constexpr std::string_view k_blanks = " \t\v\f\r";

bool is_blank(char c) {
  return k_blanks.find(c) != std::string_view::npos;
}

struct LineEnd {
  std::size_t begin = 0;
  std::size_t end = 0; // equal to `begin` at the end of the text
};

LineEnd find_line_end(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view rest = text.substr(begin);
  const std::size_t size = rest.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, rest.size());
  return {begin, begin + size};
}

// Reads the text like the preprocessor's second phase: a backslash at the end of a line joins it
// with the next line. As for gcc and clang, a carriage return without a line feed ends a line, too,
// and a byte order mark is not part of the text.
class SplicedReader {
public:
  explicit SplicedReader(std::string_view text) : m_text(text) {
    m_offset = text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0;
    skip_splices();
  }

  [[nodiscard]] bool at_end() const { return m_offset >= m_text.size(); }
  // Returns a line feed for each end of a line.
  [[nodiscard]] char peek() const {
    if (at_end()) {
      return '\0';
    }
    return ends_line(m_offset) ? '\n' : m_text[m_offset];
  }
  [[nodiscard]] char peek_next() const {
    SplicedReader next = *this;
    next.advance();
    return next.peek();
  }
  [[nodiscard]] std::size_t offset() const { return m_offset; }
  [[nodiscard]] std::uint32_t line() const { return m_line; }

  void advance() {
    if (at_end()) {
      return;
    }
    m_line += ends_line(m_offset) ? 1 : 0;
    ++m_offset;
    skip_splices();
  }

private:
  [[nodiscard]] bool ends_line(std::size_t at) const {
    const char c = m_text[at];
    return c == '\n' || (c == '\r' && !m_text.substr(at + 1).starts_with('\n'));
  }

  void skip_splices() {
    while (m_offset < m_text.size() && m_text[m_offset] == '\\') {
      const std::size_t end = after_hidden_line_end(m_text, m_offset + 1);
      if (end == m_offset + 1) {
        return;
      }
      const std::string_view splice = m_text.substr(m_offset, end - m_offset);
      m_line += static_cast<std::uint32_t>(count_line_ends(splice));
      m_offset = end;
    }
  }

  std::string_view m_text;
  std::size_t m_offset = 0;
  std::uint32_t m_line = 1;
};

// A directive on one line, with a space for each comment, and the position of each character in the
// scanned text.
struct DirectiveText {
  std::string text;
  std::vector<std::size_t> offsets;
  std::uint32_t first_line = 0;
  std::uint32_t line = 0; // where the directive ends
  std::size_t end = 0;    // offset of the end of that line
};

class DirectiveScanner {
public:
  explicit DirectiveScanner(std::string_view text) : m_reader(text) {}

  Directives scan() {
    while (!m_reader.at_end()) {
      skip_blanks_and_comments();
      if (m_reader.peek() == '#') {
        DirectiveText directive;
        directive.first_line = m_reader.line();
        m_reader.advance();
        read_line(&directive);
        directive.line = m_reader.line();
        directive.end = m_reader.offset();
        parse(directive);
      } else {
        read_line(nullptr);
      }
      m_reader.advance(); // the line feed
    }
    return std::move(m_result);
  }

private:
  bool at_comment() const {
    return m_reader.peek() == '/' && (m_reader.peek_next() == '*' || m_reader.peek_next() == '/');
  }

  // Skips a comment. Does not skip the line feed at the end of a line comment.
  void skip_comment() {
    m_reader.advance();
    const bool block = m_reader.peek() == '*';
    m_reader.advance();
    while (!m_reader.at_end()) {
      if (!block && m_reader.peek() == '\n') {
        return;
      }
      if (block && m_reader.peek() == '*' && m_reader.peek_next() == '/') {
        m_reader.advance();
        m_reader.advance();
        return;
      }
      m_reader.advance();
    }
  }

  void skip_blanks_and_comments() {
    while (!m_reader.at_end()) {
      if (at_comment()) {
        skip_comment();
      } else if (is_blank(m_reader.peek())) {
        m_reader.advance();
      } else {
        return;
      }
    }
  }

  // Skips to the end of the literal or of the line: an apostrophe in skipped text begins nothing
  // that continues on the next line.
  void skip_literal(DirectiveText* kept) {
    const char quote = m_reader.peek();
    take(kept);
    while (!m_reader.at_end() && m_reader.peek() != '\n') {
      const bool closes = m_reader.peek() == quote;
      if (m_reader.peek() == '\\' && m_reader.peek_next() != '\n') {
        take(kept);
      }
      take(kept);
      if (closes) {
        return;
      }
    }
  }

  void take(DirectiveText* kept) {
    if (kept != nullptr && !m_reader.at_end()) {
      kept->text += m_reader.peek();
      kept->offsets.push_back(m_reader.offset());
    }
    m_reader.advance();
  }

  // Reads up to the line feed. Keeps the text of a directive.
  void read_line(DirectiveText* kept) {
    // Determined once, because only the first quote of a directive can begin its header name.
    std::optional<bool> names_header;
    while (!m_reader.at_end() && m_reader.peek() != '\n') {
      const char c = m_reader.peek();
      const bool first_quote = kept != nullptr && (c == '<' || c == '"') && !names_header;
      if (first_quote) {
        names_header = is_include_word(kept->text);
      }
      if (first_quote && *names_header) {
        read_header_name(*kept, c == '<' ? '>' : '"');
      } else if (c == '"' || c == '\'') {
        skip_literal(kept);
      } else if (!at_comment()) {
        take(kept);
      } else {
        if (kept != nullptr) {
          kept->text += ' ';
          kept->offsets.push_back(m_reader.offset());
        }
        skip_comment();
      }
    }
  }

  // A header name contains neither comments nor escapes.
  void read_header_name(DirectiveText& directive, char close) {
    take(&directive);
    while (!m_reader.at_end() && m_reader.peek() != '\n' && m_reader.peek() != close) {
      take(&directive);
    }
    if (m_reader.peek() == close) {
      take(&directive);
    }
  }

  static std::string_view first_word(std::string_view text) {
    const auto start = std::ranges::find_if_not(text, is_blank);
    const auto end = std::find_if_not(start, text.end(), is_identifier);
    return text.substr(static_cast<std::size_t>(start - text.begin()),
                       static_cast<std::size_t>(end - start));
  }

  static bool is_include(std::string_view word) {
    return word == "include" || word == "include_next" || word == "import";
  }

  static bool is_include_word(std::string_view text) {
    const std::string_view word = first_word(text);
    const std::size_t end = static_cast<std::size_t>(word.data() - text.data()) + word.size();
    const std::string_view rest = text.substr(end);
    return is_include(word) && std::ranges::all_of(rest, is_blank);
  }

  void parse(const DirectiveText& directive) {
    const std::string_view text = directive.text;
    const std::string_view word = first_word(text);
    const std::size_t rest = word.empty() ? 0 : offset_in(directive, word) + word.size();
    if (is_include(word)) {
      add_header_name(directive, word, text.substr(rest));
    } else if (word == "embed") {
      m_result.embed_lines.push_back(directive.first_line);
    } else if (word == "if" || word == "elif") {
      add_probes(directive, rest);
    } else if (word == "define") {
      add_macro(directive, rest);
    } else if (word == "line" || (!word.empty() && std::isdigit(word.front()) != 0)) {
      add_line(word == "line" ? text.substr(rest) : text, directive);
    }
  }

  // `keyword` and `name` are parts of the directive's text.
  void add_header_name(const DirectiveText& directive, std::string_view keyword,
                       std::string_view name) {
    IncludeDirective include = parse_header_name(name);
    if (include.name.empty()) {
      return;
    }
    const std::size_t begin = offset_in(directive, name);
    const std::size_t word = offset_in(directive, keyword);
    include.token =
        physical_range(directive, begin + include.token.begin, begin + include.token.end);
    include.keyword = physical_range(directive, word, word + keyword.size());
    include.start = keyword.ends_with("_next") ? IncludeStart::next : IncludeStart::first;
    m_result.includes.push_back(std::move(include));
  }

  void add_probes(const DirectiveText& directive, std::size_t start) {
    constexpr std::string_view k_probe = "__has_include";
    const std::string_view text = directive.text;
    std::size_t after = start;
    for (std::size_t at = text.find(k_probe, start); at != std::string_view::npos;
         at = text.find(k_probe, after)) {
      const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                        is_identifier);
      after = static_cast<std::size_t>(end - text.begin());
      const std::string_view keyword = text.substr(at, after - at);
      const std::size_t open = text.find_first_not_of(" \t", after);
      const bool is_probe = keyword == k_probe || keyword == "__has_include_next";
      if (is_probe && open != std::string_view::npos && text[open] == '(') {
        const std::string_view name = inside_parentheses(text.substr(open));
        add_header_name(directive, keyword, name);
        // Ignores probes within a name, and ends the search at a parenthesis that is not closed.
        after = name.empty() ? text.size() : open + name.size();
      }
    }
  }

  // Returns "a(b)" for "(a(b)) c"; empty if the parenthesis is not closed.
  static std::string_view inside_parentheses(std::string_view text) {
    unsigned depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : 0;
      depth -= text[i] == ')' ? 1 : 0;
      if (depth == 0) {
        return text.substr(1, i - 1);
      }
    }
    return {};
  }

  static std::size_t offset_in(const DirectiveText& directive, std::string_view part) {
    return static_cast<std::size_t>(part.data() - directive.text.data());
  }

  void add_macro(const DirectiveText& directive, std::size_t start) {
    const std::string_view text = directive.text;
    MacroDefinition macro;
    macro.name = first_word(text.substr(start));
    if (macro.name.empty()) {
      return;
    }
    std::size_t begin = text.find(macro.name, start) + macro.name.size();
    if (begin < text.size() && text[begin] == '(') {
      const std::size_t close = text.find(')', begin);
      if (close == std::string_view::npos) {
        return;
      }
      macro.parameters = text.substr(begin + 1, close - begin - 1);
      begin = close + 1;
    }
    begin = std::min(text.find_first_not_of(k_blanks, begin), text.size());
    const std::size_t end = std::max(text.find_last_not_of(k_blanks) + 1, begin); // npos + 1 is 0
    macro.token = begin < end ? physical_range(directive, begin, end) : TextRange();
    macro.value = text.substr(begin, end - begin);
    m_result.macros.push_back(std::move(macro));
  }

  void add_line(std::string_view text, const DirectiveText& directive_text) {
    text.remove_prefix(std::min(text.find_first_not_of(k_blanks), text.size()));
    LineDirective directive;
    const auto next_line = base::take_number<std::uint32_t>(text);
    if (!next_line) {
      return;
    }
    directive.next_line = *next_line;
    directive.physical_line = directive_text.line;
    directive.end = directive_text.end;
    const std::size_t open = text.find('"');
    const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
    if (close != std::string_view::npos) {
      directive.file = text.substr(open + 1, close - open - 1);
    }
    m_result.lines.push_back(std::move(directive));
  }

  static TextRange physical_range(const DirectiveText& directive, std::size_t begin,
                                  std::size_t end) {
    return {directive.offsets[begin], directive.offsets[end - 1] + 1};
  }

  SplicedReader m_reader;
  Directives m_result;
};

} // namespace

Directives scan_directives(std::string_view text) {
  return DirectiveScanner(text).scan();
}

IncludeDirective parse_header_name(std::string_view text) {
  const auto is_space = [](char c) { return is_blank(c) || c == '\n'; };
  const auto first = std::ranges::find_if_not(text, is_space);
  const auto begin = static_cast<std::size_t>(first - text.begin());
  IncludeDirective include;
  include.form = IncludeForm::macro;
  if (first != text.end() && (*first == '"' || *first == '<')) {
    const std::size_t close = text.find(*first == '"' ? '"' : '>', begin + 1);
    if (close != std::string_view::npos) {
      include.form = *first == '"' ? IncludeForm::quoted : IncludeForm::angled;
      include.name = text.substr(begin + 1, close - begin - 1);
      include.token = {begin, close + 1};
    }
  } else if (first != text.end() && is_identifier_start(*first)) {
    const auto last = std::find_if_not(text.rbegin(), text.rend(), is_space).base();
    include.name = std::string(first, last);
    include.token = {begin, begin + include.name.size()};
  }
  return include;
}

std::vector<std::string_view> source_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const LineEnd end = find_line_end(text);
    lines.push_back(text.substr(0, end.begin));
    text.remove_prefix(end.end);
  }
  return lines;
}

std::size_t count_line_ends(std::string_view text) {
  std::size_t count = 0;
  for (LineEnd end = find_line_end(text); end.end != end.begin; end = find_line_end(text)) {
    ++count;
    text.remove_prefix(end.end);
  }
  return count;
}

std::size_t after_hidden_line_end(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of(" \t\v\f", at);
  if (end == std::string_view::npos || (text[end] != '\n' && text[end] != '\r')) {
    return at;
  }
  const std::string_view pair = text.substr(end, 2);
  return end + (pair == "\r\n" || pair == "\n\r" ? 2 : 1);
}

} // namespace clbin::source

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <locale>
#include <set>
#include <sstream>

namespace clbin::base {

namespace {

constexpr char k_escape = '\x10';
constexpr std::string_view k_escape_digits = "0123456789abcdef";
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
// White space of the C locale, which is what a driver may treat as white space.
constexpr std::string_view k_space = " \t\n\v\f\r";

std::uint8_t byte_at(std::string_view text, std::size_t offset) noexcept {
  return static_cast<std::uint8_t>(text[offset]);
}

struct ByteRange {
  std::uint8_t low;
  std::uint8_t high;
};

bool is_in(ByteRange range, std::uint8_t byte) noexcept {
  return byte >= range.low && byte <= range.high;
}

// Encodings of a character (RFC 3629, section 4): its first byte, its size in bytes, and its second
// byte, whose range excludes overlong forms, surrogates and numbers above U+10FFFF.
struct Utf8Rule {
  ByteRange first;
  std::size_t size_bytes;
  ByteRange second;
};
constexpr std::array<Utf8Rule, 9> k_utf8_rules{{
    {{0x00, 0x7f}, 1, {}},
    {{0xc2, 0xdf}, 2, {0x80, 0xbf}},
    {{0xe0, 0xe0}, 3, {0xa0, 0xbf}},
    {{0xe1, 0xec}, 3, {0x80, 0xbf}},
    {{0xed, 0xed}, 3, {0x80, 0x9f}},
    {{0xee, 0xef}, 3, {0x80, 0xbf}},
    {{0xf0, 0xf0}, 4, {0x90, 0xbf}},
    {{0xf1, 0xf3}, 4, {0x80, 0xbf}},
    {{0xf4, 0xf4}, 4, {0x80, 0x8f}},
}};

bool matches(const Utf8Rule& rule, std::string_view text) noexcept {
  if (!is_in(rule.first, byte_at(text, 0)) || text.size() < rule.size_bytes) {
    return false;
  }
  bool matches = true;
  for (std::size_t i = 1; i < rule.size_bytes; ++i) {
    matches = matches && is_in(i == 1 ? rule.second : ByteRange{0x80, 0xbf}, byte_at(text, i));
  }
  return matches;
}

struct CharacterRange {
  char32_t first;
  char32_t last;
};
// Controls (C0, DEL, C1); Default_Ignorable_Code_Point of Unicode 15 (DerivedCoreProperties.txt);
// line and paragraph separators; interlinear annotation.
constexpr CharacterRange k_not_shown[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},  {0x061C, 0x061C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},  {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

bool is_shown(char32_t value) {
  return value != k_no_character &&
         std::none_of(std::begin(k_not_shown), std::end(k_not_shown), [&](const auto& range) {
           return value >= range.first && value <= range.last;
         });
}

std::string question_mark(char32_t /*value*/) {
  return "?";
}

std::string json_escape(char32_t value) {
  constexpr char32_t k_first_of_pairs = 0x10000;
  if (value == k_no_character) {
    return "?";
  }
  if (value < k_first_of_pairs) {
    return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value));
  }
  const std::uint32_t rest = value - k_first_of_pairs;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
}

// Returns the printable characters of ASCII at the start of `text`. Most text consists of them, and
// they need no table.
std::string_view plain_start(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
  return {text.begin(), end};
}

// Returns `text` with `replace` of each character that is neither shown nor one of `kept`.
std::string replacing(std::string_view text, std::string_view kept,
                      std::string (*replace)(char32_t)) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::string_view plain = plain_start(text);
    result += plain;
    text.remove_prefix(plain.size());
    if (text.empty()) {
      break;
    }
    const auto [value, size_bytes] = first_character(text);
    if (is_shown(value) || kept.find(text.front()) != std::string_view::npos) {
      result += text.substr(0, size_bytes);
    } else {
      result += replace(value);
    }
    text.remove_prefix(size_bytes);
  }
  return result;
}

bool is_control_value(char32_t value) noexcept {
  return (value < 0x20 && value != '\t') || (value >= 0x7F && value <= 0x9F);
}

// Removes the first line of `text`, and returns it without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

// Returns the end of the word at `begin`; npos if a quote in it does not end.
std::size_t end_of_option_word(std::string_view text, std::size_t begin) {
  const auto is_space = [](char c) { return k_space.find(c) != std::string_view::npos; };
  char quote = '\0';
  std::size_t at = begin;
  for (; at < text.size() && (quote != '\0' || !is_space(text[at])); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (quote != '\0') {
      quote = text[at] == quote ? '\0' : quote;
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    }
  }
  return quote == '\0' ? std::min(at, text.size()) : std::string_view::npos;
}

} // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(take_line(text));
  }
  return lines;
}

std::vector<std::string_view> words_between(std::string_view separators, std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = text.find_first_not_of(separators);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

std::size_t character_bytes(std::string_view text) noexcept {
  const auto rule =
      std::ranges::find_if(k_utf8_rules, [&](const Utf8Rule& one) { return matches(one, text); });
  return rule == k_utf8_rules.end() ? 0 : rule->size_bytes;
}

CodePoint first_character(std::string_view text) {
  const std::size_t length = character_bytes(text);
  if (length == 0) {
    return {};
  }
  char32_t value = length == 1 ? byte_at(text, 0) : byte_at(text, 0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    value = (value << 6U) | (byte_at(text, i) & 0x3FU);
  }
  return {value, length};
}

std::string escape_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = text.front() == k_escape ? 0 : character_bytes(text);
    if (size == 0) {
      escaped += k_escape;
      escaped += k_escape_digits[byte_at(text, 0) >> 4U];
      escaped += k_escape_digits[byte_at(text, 0) & 0x0fU];
    } else {
      escaped += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return escaped;
}

Result<std::string> unescape_text(std::string_view escaped) {
  std::string text;
  text.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != k_escape) {
      text += escaped[i];
      continue;
    }
    const std::string_view digits = escaped.substr(i + 1, 2);
    if (digits.size() < 2 || digits.find_first_not_of(k_escape_digits) != std::string::npos) {
      return fail(ErrorCode::manifest_invalid, "U+0010 is not followed by two hexadecimal digits");
    }
    text += static_cast<char>((k_escape_digits.find(digits[0]) << 4U) |
                              k_escape_digits.find(digits[1]));
    i += digits.size();
  }
  // Each text has exactly one escaped form: unnecessary escapes and invalid UTF-8 are rejected.
  if (escape_text(text) != escaped) {
    return fail(ErrorCode::manifest_invalid,
                "a character is escaped unnecessarily, or is not valid UTF-8");
  }
  return text;
}

std::string printable(std::string_view text) {
  return replacing(text, "\t", question_mark);
}

std::string printable_lines(std::string_view text) {
  return replacing(text, "\t\n", question_mark);
}

std::string printable_json(std::string_view document) {
  return replacing(document, "\t\n", json_escape);
}

Result<void> check_line(std::string_view line) {
  while (!line.empty()) {
    const auto [value, size_bytes] = first_character(line);
    if (value == k_no_character) {
      return fail(ErrorCode::invalid_argument,
                  "the line contains the byte 0x{:02X}, which is not UTF-8", byte_at(line, 0));
    }
    if (is_control_value(value) || value == 0x2028 || value == 0x2029) {
      return fail(ErrorCode::invalid_argument, "the line contains the {} U+{:04X}",
                  is_control_value(value) ? "control character" : "line separator",
                  static_cast<std::uint32_t>(value));
    }
    line.remove_prefix(size_bytes);
  }
  return {};
}

std::vector<ConfigurationLine> configuration_lines(std::string_view text) {
  if (text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  std::vector<ConfigurationLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    // A carriage return at the end of the text ends no line, and is rejected.
    const bool has_end = text.find('\n') != std::string_view::npos;
    const std::string_view line = without_blanks(has_end ? take_line(text) : text);
    text.remove_prefix(has_end ? 0 : text.size());
    if (const auto checked = check_line(line); !checked.has_value()) {
      lines.push_back({number, tl::unexpected(checked.error())});
    } else if (!line.empty() && line.front() != '#') {
      lines.push_back({number, line});
    }
  }
  return lines;
}

Result<ConfigurationSetting> parse_setting(std::string_view line) {
  const std::size_t sign = line.find('=');
  if (sign == std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, "expected 'NAME = VALUE'");
  }
  return ConfigurationSetting{without_blanks(line.substr(0, sign)),
                              without_blanks(line.substr(sign + 1))};
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view k_blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(k_blanks), text.size()));
  return text.substr(0, text.find_last_not_of(k_blanks) + 1); // npos + 1 is 0
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) {
    const auto number = static_cast<unsigned char>(byte);
    return (number < 0x20 && byte != '\t') || number == 0x7F;
  });
}

std::optional<bool> parse_switch(std::string_view text) {
  const bool is_on = text == "1" || text == "yes";
  return is_on || text == "0" || text == "no" ? std::optional(is_on) : std::nullopt;
}

// libc++ 19 has no std::from_chars for floating-point numbers, and strtod depends on the locale.
std::optional<double> parse_real(std::string_view text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return std::nullopt;
  }
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double number = 0;
  stream >> number;
  const bool is_number = !stream.fail() && stream.peek() == std::istringstream::traits_type::eof();
  return is_number ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view k_units = "KMGT";
  const auto number = take_number<std::uint64_t>(text);
  const std::size_t unit = text.empty() ? 0 : k_units.find(text.front()) + 1; // npos + 1 is 0
  if (!number || text.size() > 1 || (unit == 0 && !text.empty()) ||
      *number > std::numeric_limits<std::uint64_t>::max() >> (10 * unit)) {
    return std::nullopt;
  }
  return *number << (10 * unit);
}

std::optional<std::vector<OptionWord>> split_option_words(std::string_view options) {
  std::vector<OptionWord> words;
  std::size_t end = 0;
  while (true) {
    const std::size_t begin = options.find_first_not_of(k_space, end);
    if (begin == std::string_view::npos) {
      return words;
    }
    const std::size_t next = end_of_option_word(options, begin);
    if (next == std::string_view::npos) {
      return std::nullopt;
    }
    words.push_back({options.substr(begin, next - begin), options.substr(end, begin - end)});
    end = next;
  }
}

std::vector<std::string_view> words_between_spaces(std::string_view options) {
  return words_between(k_space, options);
}

// From the end, because the last word about a name decides.
std::vector<std::string> requested_extensions(std::string_view options) {
  constexpr std::string_view k_option = "-cl-ext=";
  std::set<std::string_view> decided;
  std::vector<std::string> names;
  bool is_all_decided = false;
  for (std::size_t at = options.rfind(k_option); at != options.npos && !is_all_decided;
       at = at == 0 ? options.npos : options.rfind(k_option, at - 1)) {
    if (at != 0 && k_space.find(options[at - 1]) == k_space.npos) {
      continue;
    }
    const std::string_view list = options.substr(at + k_option.size());
    const auto requests = words_between(",", list.substr(0, list.find_first_of(k_space)));
    for (auto request = requests.rbegin(); request != requests.rend() && !is_all_decided;
         ++request) {
      is_all_decided = *request == "-all";
      const std::string_view name = request->substr(1);
      if (decided.insert(name).second && request->front() == '+' && !name.empty()) {
        names.emplace_back(name);
      }
    }
  }
  std::ranges::reverse(names);
  return names;
}

std::string without_quotes(std::string_view word) {
  std::string text;
  char quote = '\0';
  for (std::size_t at = 0; at < word.size(); ++at) {
    const bool is_quote = word[at] == '"' || word[at] == '\'';
    if (word[at] == '\\' && at + 1 < word.size()) {
      text += word[++at];
    } else if (is_quote && (quote == '\0' || quote == word[at])) {
      quote = quote == '\0' ? word[at] : '\0';
    } else {
      text += word[at];
    }
  }
  return text;
}

} // namespace clbin::base

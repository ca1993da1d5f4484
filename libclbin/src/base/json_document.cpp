#include "base/json_document.hpp"

#include "base/text.hpp"

#include <new>
#include <nlohmann/json.hpp>

namespace clbin::base {

namespace {

constexpr std::size_t k_excerpt_bytes = 40;
// Memory of a value in a list that grows, and of a member in addition to its key and value.
constexpr std::uint64_t k_value_bytes = 2 * sizeof(JsonValue);
constexpr std::uint64_t k_member_bytes = 96;

// The largest number of copies of the longest token that the library keeps in memory: in two
// growing buffers and, if the token is not valid, in messages.
constexpr std::uint64_t k_lexer_copies = 8;

// Returns an upper bound of the size of the longest token of `text`, valid or not, in bytes.
std::uint64_t longest_token(std::string_view text) {
  constexpr std::string_view k_ends = "{}[],: \t\r\n";
  std::uint64_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = start + 1;
    if (text[start] == '"') {
      while (end < text.size() && text[end] != '"') {
        end += text[end] == '\\' ? 2 : 1;
      }
      end = std::min(end + 1, text.size());
    } else if (k_ends.find(text[start]) == std::string_view::npos) {
      end = std::min(text.find_first_of("{}[],: \t\r\n\"", start), text.size());
    }
    longest = std::max<std::uint64_t>(longest, end - start);
    start = end;
  }
  return longest;
}

// The name of an encoding, and the code of its errors.
struct Syntax {
  std::string_view name;
  ErrorCode error;
};
constexpr Syntax k_json{"JSON", ErrorCode::manifest_invalid};
constexpr Syntax k_message_pack{"MessagePack", ErrorCode::damaged};

// Builds a JsonValue from the events of the library. Returning false ends the parse; take_result()
// returns the reason. The library keeps no stack that the input could exhaust.
class DocumentBuilder {
public:
  DocumentBuilder(const JsonLimits& limits, const JsonItemSink& sink, const Syntax& syntax)
      : m_limits(limits), m_sink(sink), m_syntax(syntax) {}

  bool null() { return add(JsonValue{nullptr}); }
  bool boolean(bool value) { return add(JsonValue{value}); }
  bool number_integer(std::int64_t value) {
    return add(JsonValue{OtherNumber{std::to_string(value)}});
  }
  bool number_unsigned(std::uint64_t value) { return add(JsonValue{value}); }
  bool number_float(double /*value*/, const std::string& text) {
    return count_memory(text.size()) && add(JsonValue{OtherNumber{text}});
  }
  // Copies the string, because the library's has spare capacity.
  bool string(const std::string& value) {
    return count_memory(value.size()) && add(JsonValue{std::string(value)});
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { return refuse("binary data"); }
  bool start_object(std::size_t /*size*/) { return open(JsonValue{JsonObject()}); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(JsonValue{JsonArray()}); }
  bool end_array() { return close(); }

  bool key(const std::string& name) {
    const auto& members = std::get<JsonObject>(m_open.back().value.value);
    if (members.contains(name)) {
      return refuse(fmt::format("duplicate key '{}'", printable_excerpt(name)));
    }
    if (!count_memory(k_member_bytes + name.size())) {
      return false;
    }
    m_open.back().key = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& /*error*/) {
    return refuse(fmt::format("not valid {} at byte {}", m_syntax.name, position));
  }

  // Counts the memory that the library uses for the longest token.
  bool count_lexer(std::string_view text) {
    return count_memory(k_lexer_copies * longest_token(text));
  }

  [[nodiscard]] Result<JsonValue> take_result() && {
    if (m_error.has_value()) {
      return tl::unexpected(std::move(*m_error));
    }
    return std::move(m_root);
  }

private:
  // An array or object whose end has not been reached, and the key of its next member.
  struct OpenValue {
    JsonValue value;
    std::string key;
  };

  bool refuse(std::string_view reason) { return refuse(reason, m_syntax.error); }
  bool refuse(std::string_view reason, ErrorCode code) {
    const std::string path = current_path();
    m_error = Error{code, fmt::format("{}{}{}", path, path.empty() ? "" : ": ", reason)};
    return false;
  }

  bool count_memory(std::uint64_t bytes) {
    if (bytes > m_limits.max_memory_bytes - std::min(m_memory, m_limits.max_memory_bytes)) {
      return refuse(fmt::format("more than {} bytes of memory", m_limits.max_memory_bytes),
                    ErrorCode::limit_exceeded);
    }
    m_memory += bytes;
    return true;
  }

  // Returns true if the value that was just completed is an item for the sink.
  [[nodiscard]] bool is_for_sink() const {
    return m_open.size() == 2 && is_sink_list(m_open.back());
  }
  // `open` is the second of m_open.
  [[nodiscard]] bool is_sink_list(const OpenValue& open) const {
    return std::holds_alternative<JsonArray>(open.value.value) &&
           std::ranges::find(m_sink.members, m_open.front().key) != m_sink.members.end();
  }

  bool hand_over(JsonValue item) {
    const std::uint64_t bytes = m_memory - m_memory_before_item;
    m_memory = m_memory_before_item;
    ++m_items_taken[m_open.front().key];
    if (auto taken = m_sink.take(m_open.front().key, std::move(item), bytes); !taken) {
      m_error = std::move(taken.error());
      return false;
    }
    return true;
  }

  [[nodiscard]] std::string current_path() const {
    std::string path;
    for (const OpenValue& open : m_open) {
      if (const auto* const items = std::get_if<JsonArray>(&open.value.value)) {
        const bool is_taken = &open - m_open.data() == 1 && is_sink_list(open);
        const auto taken = m_items_taken.find(m_open.front().key);
        path += fmt::format("[{}]", !is_taken                      ? items->size()
                                    : taken == m_items_taken.end() ? 0
                                                                   : taken->second);
      } else if (!open.key.empty()) {
        path += fmt::format("{}{}", path.empty() ? "" : ".", printable_excerpt(open.key));
      }
    }
    return path;
  }

  bool count_value() {
    if (is_for_sink()) {
      m_memory_before_item = m_memory;
    }
    if (++m_value_count > m_limits.max_values) {
      return refuse(fmt::format("more than {} values", m_limits.max_values),
                    ErrorCode::limit_exceeded);
    }
    return count_memory(k_value_bytes);
  }

  bool open(JsonValue value) {
    if (m_open.size() >= m_limits.max_depth) {
      return refuse(fmt::format("nested deeper than {}", m_limits.max_depth));
    }
    if (!count_value()) {
      return false;
    }
    m_open.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    JsonValue value = std::move(m_open.back().value);
    m_open.pop_back();
    return place(std::move(value));
  }

  bool add(JsonValue value) { return count_value() && place(std::move(value)); }

  bool place(JsonValue value) {
    if (is_for_sink()) {
      return hand_over(std::move(value));
    }
    if (m_open.empty()) {
      m_root = std::move(value);
    } else if (auto* const items = std::get_if<JsonArray>(&m_open.back().value.value)) {
      items->push_back(std::move(value));
    } else {
      auto& members = std::get<JsonObject>(m_open.back().value.value);
      members.emplace(std::move(m_open.back().key), std::move(value));
      m_open.back().key.clear();
    }
    return true;
  }

  const JsonLimits& m_limits; // the sink may lower them
  const JsonItemSink& m_sink;
  const Syntax& m_syntax;
  std::vector<OpenValue> m_open;
  JsonValue m_root;
  std::uint64_t m_value_count = 0;
  std::uint64_t m_memory = 0;
  std::uint64_t m_memory_before_item = 0;
  std::map<std::string, std::size_t> m_items_taken; // by member
  std::optional<Error> m_error;
};

// `read` passes what a text contains to a builder.
Result<JsonValue> parse(ByteView bytes, const JsonLimits& limits, const JsonItemSink& sink,
                        const Syntax& syntax, void (*read)(std::string_view, DocumentBuilder&)) {
  if (bytes.size() > limits.max_bytes) {
    return fail(ErrorCode::limit_exceeded, "{} bytes of {} are above the limit of {}", bytes.size(),
                syntax.name, limits.max_bytes);
  }
  try {
    DocumentBuilder builder(limits, sink, syntax);
    read(as_text(bytes), builder);
    return std::move(builder).take_result();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "no memory for {} bytes of {}", bytes.size(),
                syntax.name);
  }
}

// Calls the parser of text by the name that json::sax_parse() knows it by: that function contains
// the readers of four binary formats, too, and a program that loads bundles would carry them.
void read_json(std::string_view text, DocumentBuilder& builder) {
  using Adapter = decltype(nlohmann::detail::input_adapter(text.begin(), text.end()));
  if (builder.count_lexer(text)) {
    (void)nlohmann::detail::parser<nlohmann::json, Adapter>(
        nlohmann::detail::input_adapter(text.begin(), text.end()))
        .sax_parse(&builder);
  }
}

void read_message_pack(std::string_view bytes, DocumentBuilder& builder) {
  (void)nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder,
                                  nlohmann::json::input_format_t::msgpack);
}

// JSON writes these characters of a string as they are, and most text consists of them.
bool is_plain(char character) {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

// Returns what JSON writes for a character, or for a byte that is not UTF-8.
std::string escaped(std::string_view character, char32_t value) {
  constexpr std::string_view k_named = "\"\\\b\f\n\r\t";
  constexpr std::string_view k_names = "\"\\bfnrt";
  if (value == k_no_character) {
    return "\xEF\xBF\xBD"; // U+FFFD
  }
  if (const std::size_t named = k_named.find(character.front()); named != std::string_view::npos) {
    return {'\\', k_names[named]};
  }
  return value < ' ' ? fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value))
                     : std::string(character);
}

} // namespace

Result<JsonValue> parse_json(ByteView text, const JsonLimits& limits, const JsonItemSink& sink) {
  return parse(text, limits, sink, k_json, read_json);
}

Result<JsonValue> parse_message_pack(ByteView bytes, const JsonLimits& limits) {
  return parse(bytes, limits, {}, k_message_pack, read_message_pack);
}

std::string write_json(const JsonValue& value, JsonLayout layout) {
  std::string text;
  const auto append = [&text](std::string_view part) {
    text += part;
    return true;
  };
  JsonStream stream(append, layout, JsonCharacters::all);
  stream.value(value);
  (void)stream.finish();
  return text;
}

std::string printable_excerpt(std::string_view text) {
  std::string excerpt(text.substr(0, k_excerpt_bytes));
  for (char& character : excerpt) {
    if (character < ' ' || character > '~') {
      character = '?';
    }
  }
  return text.size() > k_excerpt_bytes ? excerpt + "..." : excerpt;
}

void JsonStream::end() {
  const Open open = m_open.back();
  m_open.pop_back();
  if (!open.is_empty) {
    break_line();
  }
  append(open.bracket == '{' ? "}" : "]");
}

void JsonStream::key(std::string_view name) {
  start_item();
  append_string(name);
  append(m_layout == JsonLayout::indented ? ": " : ":");
  m_is_after_key = true;
}

void JsonStream::value(const JsonValue& value) {
  if (const auto* const string = std::get_if<std::string>(&value.value)) {
    text(*string);
  } else if (const auto* const items = std::get_if<JsonArray>(&value.value)) {
    array(*items, [this](const JsonValue& item) { this->value(item); });
  } else if (const auto* const members = std::get_if<JsonObject>(&value.value)) {
    begin_object();
    for (const auto& [name, item] : *members) {
      member(name, item);
    }
    end();
  } else {
    start_item();
    const auto* const is_true = std::get_if<bool>(&value.value);
    const auto* const number = std::get_if<std::uint64_t>(&value.value);
    const auto* const other = std::get_if<OtherNumber>(&value.value);
    append(is_true != nullptr  ? *is_true ? "true" : "false"
           : number != nullptr ? std::to_string(*number)
           : other != nullptr  ? other->text
                               : "null");
  }
}

void JsonStream::text(std::string_view text) {
  start_item();
  append_string(text);
}

void JsonStream::member(std::string_view name, const JsonValue& value) {
  key(name);
  this->value(value);
}

void JsonStream::text_member(std::string_view name, std::string_view text) {
  key(name);
  this->text(text);
}

bool JsonStream::finish() {
  while (!m_open.empty()) {
    end();
  }
  append(m_layout == JsonLayout::indented ? "\n" : "");
  flush();
  return m_is_written;
}

void JsonStream::begin(char bracket) {
  start_item();
  append({&bracket, 1});
  m_open.push_back({bracket, true});
}

// Separates items, unless the next one follows its key.
void JsonStream::start_item() {
  if (!m_open.empty() && !m_is_after_key) {
    append(m_open.back().is_empty ? "" : ",");
    m_open.back().is_empty = false;
    break_line();
  }
  m_is_after_key = false;
}

void JsonStream::break_line() {
  if (m_layout == JsonLayout::indented) {
    m_text += '\n';
    m_text.append(2 * m_open.size(), ' ');
  }
}

void JsonStream::append(std::string_view text) {
  constexpr std::size_t k_part_bytes = 1U << 20U;
  m_text += text;
  if (m_text.size() >= k_part_bytes) {
    flush();
  }
}

void JsonStream::append_string(std::string_view text) {
  append("\"");
  while (!text.empty()) {
    const std::string_view plain(text.begin(), std::ranges::find_if_not(text, is_plain));
    append(plain);
    text.remove_prefix(plain.size());
    if (!text.empty()) {
      const auto [value, size_bytes] = first_character(text);
      const std::string character = escaped(text.substr(0, size_bytes), value);
      append(m_characters == JsonCharacters::printable ? printable_json(character) : character);
      text.remove_prefix(size_bytes);
    }
  }
  append("\"");
}

void JsonStream::flush() {
  m_is_written = m_is_written && m_sink(m_text);
  m_text.clear();
}

} // namespace clbin::base

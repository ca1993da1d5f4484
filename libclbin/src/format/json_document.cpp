#include "format/json_document.hpp"

#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace clbin::format {

using base::ErrorCode;

namespace {

constexpr std::size_t k_excerpt_bytes = 40;

// Builds a JsonValue from the library's events. A `false` ends the parse; the reason is in
// take_result(). The library keeps no stack of its own that the input could exhaust.
class DocumentBuilder {
public:
  explicit DocumentBuilder(const JsonLimits& limits) : m_limits(limits) {}

  bool null() { return add(JsonValue{nullptr}); }
  bool boolean(bool value) { return add(JsonValue{value}); }
  bool number_integer(std::int64_t value) {
    return add(JsonValue{OtherNumber{std::to_string(value)}});
  }
  bool number_unsigned(std::uint64_t value) { return add(JsonValue{value}); }
  bool number_float(double /*value*/, const std::string& text) {
    return add(JsonValue{OtherNumber{text}});
  }
  bool string(std::string& value) { return add(JsonValue{std::move(value)}); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return refuse("binary data"); }
  bool start_object(std::size_t /*size*/) { return open(JsonValue{JsonObject()}); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(JsonValue{JsonArray()}); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const auto& members = std::get<JsonObject>(m_open.back().value.value);
    if (members.contains(name)) {
      return refuse(fmt::format("duplicate key '{}'", printable_excerpt(name)));
    }
    m_open.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& /*error*/) {
    return refuse(fmt::format("not valid JSON at byte {}", position));
  }

  [[nodiscard]] base::Result<JsonValue> take_result() && {
    if (m_error.has_value()) {
      return tl::unexpected(std::move(*m_error));
    }
    return std::move(m_root);
  }

private:
  // An array or object whose end has not been seen, and the key of the member to come.
  struct OpenValue {
    JsonValue value;
    std::string key;
  };

  bool refuse(std::string_view reason) {
    const std::string path = current_path();
    m_error = path.empty()
                  ? base::Error{ErrorCode::manifest_invalid, std::string(reason)}
                  : base::Error{ErrorCode::manifest_invalid, fmt::format("{}: {}", path, reason)};
    return false;
  }

  [[nodiscard]] std::string current_path() const {
    std::string path;
    for (const OpenValue& open : m_open) {
      if (const auto* const items = std::get_if<JsonArray>(&open.value.value)) {
        path += fmt::format("[{}]", items->size());
      } else if (!open.key.empty()) {
        path += fmt::format("{}{}", path.empty() ? "" : ".", printable_excerpt(open.key));
      }
    }
    return path;
  }

  bool count_value() {
    if (++m_value_count > m_limits.max_values) {
      return refuse(fmt::format("more than {} values", m_limits.max_values));
    }
    return true;
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
    place(std::move(value));
    return true;
  }

  bool add(JsonValue value) {
    if (!count_value()) {
      return false;
    }
    place(std::move(value));
    return true;
  }

  void place(JsonValue value) {
    if (m_open.empty()) {
      m_root = std::move(value);
    } else if (auto* const items = std::get_if<JsonArray>(&m_open.back().value.value)) {
      items->push_back(std::move(value));
    } else {
      auto& members = std::get<JsonObject>(m_open.back().value.value);
      members.emplace(std::move(m_open.back().key), std::move(value));
      m_open.back().key.clear();
    }
  }

  JsonLimits m_limits;
  std::vector<OpenValue> m_open;
  JsonValue m_root;
  std::uint64_t m_value_count = 0;
  std::optional<base::Error> m_error;
};

// The library escapes the strings; what goes around them is fixed by the header.
class DocumentWriter {
public:
  explicit DocumentWriter(JsonLayout layout) : m_layout(layout) {}
  void write(const JsonValue& value) { std::visit(*this, value.value); }
  [[nodiscard]] std::string take() && { return std::move(m_text); }

  void operator()(std::nullptr_t) { m_text += "null"; }
  void operator()(bool value) { m_text += value ? "true" : "false"; }
  void operator()(std::uint64_t value) { m_text += std::to_string(value); }
  void operator()(const OtherNumber& number) { m_text += number.text; }
  void operator()(const std::string& text) {
    using Library = nlohmann::json;
    m_text += Library(text).dump(-1, ' ', false, Library::error_handler_t::replace);
  }
  void operator()(const JsonArray& items) {
    begin('[');
    for (const JsonValue& item : items) {
      next();
      write(item);
    }
    end(']');
  }
  void operator()(const JsonObject& members) {
    begin('{');
    for (const auto& [key, value] : members) {
      next();
      (*this)(key);
      m_text += m_layout == JsonLayout::indented ? ": " : ":";
      write(value);
    }
    end('}');
  }

private:
  void begin(char bracket) {
    m_text += bracket;
    ++m_depth;
    m_first = true;
  }
  void next() {
    m_text += m_first ? "" : ",";
    m_first = false;
    break_line();
  }
  void end(char bracket) {
    --m_depth;
    if (!m_first) {
      break_line();
    }
    m_text += bracket;
    m_first = false;
  }
  void break_line() {
    if (m_layout == JsonLayout::indented) {
      m_text += '\n';
      m_text.append(2 * m_depth, ' ');
    }
  }

  JsonLayout m_layout;
  std::string m_text;
  std::size_t m_depth = 0;
  bool m_first = true;
};

} // namespace

base::Result<JsonValue> parse_json(base::ByteView text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return base::fail(ErrorCode::manifest_invalid, "{} bytes of JSON are above the limit of {}",
                      text.size(), limits.max_bytes);
  }
  try {
    DocumentBuilder builder(limits);
    const std::string_view characters = base::as_text(text);
    (void)nlohmann::json::sax_parse(characters.begin(), characters.end(), &builder);
    return std::move(builder).take_result();
  } catch (const std::bad_alloc&) {
    return base::fail(ErrorCode::out_of_memory, "no memory for {} bytes of JSON", text.size());
  }
}

std::string write_json(const JsonValue& value, JsonLayout layout) {
  DocumentWriter writer(layout);
  writer.write(value);
  return std::move(writer).take() + (layout == JsonLayout::indented ? "\n" : "");
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

} // namespace clbin::format

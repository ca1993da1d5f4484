// JSON (RFC 8259) in memory, read strictly from untrusted bytes and written deterministically. Only
// the .cpp file uses the JSON library.
#pragma once

#include "base/byte_codec.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

namespace clbin::base {

// A number that is not a std::uint64_t: negative, fractional, with an exponent, or too large.
// Contains the text of the document, for messages.
struct OtherNumber {
  std::string text;
  friend bool operator==(const OtherNumber&, const OtherNumber&) = default;
};

struct JsonValue;
using JsonArray = std::vector<JsonValue>;
using JsonObject = std::map<std::string, JsonValue, std::less<>>;

struct JsonValue {
  std::variant<std::nullptr_t, bool, std::uint64_t, OtherNumber, std::string, JsonArray, JsonObject>
      value = nullptr;
};

// Returns what `json` makes of each item.
[[nodiscard]] JsonArray array_of(const auto& items, const auto& json) {
  JsonArray array;
  for (const auto& item : items) {
    array.push_back({json(item)});
  }
  return array;
}
[[nodiscard]] inline JsonValue strings_json(const std::vector<std::string>& texts) {
  return {array_of(texts, std::identity())};
}

struct JsonLimits {
  std::uint64_t max_bytes = 64ULL << 20U;
  std::uint64_t max_values = 4ULL << 20U; // of any type; each uses about 100 bytes of memory
  std::uint64_t max_depth = 16;           // arrays and objects around a value, including itself
  // Memory in use at the same time, without items that a JsonItemSink received.
  std::uint64_t max_memory_bytes = ~std::uint64_t{0};
};

// Receives the items of some lists, members of the outermost object, one after another. The
// returned document contains them as empty lists.
struct JsonItemSink {
  std::vector<std::string_view> members;
  // `memory_bytes` is the memory of the item. An error ends the parse.
  std::function<Result<void>(std::string_view member, JsonValue item, std::uint64_t memory_bytes)>
      take;
};

// Parses JSON. Safe on untrusted input. Strings in the result are valid UTF-8. Errors contain the
// path of the member, a byte offset, or both: manifest_invalid if the text is not JSON, an object
// contains a key twice, or values are nested deeper than max_depth; limit_exceeded for the other
// limits; out_of_memory.
[[nodiscard]] Result<JsonValue> parse_json(ByteView text, const JsonLimits& limits,
                                           const JsonItemSink& sink = {});

// Reads MessagePack as parse_json reads JSON, but with `damaged` instead of manifest_invalid.
// Rejects binary data and extension types. Strings are not necessarily UTF-8.
[[nodiscard]] Result<JsonValue> parse_message_pack(ByteView bytes, const JsonLimits& limits);

enum class JsonLayout : std::uint8_t {
  compact,  // without white space
  indented, // for people: two spaces per level, a final line feed
};

// Writes members in ascending byte order of their keys in UTF-8, so that equal values have equal
// bytes. Replaces invalid UTF-8 by U+FFFD; escape_text preserves it.
[[nodiscard]] std::string write_json(const JsonValue& value,
                                     JsonLayout layout = JsonLayout::compact);

// Returns an excerpt for messages: at most 40 bytes of `text` in printable ASCII, with '?' for
// other bytes, and "..." if it was cut.
[[nodiscard]] std::string printable_excerpt(std::string_view text);

// Whether characters that printable_json() replaces are written.
enum class JsonCharacters : std::uint8_t { all, printable };

// Writes the same bytes as write_json, and by default printable_json(write_json(document,
// indented)), if the caller passes the members of each object in ascending order. The values of all
// entries of a bundle together can take many times the memory of the bundle. The stream has 2 MiB
// of text in memory.
class JsonStream {
public:
  // `sink` returns false if it cannot write; it is not called again.
  using Sink = std::function<bool(std::string_view)>;
  explicit JsonStream(Sink sink, JsonLayout layout = JsonLayout::indented,
                      JsonCharacters characters = JsonCharacters::printable)
      : m_sink(std::move(sink)), m_layout(layout), m_characters(characters) {}

  // Begin a value. Inside an object, `key` comes before each value.
  void begin_object() { begin('{'); }
  void begin_array() { begin('['); }
  // Ends the innermost object or array.
  void end();
  void key(std::string_view name);
  void value(const JsonValue& value);
  // Writes a string, and copies only a part of it at a time.
  void text(std::string_view text);
  void member(std::string_view name, const JsonValue& value);
  void text_member(std::string_view name, std::string_view text);
  // Write an array: `write` writes one value for each item.
  void array(const auto& items, const auto& write) {
    begin_array();
    std::ranges::for_each(items, write);
    end();
  }
  void array_member(std::string_view name, const auto& items, const auto& write) {
    key(name);
    array(items, write);
  }

  // Ends all that is open. Returns whether the whole document was written.
  [[nodiscard]] bool finish();

private:
  struct Open {
    char bracket;
    bool is_empty;
  };

  void begin(char bracket);
  void start_item();
  void break_line();
  void append(std::string_view text);
  void append_string(std::string_view text);
  void flush();

  Sink m_sink;
  JsonLayout m_layout;
  JsonCharacters m_characters;
  std::string m_text; // not yet written
  std::vector<Open> m_open;
  bool m_is_after_key = false;
  bool m_is_written = true;
};

} // namespace clbin::base

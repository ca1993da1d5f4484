// JSON documents that are written in parts.
#pragma once

#include "base/json_document.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::base {

// Writes the same bytes as printable_json(write_json(document, indented)), if the caller passes the
// members of each object in ascending order. The values of all entries of a bundle together can
// take many times the memory of the bundle. Besides a JsonValue of the caller, the stream has 2 MiB
// of text in memory.
class JsonStream {
public:
  // `sink` returns false if it cannot write; it is not called again.
  using Sink = std::function<bool(std::string_view)>;
  explicit JsonStream(Sink sink) : m_sink(std::move(sink)) {}

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
  std::string m_text; // not yet written
  std::vector<Open> m_open;
  bool m_is_after_key = false;
  bool m_is_written = true;
};

} // namespace clbin::base

// JSON documents that are written in parts.
#pragma once

#include "base/json_document.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Writes the same bytes as printable_json(write_json(document, indented)), if the caller passes the
// members of each object in ascending order. The values of all entries of a bundle together can
// take many times the memory of the bundle.
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
  void value(const clbin::base::JsonValue& value);
  void member(std::string_view name, const clbin::base::JsonValue& value);

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
  void flush();

  Sink m_sink;
  std::string m_text; // not yet written
  std::vector<Open> m_open;
  bool m_is_after_key = false;
  bool m_is_written = true;
};

} // namespace oclcc

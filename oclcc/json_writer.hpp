// JSON for --json: members in the order of the calls, two spaces a level.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace oclcc {

// The caller pairs begins with ends and names every member of an object; elements of arrays have
// no name. Bytes that are not UTF-8 become U+FFFD.
class JsonWriter {
public:
  void begin_object(std::string_view name = {}) { begin(name, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view name = {}) { begin(name, '['); }
  void end_array() { end(']'); }
  void text(std::string_view name, std::string_view value);
  void number(std::string_view name, std::uint64_t value);
  void boolean(std::string_view name, bool value);
  void null(std::string_view name);

  // With a closing line feed.
  [[nodiscard]] std::string take() &&;

private:
  void begin(std::string_view name, char bracket);
  void end(char bracket);
  void start_member(std::string_view name);

  std::string m_text;
  std::string m_indent;
  bool m_first = true;
};

// Quoted and escaped.
[[nodiscard]] std::string json_string(std::string_view text);

} // namespace oclcc

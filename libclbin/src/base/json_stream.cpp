#include "base/json_stream.hpp"

#include "base/printable_text.hpp"

namespace clbin::base {

namespace {

// Returns the size of the first part of a string, so that the parts are escaped as the whole string
// is: a part does not end within a character. In a run of more than three continuation bytes, the
// last ones belong to no character.
std::size_t part_bytes(std::string_view text) {
  constexpr std::size_t k_part_bytes = 1U << 16U;
  constexpr std::size_t k_most_continuations = 3;
  if (text.size() <= k_part_bytes) {
    return text.size();
  }
  const auto is_continuation = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::size_t end = k_part_bytes;
  while (end > k_part_bytes - k_most_continuations && is_continuation(end)) {
    --end;
  }
  return is_continuation(end) ? k_part_bytes : end;
}

} // namespace

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
  append(": ");
  m_is_after_key = true;
}

void JsonStream::value(const JsonValue& value) {
  start_item();
  const std::string text = printable_json(write_json(value, JsonLayout::indented));
  std::string_view rest(text);
  rest.remove_suffix(1); // the line feed at the end
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    append(rest.substr(0, end));
    break_line();
    rest.remove_prefix(end + 1);
  }
  append(rest);
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
  append("\n");
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
  m_text += '\n';
  m_text.append(2 * m_open.size(), ' ');
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
    const std::size_t bytes = part_bytes(text);
    const std::string part = printable_json(write_json({std::string(text.substr(0, bytes))}));
    append(std::string_view(part).substr(1, part.size() - 2)); // without its quotes
    text.remove_prefix(bytes);
  }
  append("\"");
}

void JsonStream::flush() {
  m_is_written = m_is_written && m_sink(m_text);
  m_text.clear();
}

} // namespace clbin::base

#include "terminal/json_stream.hpp"

#include "terminal/terminal_text.hpp"

namespace oclcc {

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
  append(printable_json(
      clbin::base::write_json({std::string(name)}, clbin::base::JsonLayout::compact)));
  append(": ");
  m_is_after_key = true;
}

void JsonStream::value(const clbin::base::JsonValue& value) {
  start_item();
  const std::string text =
      printable_json(clbin::base::write_json(value, clbin::base::JsonLayout::indented));
  std::string_view rest(text);
  rest.remove_suffix(1); // the line feed at the end
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    append(rest.substr(0, end));
    break_line();
    rest.remove_prefix(end + 1);
  }
  append(rest);
}

void JsonStream::member(std::string_view name, const clbin::base::JsonValue& value) {
  key(name);
  this->value(value);
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

void JsonStream::flush() {
  m_is_written = m_is_written && m_sink(m_text);
  m_text.clear();
}

} // namespace oclcc

#include "units/build_options.hpp"

#include "command_line/options.hpp"

namespace oclcc {

BuildOptions BuildOptions::recorded(std::string text) {
  BuildOptions options;
  options.m_recorded = std::move(text);
  return options;
}

std::string BuildOptions::text() const {
  return m_recorded.has_value() ? *m_recorded : join_options(m_words);
}

std::vector<std::string> BuildOptions::words() const {
  return m_recorded.has_value() ? split_options(*m_recorded) : m_words;
}

} // namespace oclcc

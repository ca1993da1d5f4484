#include "units/unit.hpp"

#include "base/text.hpp"
#include "terminal/shell_quoting.hpp"

namespace oclcc {

namespace {

// Applications write "-D NAME=VALUE", too.
std::vector<std::string> with_joined_macros(std::vector<std::string> words) {
  std::vector<std::string> options;
  bool is_macro = false;
  for (std::string& word : words) {
    const bool awaits = !is_macro && base::awaits_macro(word);
    if (is_macro) {
      options.back() += word;
    } else {
      options.push_back(std::move(word));
    }
    is_macro = awaits;
  }
  return options;
}

} // namespace

BuildOptions BuildOptions::recorded(std::string text) {
  BuildOptions options;
  options.m_recorded = std::move(text);
  return options;
}

std::string BuildOptions::text() const {
  return m_recorded.has_value() ? *m_recorded : join_options(m_words);
}

std::vector<std::string> BuildOptions::words() const {
  return m_recorded.has_value() ? with_joined_macros(split_options(*m_recorded)) : m_words;
}

bool is_built(const UnitResult& result) {
  return result.reply && result.reply->error.empty() && result.reply->cl_code == 0;
}

} // namespace oclcc

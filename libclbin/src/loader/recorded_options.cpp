#include "loader/recorded_options.hpp"

#include "base/text.hpp"
#include "source/directive_scanner.hpp"

#include <array>
#include <set>

namespace clbin::loader {
namespace {

constexpr std::array<std::string_view, 10> k_whole_words{"-w",  "-g",  "-O",  "-O0", "-O1",
                                                         "-O2", "-O3", "-Os", "-Oz", "-Ofast"};

bool is_option_let_through(std::string_view word) {
  if (word.starts_with("-D") || word.starts_with("-U")) {
    return true;
  }
  // Behind a comma, -W names options of other programs, and -cl-ext another extension.
  const std::string_view others = word.starts_with("-cl-ext=") ? "-=.+," : "-=.+";
  for (const std::string_view prefix : {"-cl-", "-W", "-spir-std="}) {
    if (word.starts_with(prefix)) {
      word.remove_prefix(prefix.size());
      return !word.empty() && std::ranges::all_of(word, [&](char c) {
        return source::is_identifier(c) || others.find(c) != std::string_view::npos;
      });
    }
  }
  return std::ranges::find(k_whole_words, word) != k_whole_words.end();
}

// Returns whether a word opens or closes quotes. The words between them are part of one -D.
bool changes_quoting(std::string_view word) {
  return std::ranges::count(word, '"') % 2 != 0 || std::ranges::count(word, '\'') % 2 != 0;
}

// Returns whether a word that belongs to the previous option is harmless even if a driver treats it
// as a separate one.
bool is_harmless_alone(std::string_view word) {
  return !word.starts_with('-') && !word.starts_with('@') &&
         word.find('/') == std::string_view::npos;
}

// Returns whether the word after "-D" is "NAME=VALUE" with any value, as in one word: a driver that
// takes it for a file looks for one in a directory "NAME=…".
bool is_definition(std::string_view word) {
  const std::size_t name_size = word.find('=');
  return name_size != std::string_view::npos && name_size != 0 &&
         is_harmless_alone(word.substr(0, name_size));
}

} // namespace

base::Result<void> check_recorded_options(std::string_view options) {
  bool is_quoted = false;
  std::string_view awaiting; // "-D", "-U" or "-x", whose value is the next word
  for (const std::string_view word : base::words_between_spaces(options)) {
    const bool is_part = is_quoted || base::awaits_macro(awaiting);
    const bool is_value = !is_quoted && awaiting == "-D" && is_definition(word);
    const bool is_fine = awaiting == "-x" ? word == "spir"
                         : is_part        ? is_value || is_harmless_alone(word)
                                          : word == "-x" || is_option_let_through(word);
    if (!is_fine || word.find('\0') != std::string_view::npos) {
      return base::fail(base::ErrorCode::unsafe_options,
                        "the bundle's build options contain '{}', which libclbin does not pass to "
                        "a compiler: it passes only -D, -U, -cl-*, -w, -W*, -O*, -g and -x spir",
                        format::told(word));
    }
    is_quoted = is_quoted != changes_quoting(word);
    const bool takes_value = base::awaits_macro(word) || word == "-x";
    awaiting = takes_value && !is_part ? word : std::string_view();
  }
  if (is_quoted || !awaiting.empty()) {
    // Options that the caller of the load adds would become part of it.
    return base::fail(base::ErrorCode::unsafe_options,
                      "the bundle's build options '{}' end with an incomplete option",
                      format::told(options));
  }
  return {};
}

base::Result<void> check_extensions(const std::vector<std::string>& lacking,
                                    std::string_view options) {
  if (lacking.empty()) {
    return {};
  }
  const auto requested = base::requested_extensions(options);
  const std::set<std::string_view> names(requested.begin(), requested.end());
  for (const std::string& name : lacking) {
    if (!names.contains(name)) {
      return base::fail(base::ErrorCode::no_matching_entry,
                        "the device does not have {}, and the entry was compiled without it", name);
    }
  }
  return {};
}

OptionsChecker::OptionsChecker(std::vector<std::string> lacking) : m_lacking(std::move(lacking)) {}

base::Result<void> OptionsChecker::check(const format::SharedText& options) {
  const auto found = m_checked.find(options.identity());
  if (found != m_checked.end()) {
    return found->second.result;
  }
  base::Result<void> result = check_extensions(m_lacking, options);
  const Checked checked{options, result ? check_recorded_options(options) : std::move(result)};
  return m_checked.emplace(options.identity(), checked).first->second.result;
}

} // namespace clbin::loader

// The only file that includes cxxopts.
#include "options.hpp"

#include "base/zstd_codec.hpp"
#include "option_table.hpp"
#include "option_words.hpp"

#include <algorithm>

// Values are taken whole: by default cxxopts would split "a,b" in two.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

namespace oclcc {

namespace base = clbin::base;

namespace {

constexpr const char* k_inputs_key = "inputs";

tl::unexpected<base::Error> unrecognized(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string nearest = nearest_word(name, option_spellings());
  return base::fail(base::ErrorCode::invalid_argument, "unrecognized option '{}'{}", word,
                    nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

tl::unexpected<base::Error> missing_value(std::string_view spelling, std::string_view argument) {
  return base::fail(base::ErrorCode::invalid_argument, "option '{}' needs a value: {} {}", spelling,
                    spelling, argument);
}

const OptionRow* find_row(std::string_view key) {
  for (const OptionRow& row : option_table()) {
    if (row.long_name == key) {
      return &row;
    }
  }
  return nullptr;
}

// One of gcc's single-dash options, as found in a word.
struct WordOption {
  const OptionRow* row = nullptr;
  std::string value;
  bool value_is_next_word = false;
};

std::optional<WordOption> match_word_option(const std::string& word) {
  for (const OptionRow& row : option_table()) {
    if (!is_word_form(row.form) || !word.starts_with(row.long_name)) {
      continue;
    }
    const std::string rest = word.substr(row.long_name.size());
    if (row.form == OptionForm::word_value) {
      return WordOption{&row, rest, rest.empty()};
    }
    // A word is itself its value: it goes to the driver as it is.
    if ((row.form == OptionForm::word) == rest.empty()) {
      return WordOption{&row, word, false};
    }
  }
  return std::nullopt;
}

// Applies gcc's single-dash options in their order and leaves the other words, known to be options
// of the table or inputs, for cxxopts.
class WordSorter {
public:
  WordSorter(const std::vector<std::string>& words, Options& options)
      : m_words(words), m_options(options) {}

  base::Result<void> sort() {
    for (; m_index < m_words.size(); ++m_index) {
      if (m_words[m_index] == "--") {
        m_rest.insert(m_rest.end(), m_words.begin() + static_cast<std::ptrdiff_t>(m_index),
                      m_words.end());
        return {};
      }
      CLBIN_TRY(sort_word(m_words[m_index]));
    }
    return {};
  }

  [[nodiscard]] const std::vector<std::string>& rest() const noexcept { return m_rest; }
  [[nodiscard]] const std::vector<const OptionRow*>& applied() const noexcept { return m_applied; }

private:
  base::Result<void> sort_word(const std::string& word) {
    if (word.size() < 2 || word.front() != '-') {
      m_rest.push_back(word);
      return {};
    }
    return word.starts_with("--") ? sort_long_option(word) : sort_single_dash(word);
  }

  base::Result<void> sort_long_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const OptionRow* const row = find_row(
        std::string_view(word).substr(2, equals == std::string::npos ? equals : equals - 2));
    if (row == nullptr || is_word_form(row->form)) {
      return unrecognized(word);
    }
    if (row->form == OptionForm::flag && equals != std::string::npos) {
      return base::fail(base::ErrorCode::invalid_argument, "option '--{}' takes no value",
                        row->long_name);
    }
    return keep(word, *row, row->form == OptionForm::value && equals == std::string::npos);
  }

  base::Result<void> sort_single_dash(const std::string& word) {
    for (const OptionRow& row : option_table()) {
      const bool same_letter = row.letter != '\0' && row.letter == word[1];
      // Letters are not grouped, as in gcc: "-qv" is no option.
      if (same_letter && (word.size() == 2 || row.form == OptionForm::value)) {
        return keep(word, row, row.form == OptionForm::value && word.size() == 2);
      }
    }
    std::optional<WordOption> found = match_word_option(word);
    if (!found) {
      return unrecognized(word);
    }
    if (found->value_is_next_word) {
      ++m_index;
      if (m_index == m_words.size() || m_words[m_index].empty()) {
        return missing_value(found->row->long_name, found->row->argument);
      }
      found->value = m_words[m_index];
    }
    m_applied.push_back(found->row);
    return found->row->apply(m_options, found->value);
  }

  base::Result<void> keep(const std::string& word, const OptionRow& row, bool value_is_next_word) {
    m_applied.push_back(&row);
    m_rest.push_back(word);
    if (value_is_next_word) {
      ++m_index;
      if (m_index == m_words.size()) {
        return missing_value(word, row.argument);
      }
      m_rest.push_back(m_words[m_index]);
    }
    return {};
  }

  const std::vector<std::string>& m_words;
  Options& m_options;
  std::size_t m_index = 0;
  std::vector<std::string> m_rest;
  std::vector<const OptionRow*> m_applied;
};

void declare_options(cxxopts::Options& parser) {
  for (const OptionRow& row : option_table()) {
    if (is_word_form(row.form)) {
      continue;
    }
    const std::string names = (row.letter != '\0' ? std::string{row.letter, ','} : std::string()) +
                              std::string(row.long_name);
    auto value = cxxopts::value<std::vector<std::string>>();
    if (row.form != OptionForm::value) {
      value->implicit_value(row.form == OptionForm::optional_value ? "always" : "yes");
    }
    parser.add_options()(names, "", value);
  }
  parser.add_options()(k_inputs_key, "", cxxopts::value<std::vector<std::string>>());
  parser.parse_positional(k_inputs_key);
}

std::string default_program_name(const std::string& path) {
  return path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
}

base::Result<void> add_input(const std::string& path, Options& options) {
  if (path.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "an input file has an empty name");
  }
  options.inputs.push_back({path, default_program_name(path)});
  return {};
}

base::Result<void> apply_argument(const cxxopts::KeyValue& argument, Options& options) {
  if (argument.key() == k_inputs_key) {
    return add_input(argument.value(), options);
  }
  const OptionRow& row = *find_row(argument.key());
  if (argument.value().empty()) {
    return missing_value(short_spelling(row), row.argument);
  }
  return row.apply(options, argument.value());
}

base::Result<void> apply_parsed(const cxxopts::ParseResult& parsed, Options& options) {
  for (const cxxopts::KeyValue& argument : parsed.arguments()) {
    CLBIN_TRY(apply_argument(argument, options));
  }
  return {};
}

base::Result<void> parse_with_cxxopts(const std::vector<std::string>& words, Options& options) {
  std::vector<const char*> arguments = {"oclcc"};
  for (const std::string& word : words) {
    arguments.push_back(word.c_str());
  }
  try {
    cxxopts::Options parser("oclcc");
    declare_options(parser);
    return apply_parsed(parser.parse(static_cast<int>(arguments.size()), arguments.data()),
                        options);
  } catch (const cxxopts::exceptions::exception& error) {
    return base::fail(base::ErrorCode::invalid_argument, "{}", error.what());
  }
}

bool scope_allows(OptionScope scope, Mode mode) {
  switch (scope) {
  case OptionScope::compile:
    return mode == Mode::compile;
  case OptionScope::compile_or_list:
    return mode == Mode::compile || mode == Mode::list_devices;
  case OptionScope::info_or_list:
    return mode == Mode::info || mode == Mode::list_devices;
  case OptionScope::any:
    return true;
  }
  return false;
}

base::Result<void> check_scopes(const std::vector<const OptionRow*>& applied, Mode mode) {
  for (const OptionRow* const row : applied) {
    if (scope_allows(row->scope, mode)) {
      continue;
    }
    if (mode == Mode::compile) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "'{}' needs '--info' or '--list-devices'", short_spelling(*row));
    }
    return base::fail(base::ErrorCode::invalid_argument, "'{}' cannot be used with '{}'",
                      short_spelling(*row), mode_spelling(mode));
  }
  return {};
}

base::Result<void> check_program_names(const std::vector<Input>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (inputs[i].program == inputs[j].program) {
        return base::fail(base::ErrorCode::invalid_argument,
                          "'{}' and '{}' would both be program '{}'; name one of them with "
                          "'--program NAME=FILE'",
                          inputs[j].path.string(), inputs[i].path.string(), inputs[i].program);
      }
    }
  }
  return {};
}

base::Result<void> check_inputs(const Options& options) {
  const std::string_view mode = mode_spelling(options.mode);
  if (options.mode == Mode::list_devices && !options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' takes no input file, and '{}' is one", mode,
                      options.inputs.front().path.string());
  }
  if (options.mode == Mode::info && options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' needs a bundle to show", mode);
  }
  if (options.mode == Mode::compile && options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "no input file");
  }
  const auto standard_inputs = std::count_if(options.inputs.begin(), options.inputs.end(),
                                             [](const Input& input) { return input.path == "-"; });
  if (standard_inputs > 1) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "standard input can be only one of the inputs");
  }
  return options.mode == Mode::compile ? check_program_names(options.inputs) : base::Result<void>();
}

} // namespace

std::string_view mode_spelling(Mode mode) noexcept {
  switch (mode) {
  case Mode::list_devices:
    return "--list-devices";
  case Mode::info:
    return "--info";
  case Mode::help:
    return "--help";
  case Mode::version:
    return "--version";
  case Mode::compile:
  case Mode::worker:
    break;
  }
  return {};
}

base::Result<std::vector<std::string>> parse_driver_options(const std::vector<std::string>& words) {
  Options options;
  WordSorter sorter(words, options);
  CLBIN_TRY(sorter.sort());
  const bool has_other = !sorter.rest().empty();
  if (has_other || !options.include_folders.empty() || !options.forced_includes.empty()) {
    const std::string found = has_other                         ? sorter.rest().front()
                              : options.include_folders.empty() ? "-include"
                                                                : "-I";
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' is none of -D, -U, -cl-*, -w and -Werror", found);
  }
  return options.driver_options;
}

base::Result<Options> parse_command_line(const std::vector<std::string>& words) {
  Options options;
  if (!words.empty() && words.front() == "--worker") {
    options.mode = Mode::worker;
    return options;
  }
  CLBIN_TRY_ASSIGN(const std::vector<std::string> expanded, expand_response_files(words));
  WordSorter sorter(expanded, options);
  CLBIN_TRY(sorter.sort());
  CLBIN_TRY(parse_with_cxxopts(sorter.rest(), options));
  if (options.mode == Mode::help || options.mode == Mode::version) {
    return options;
  }
  CLBIN_TRY(check_scopes(sorter.applied(), options.mode));
  CLBIN_TRY(check_inputs(options));
  return options;
}

std::string version_text() {
  return fmt::format("oclcc {}\nzstd {}\n", OCLCC_VERSION, base::zstd_version());
}

} // namespace oclcc

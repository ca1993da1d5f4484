// The only file that includes cxxopts.
#include "command_line/options.hpp"

#include "base/zstd_codec.hpp"
#include "command_line/option_table.hpp"
#include "command_line/option_words.hpp"

#include <algorithm>
#include <array>
#include <thread>

// Disables splitting of values: by default, cxxopts splits "a,b".
#define CXXOPTS_VECTOR_DELIMITER '\0'
// std::regex overflows the stack on a long word of a response file.
#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>
#include <fmt/format.h>

namespace oclcc {

namespace base = clbin::base;

namespace {

constexpr const char* k_inputs_key = "inputs";
// The modes that an option selects, in the order of --help.
constexpr std::array k_named_modes = {Mode::info,        Mode::list_devices, Mode::list_targets,
                                      Mode::explain,     Mode::verify,       Mode::diff,
                                      Mode::extract,     Mode::merge,        Mode::repack,
                                      Mode::strip,       Mode::record,       Mode::keygen,
                                      Mode::sign,        Mode::sign_message, Mode::strip_signature,
                                      Mode::encrypt,     Mode::decrypt,      Mode::cache_stats,
                                      Mode::clear_cache, Mode::identity,     Mode::plan};

// Returns OpenCL's name of a gcc option.
std::string opencl_word_for(const std::string& gcc_name) {
  constexpr std::pair<std::string_view, std::string_view> k_words[] = {
      {"-std", "-cl-std"}, {"-ffast-math", "-cl-fast-relaxed-math"}};
  for (const auto& [gcc, opencl] : k_words) {
    if (gcc_name == gcc) {
      return std::string(opencl);
    }
  }
  return {};
}

tl::unexpected<base::Error> unrecognized(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string known = opencl_word_for(name);
  const std::string nearest = known.empty() ? nearest_word(name, option_spellings()) : known;
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

// One of gcc's single-dash options in a word.
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
    if (row.form == OptionForm::word_equals) {
      if (rest.starts_with('=')) {
        return WordOption{&row, rest.substr(1), false};
      }
      continue;
    }
    if (row.form == OptionForm::word_value) {
      return WordOption{&row, rest, rest.empty()};
    }
    // The value is the word itself, which is passed to the driver.
    if ((row.form == OptionForm::word) == rest.empty()) {
      return WordOption{&row, word, false};
    }
  }
  return std::nullopt;
}

// Applies gcc's single-dash options in order. Leaves the other words, which are known options or
// inputs, to cxxopts.
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
    const bool is_flag = row->form == OptionForm::flag || row->form == OptionForm::mode;
    if (is_flag && equals != std::string::npos) {
      return base::fail(base::ErrorCode::invalid_argument, "option '--{}' accepts no value",
                        row->long_name);
    }
    return keep(word, *row, row->form == OptionForm::value && equals == std::string::npos);
  }

  base::Result<void> sort_single_dash(const std::string& word) {
    for (const OptionRow& row : option_table()) {
      const bool same_letter = row.letter != '\0' && row.letter == word[1];
      // Letters are not grouped, as in gcc: "-qv" is no option.
      if (same_letter && (word.size() == 2 || row.form == OptionForm::value)) {
        CLBIN_TRY(keep(word.substr(0, 2), row, row.form == OptionForm::value && word.size() == 2));
        if (word.size() > 2) { // cxxopts without regular expressions takes "-o-" for letters
          m_rest.push_back(word.substr(2));
        }
        return {};
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

// The value of an option that is given without one.
const char* implicit_value(OptionForm form) noexcept {
  switch (form) {
  case OptionForm::optional_value:
    return "always";
  case OptionForm::optional_mode:
    return "common";
  default:
    return "yes";
  }
}

void declare_options(cxxopts::Options& parser) {
  for (const OptionRow& row : option_table()) {
    if (is_word_form(row.form)) {
      continue;
    }
    const std::string names = (row.letter != '\0' ? std::string{row.letter, ','} : std::string()) +
                              std::string(row.long_name);
    auto value = cxxopts::value<std::vector<std::string>>();
    if (row.form != OptionForm::value) {
      value->implicit_value(implicit_value(row.form));
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
  return (scope & scope_of(mode)) != 0;
}

// "'--info' or '--list-devices'"
std::string modes_of(OptionScope scope) {
  std::vector<std::string_view> names;
  for (const Mode mode : k_named_modes) {
    if (scope_allows(scope, mode)) {
      names.push_back(mode_spelling(mode));
    }
  }
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    list += fmt::format("{}'{}'", separator, names[i]);
  }
  return list;
}

// Applied before all other options, because some depend on the mode.
base::Result<void> apply_modes(const std::vector<const OptionRow*>& applied, Options& options) {
  for (const OptionRow* const row : applied) {
    if (row->form == OptionForm::mode || row->form == OptionForm::optional_mode) {
      CLBIN_TRY(row->apply(options, {}));
    }
  }
  return {};
}

base::Result<void> check_scopes(const std::vector<const OptionRow*>& applied, Mode mode) {
  for (const OptionRow* const row : applied) {
    if (scope_allows(row->scope, mode)) {
      continue;
    }
    if (mode == Mode::compile) {
      return base::fail(base::ErrorCode::invalid_argument, "'{}' needs {}", short_spelling(*row),
                        modes_of(row->scope));
    }
    return base::fail(base::ErrorCode::invalid_argument, "'{}' cannot be used with '{}'",
                      short_spelling(*row), mode_spelling(mode));
  }
  return {};
}

// --verify starts drivers only with --run.
base::Result<void> check_run_options(const std::vector<const OptionRow*>& applied,
                                     const Options& options) {
  if (options.mode != Mode::verify || options.run == RunPolicy::yes) {
    return {};
  }
  constexpr std::string_view k_names[] = {"device", "jobs", "timeout"};
  for (const OptionRow* const row : applied) {
    if (std::find(std::begin(k_names), std::end(k_names), row->long_name) != std::end(k_names)) {
      return base::fail(base::ErrorCode::invalid_argument, "'{}' needs '--run'",
                        short_spelling(*row));
    }
  }
  return {};
}

// The first option that has no effect on `input`, k_bundle_input or k_rebuilt_bundle.
std::string first_option_without(OptionScope input, const std::vector<const OptionRow*>& applied) {
  const auto found = std::find_if(applied.begin(), applied.end(),
                                  [&](const OptionRow* row) { return (row->scope & input) == 0; });
  return found == applied.end() ? std::string() : short_spelling(**found);
}

base::Result<void> check_depfile_options(const Options& options) {
  const bool has_details = options.depfile || !options.depfile_targets.empty() ||
                           options.phony_headers == PhonyHeaders::yes;
  if (options.depfile_mode != DepfileMode::none || !has_details) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "'-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'");
}

// Moves the words after "--" out of `words` if they are the command of a recording, which must stay
// as it is: its options are not those of oclcc, and its words may be empty.
std::vector<std::string> take_command(std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const bool is_recording = std::any_of(words.begin(), end, [](const std::string& word) {
    return word == "--record" || word.starts_with("--record=");
  });
  if (!is_recording || end == words.end()) {
    return {};
  }
  std::vector<std::string> command(end + 1, words.end());
  words.erase(end, words.end());
  return command;
}

base::Result<void> check_recording(const Options& options) {
  if (!options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--record' requires '--' before the command '{}'",
                      options.inputs.front().path.string());
  }
  if (options.command.empty() || options.command.front().empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--record' requires a command: --record {} -- COMMAND",
                      options.recording->string());
  }
  return {};
}

base::Result<void> check_inputs(const Options& options) {
  if (options.mode == Mode::record) {
    return check_recording(options);
  }
  const std::string_view mode = mode_spelling(options.mode);
  const bool takes_none = options.mode == Mode::list_devices ||
                          options.mode == Mode::list_targets || options.mode == Mode::identity ||
                          options.mode == Mode::cache_stats || options.mode == Mode::clear_cache ||
                          options.mode == Mode::keygen;
  const bool compiles = options.mode == Mode::compile || options.mode == Mode::plan;
  if (takes_none && !options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' accepts no input file, but '{}' is given", mode,
                      options.inputs.front().path.string());
  }
  if (!compiles && !takes_none && options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' needs a bundle", mode);
  }
  if (compiles && options.inputs.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "no input file; 'oclcc --help' lists the common options");
  }
  if (options.mode == Mode::sign_message && options.inputs.size() != 1) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' accepts one bundle, not {}", mode,
                      options.inputs.size());
  }
  if (options.mode == Mode::diff && options.inputs.size() != 2) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' compares two bundles, not {}", mode,
                      options.inputs.size());
  }
  const auto standard_inputs = std::count_if(options.inputs.begin(), options.inputs.end(),
                                             [](const Input& input) { return input.path == "-"; });
  if (standard_inputs > 0 && options.mode == Mode::plan) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--plan' requires files: units cannot read standard input");
  }
  if (standard_inputs > 1) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "standard input ('-') is given more than once");
  }
  return {};
}

// --optional requires the source in the bundle.
base::Result<void> check_optional_source(const Options& options) {
  if (options.optional_programs.empty() || options.source == SourcePolicy::keep) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "'--optional' keeps the source of '{}', and '--no-source' drops it; use "
                    "'--strip --strip-source' on the bundle to ship only what compiled",
                    options.optional_programs.front());
}

base::Result<void> excludes(std::string_view one, std::string_view other) {
  return base::fail(base::ErrorCode::invalid_argument, "'{}' and '{}' cannot be used together", one,
                    other);
}

base::Result<void> needs(std::string_view option, std::string_view other) {
  return base::fail(base::ErrorCode::invalid_argument, "'{}' needs {}", option, other);
}

// Who signs: --sign and the compile mode.
base::Result<void> check_signer(const Options& options) {
  const SigningOptions& signing = options.signing;
  const bool is_sign = options.mode == Mode::sign;
  const std::string_view key = is_sign ? "--key" : "--sign-key";
  if (signing.key && signing.command) {
    return excludes(key, "--sign-with");
  }
  if (signing.is_requested() &&
      (options.goal == CompileGoal::check || options.depfile_mode == DepfileMode::instead)) {
    return excludes(signing.key ? key : "--sign-with",
                    options.goal == CompileGoal::check ? "-fsyntax-only" : "-M");
  }
  if (is_sign && !signing.is_requested()) {
    return needs("--sign", "'--key' or '--sign-with'");
  }
  if (signing.command && options.public_keys.size() != 1) {
    return needs("--sign-with", "one '--public-key'");
  }
  if (!signing.command && !options.public_keys.empty()) {
    return needs("--public-key", "'--sign-with' or '--verify'");
  }
  if (signing.counter && !signing.is_requested()) {
    return needs("--counter", "'--sign-key' or '--sign-with'");
  }
  if (signing.passphrase_file && !signing.key && !signing.vouching_key) {
    return needs("--passphrase-file", fmt::format("'{}'", key));
  }
  if (options.signature_form == SignatureForm::detached &&
      (signing.counter || signing.vouching_key)) {
    return excludes("--detached", signing.counter ? "--counter" : "--vouched-by");
  }
  return {};
}

base::Result<void> check_signing(const Options& options) {
  if (options.mode == Mode::sign || options.mode == Mode::compile) {
    return check_signer(options);
  }
  if (options.mode == Mode::keygen && options.passphrase_policy == PassphrasePolicy::none &&
      options.signing.passphrase_file) {
    return excludes("--no-passphrase", "--passphrase-file");
  }
  const bool is_detached = options.signature_form == SignatureForm::detached;
  if (is_detached && options.least_counter != 0) {
    return excludes("--detached", "--least-counter");
  }
  if (options.public_keys.empty() && (is_detached || options.least_counter != 0)) {
    return needs(is_detached ? "--detached" : "--least-counter", "'--public-key'");
  }
  return {};
}

// What decides how the output is encrypted.
std::string_view encryption_option(const Options& options) {
  return options.encryption.key ? "--encrypt-key" : "--encrypt-for";
}

base::Result<void> check_encryption(const Options& options) {
  const bool is_requested = options.encryption.is_requested();
  if (is_requested && options.goal == CompileGoal::check) {
    return excludes(encryption_option(options), "-fsyntax-only");
  }
  if (is_requested && options.depfile_mode == DepfileMode::instead) {
    return excludes(encryption_option(options), "-M");
  }
  if (options.mode == Mode::encrypt && !is_requested) {
    return needs("--encrypt", "'--encrypt-key' or '--encrypt-for'");
  }
  if (options.mode == Mode::decrypt && options.decrypt_keys.empty()) {
    return needs("--decrypt", "'--decrypt-key'");
  }
  const bool has_passphrase = options.key_type == KeyType::signing;
  if (options.mode == Mode::keygen && !has_passphrase && options.signing.passphrase_file) {
    return excludes(options.key_type == KeyType::content ? "--key-type content"
                                                         : "--key-type recipient",
                    "--passphrase-file");
  }
  return {};
}

bool is_for_drivers(const OptionRow& row) {
  constexpr std::string_view k_names[] = {"-D", "-U", "-cl-", "-g", "-w", "-Werror"};
  return row.long_name.starts_with("-O") ||
         std::find(std::begin(k_names), std::end(k_names), row.long_name) != std::end(k_names);
}

} // namespace

unsigned worker_count(const Options& options) noexcept {
  return options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::string_view mode_spelling(Mode mode) noexcept {
  switch (mode) {
  case Mode::list_devices:
    return "--list-devices";
  case Mode::list_targets:
    return "--list-targets";
  case Mode::plan:
    return "--plan";
  case Mode::identity:
    return "--identity";
  case Mode::info:
    return "--info";
  case Mode::strip:
    return "--strip";
  case Mode::merge:
    return "--merge";
  case Mode::repack:
    return "--repack";
  case Mode::verify:
    return "--verify";
  case Mode::extract:
    return "--extract";
  case Mode::diff:
    return "--diff";
  case Mode::cache_stats:
    return "--cache-stats";
  case Mode::clear_cache:
    return "--clear-cache";
  case Mode::explain:
    return "--explain";
  case Mode::record:
    return "--record";
  case Mode::keygen:
    return "--keygen";
  case Mode::sign:
    return "--sign";
  case Mode::sign_message:
    return "--sign-message";
  case Mode::strip_signature:
    return "--strip-signature";
  case Mode::encrypt:
    return "--encrypt";
  case Mode::decrypt:
    return "--decrypt";
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
  const auto other = std::find_if(sorter.applied().begin(), sorter.applied().end(),
                                  [](const OptionRow* row) { return !is_for_drivers(*row); });
  if (other != sorter.applied().end() || !sorter.rest().empty()) {
    const std::string found =
        other == sorter.applied().end() ? sorter.rest().front() : short_spelling(**other);
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror", found);
  }
  return options.driver_options;
}

// What --source-only leaves without effect is an error.
base::Result<void> check_source_only(const Options& options) {
  if (options.binaries == BinaryPolicy::build) {
    return {};
  }
  const std::string_view option = options.source == SourcePolicy::drop   ? "--no-source"
                                  : !options.targets.empty()             ? "--target"
                                  : !options.device_patterns.empty()     ? "--device"
                                  : !options.device_options.empty()      ? "--device-option"
                                  : !options.specializations.empty()     ? "--specialize"
                                  : options.cubin == CubinPolicy::emit   ? "--emit-cubin"
                                  : options.goal == CompileGoal::check   ? "-fsyntax-only"
                                  : options.goal == CompileGoal::preview ? "-###"
                                                                         : "";
  if (option.empty()) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "'--source-only' compiles nothing, and cannot be used with '{}'", option);
}

base::Result<void> check_optional_programs(const Options& options,
                                           const std::vector<std::string>& names) {
  for (const std::string& name : options.optional_programs) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "'--optional {}': there is no program '{}'; there {} '{}'", name, name,
                        names.size() == 1 ? "is" : "are", fmt::join(names, "', '"));
    }
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

base::Result<Options> parse_command_line(const std::vector<std::string>& words) {
  Options options;
  if (!words.empty() && words.front() == "--worker") {
    options.mode = Mode::worker;
    return options;
  }
  CLBIN_TRY_ASSIGN(std::vector<std::string> expanded, expand_response_files(words));
  options.command = take_command(expanded);
  WordSorter sorter(expanded, options);
  CLBIN_TRY(sorter.sort());
  CLBIN_TRY(apply_modes(sorter.applied(), options));
  CLBIN_TRY(parse_with_cxxopts(sorter.rest(), options));
  if (options.mode == Mode::help || options.mode == Mode::version) {
    return options;
  }
  CLBIN_TRY(check_scopes(sorter.applied(), options.mode));
  CLBIN_TRY(check_run_options(sorter.applied(), options));
  CLBIN_TRY(check_depfile_options(options));
  CLBIN_TRY(check_inputs(options));
  CLBIN_TRY(check_optional_source(options));
  CLBIN_TRY(check_signing(options));
  CLBIN_TRY(check_encryption(options));
  CLBIN_TRY(check_source_only(options));
  if (options.mode == Mode::plan) {
    options.words = std::move(expanded);
  }
  options.compiling_option = first_option_without(k_bundle_input, sorter.applied());
  options.source_option = first_option_without(k_rebuilt_bundle, sorter.applied());
  return options;
}

std::string version_text() {
  return fmt::format("oclcc {}\nzstd {}\n", OCLCC_VERSION, base::zstd_version());
}

} // namespace oclcc

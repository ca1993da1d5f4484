// Words to Options: expands response files, matches each word with a row of the option table,
// applies the rows, and checks what the options mean together. gcc's single-dash options are
// applied when they are found, modes before all others, because some options depend on the mode.
#include "command_line/options.hpp"

#include "base/zstd_codec.hpp"
#include "command_line/option_table.hpp"
#include "listing/launch_compilation.hpp"

#include <fmt/format.h>
#include <iterator>
#include <thread>

namespace oclcc {

namespace {

tl::unexpected<Error> unrecognized(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string nearest = name == "-std"          ? "-cl-std" // OpenCL's name of a gcc option
                              : name == "-ffast-math" ? "-cl-fast-relaxed-math"
                                                      : nearest_word(name, option_spellings());
  return refused("unrecognized option '{}'{}", word,
                 nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

tl::unexpected<Error> missing_value(std::string_view spelling, std::string_view argument) {
  return refused("option '{}' needs a value: {} {}", spelling, spelling, argument);
}

const OptionRow* find_row(std::string_view key) {
  const auto row = std::ranges::find(option_table(), key, &OptionRow::long_name);
  return row == option_table().end() ? nullptr : &*row;
}

// An option or an input.
struct Given {
  const OptionRow* row = nullptr;   // null: an input
  std::optional<std::string> value; // of a matched word: std::nullopt if the next word is its value
};

// An option in a word of its own.
Given given_alone(const OptionRow& row) {
  switch (row.form) {
  case OptionForm::value:
    return {&row, std::nullopt};
  case OptionForm::optional_value:
    return {&row, "always"};
  case OptionForm::optional_mode:
    return {&row, "common"};
  default:
    return {&row, "yes"};
  }
}

Result<Given> match_long_option(const std::string& word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const OptionRow* const row = find_row(std::string_view(word).substr(2, equals - 2));
  if (row == nullptr || is_word_form(row->form)) {
    return unrecognized(word);
  }
  if (equals == word.size()) {
    return given_alone(*row);
  }
  if (row->form == OptionForm::flag || row->form == OptionForm::mode) {
    return refused("option '--{}' accepts no value", row->long_name);
  }
  return Given{row, word.substr(equals + 1)};
}

std::optional<Given> match_letter(const std::string& word) {
  const auto row = std::ranges::find(option_table(), word[1], &OptionRow::letter);
  if (row == option_table().end() || (word.size() > 2 && row->form != OptionForm::value)) {
    return std::nullopt; // letters are not grouped, as in gcc: "-qv" is no option
  }
  return word.size() == 2 ? given_alone(*row) : Given{&*row, word.substr(2)};
}

// One of gcc's single-dash options.
std::optional<Given> match_word_option(const std::string& word) {
  for (const OptionRow& row : option_table()) {
    if (!is_word_form(row.form) || !word.starts_with(row.long_name)) {
      continue;
    }
    const std::string rest = word.substr(row.long_name.size());
    if (row.form == OptionForm::word_value) {
      return Given{&row, rest.empty() ? std::nullopt : std::optional(rest)};
    }
    if (row.form == OptionForm::word_equals && rest.starts_with('=')) {
      return Given{&row, rest.substr(1)};
    }
    // The value is the word itself, which is passed to the driver.
    if (row.form != OptionForm::word_equals && (row.form == OptionForm::word) == rest.empty()) {
      return Given{&row, word};
    }
  }
  return std::nullopt;
}

Result<Given> match_option(const std::string& word) {
  if (word.starts_with("--")) {
    return match_long_option(word);
  }
  auto found = match_letter(word);
  found = found ? found : match_word_option(word);
  return found ? Result<Given>(*found) : unrecognized(word);
}

// Applies gcc's single-dash options in order. Keeps the other options and the inputs.
class WordSorter {
public:
  WordSorter(const std::vector<std::string>& words, Options& options)
      : m_words(words), m_options(options) {}

  Result<void> sort() {
    for (; m_index < m_words.size(); ++m_index) {
      const std::string& word = m_words[m_index];
      if (m_first_other.empty() && (word == "--" || !word.starts_with('-'))) {
        m_first_other = word;
      }
      if (word == "--") {
        for (++m_index; m_index < m_words.size(); ++m_index) {
          m_rest.push_back({nullptr, m_words[m_index]});
        }
        return {};
      }
      if (word.size() < 2 || word.front() != '-') {
        m_rest.push_back({nullptr, word});
      } else {
        CLBIN_TRY(sort_option(word));
      }
    }
    return {};
  }

  [[nodiscard]] const std::vector<Given>& rest() const noexcept { return m_rest; }
  // Returns the first word that is no option; empty if there is none.
  [[nodiscard]] const std::string& first_other() const noexcept { return m_first_other; }
  [[nodiscard]] const std::vector<const OptionRow*>& applied() const noexcept { return m_applied; }

private:
  Result<void> sort_option(const std::string& word) {
    CLBIN_TRY_ASSIGN(Given given, match_option(word));
    const OptionRow& row = *given.row;
    if (!given.value) {
      ++m_index;
      if (m_index == m_words.size() || (is_word_form(row.form) && m_words[m_index].empty())) {
        return missing_value(word, row.argument);
      }
      given.value = m_words[m_index];
    }
    m_applied.push_back(&row);
    if (is_word_form(row.form)) {
      return row.apply(m_options, row, *given.value);
    }
    m_rest.push_back(std::move(given));
    return {};
  }

  const std::vector<std::string>& m_words;
  Options& m_options;
  std::size_t m_index = 0;
  std::string m_first_other;
  std::vector<Given> m_rest;
  std::vector<const OptionRow*> m_applied;
};

// Sets the mode. --help and --version override every other mode; any other two modes conflict.
Result<void> enter_mode(Options& options, Mode mode) {
  const auto overrides = [](Mode one) { return one == Mode::help || one == Mode::version; };
  if (mode == Mode::compile || overrides(options.mode)) {
    return {};
  }
  if (!overrides(mode) && options.mode != Mode::compile && options.mode != mode) {
    return refused("'{}' and '{}' cannot be used together", mode_spelling(options.mode),
                   mode_spelling(mode));
  }
  options.mode = mode;
  return {};
}

// Modes are entered before all other options are applied, because some depend on the mode.
Result<void> enter_modes(const std::vector<const OptionRow*>& applied, Options& options) {
  for (const OptionRow* const row : applied) {
    if (row->form == OptionForm::mode || row->form == OptionForm::optional_mode) {
      CLBIN_TRY(enter_mode(options, row->mode));
    }
  }
  return {};
}

Result<void> apply(const Given& given, Options& options) {
  const std::string& value = *given.value;
  if (given.row == nullptr) {
    if (value.empty()) {
      return refused("an input file has an empty name");
    }
    const std::filesystem::path path = value;
    options.inputs.push_back({path, path == "-" ? "stdin" : path.stem().string()});
    return {};
  }
  const OptionRow& row = *given.row;
  if (value.empty()) {
    return missing_value(short_spelling(row), row.argument);
  }
  if (row.apply != nullptr) {
    CLBIN_TRY(row.apply(options, row, value));
  }
  return enter_mode(options, row.mode);
}

bool scope_allows(OptionScope scope, Mode mode) {
  return (scope & scope_of(mode)) != 0;
}

// "'--info' or '--list-devices'"
std::string modes_of(OptionScope scope) {
  std::vector<std::string> names;
  for (const OptionRow& row : option_table()) {
    if (row.mode != Mode::compile && scope_allows(scope, row.mode)) {
      names.push_back(fmt::format("'--{}'", row.long_name));
    }
  }
  return alternatives(names);
}

Result<void> excludes(std::string_view one, std::string_view other) {
  return refused("'{}' and '{}' cannot be used together", one, other);
}

Result<void> needs(std::string_view option, std::string_view other) {
  return refused("'{}' needs {}", option, other);
}

Result<void> check_scopes(const std::vector<const OptionRow*>& applied, Mode mode) {
  for (const OptionRow* const row : applied) {
    if (scope_allows(row->scope, mode)) {
      continue;
    }
    if (mode == Mode::compile) {
      return needs(short_spelling(*row), modes_of(row->scope));
    }
    return refused("'{}' cannot be used with '{}'", short_spelling(*row), mode_spelling(mode));
  }
  return {};
}

// --verify starts drivers only with --run.
Result<void> check_run_options(const std::vector<const OptionRow*>& applied,
                               const Options& options) {
  if (options.mode != Mode::verify || options.run == RunPolicy::yes) {
    return {};
  }
  constexpr std::string_view k_names[] = {"device", "jobs", "timeout"};
  for (const OptionRow* const row : applied) {
    if (std::ranges::find(k_names, row->long_name) != std::end(k_names)) {
      return needs(short_spelling(*row), "'--run'");
    }
  }
  return {};
}

// The first option that has no effect on `input`, k_bundle_input or k_rebuilt_bundle.
std::string first_option_without(OptionScope input, const std::vector<const OptionRow*>& applied) {
  const auto found = std::ranges::find_if(
      applied, [&](const OptionRow* row) { return (row->scope & input) == 0; });
  return found == applied.end() ? std::string() : short_spelling(**found);
}

Result<void> check_depfile_options(const Options& options) {
  const bool has_details = options.depfile || !options.depfile_targets.empty() ||
                           options.phony_headers == PhonyHeaders::yes;
  if (options.depfile_mode != DepfileMode::none || !has_details) {
    return {};
  }
  return refused("'-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'");
}

// Moves the words after "--" out of `words` if they are the command of a recording, which must stay
// as it is: its options are not those of oclcc, and its words may be empty.
std::vector<std::string> take_command(std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
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

Result<void> check_recording(const Options& options) {
  if (!options.inputs.empty()) {
    return refused("'--record' requires '--' before the command '{}'",
                   options.inputs.front().path.string());
  }
  if (options.command.empty() || options.command.front().empty()) {
    return refused("'--record' requires a command: --record {} -- COMMAND",
                   options.recording->string());
  }
  return {};
}

Result<void> check_inputs(const Options& options) {
  if (options.mode == Mode::record) {
    return check_recording(options);
  }
  const std::string mode = mode_spelling(options.mode);
  constexpr OptionScope k_without_inputs =
      scope_of(Mode::list_devices, Mode::list_targets, Mode::identity, Mode::cache_stats,
               Mode::clear_cache, Mode::keygen);
  const bool takes_none = scope_allows(k_without_inputs, options.mode);
  const bool compiles = options.mode == Mode::compile || options.mode == Mode::plan;
  if (takes_none && !options.inputs.empty()) {
    return refused("'{}' accepts no input file, but '{}' is given", mode,
                   options.inputs.front().path.string());
  }
  if (!compiles && !takes_none && options.inputs.empty()) {
    return needs(mode, "a bundle");
  }
  if (compiles && options.inputs.empty()) {
    return refused("no input file; 'oclcc --help' lists the common options");
  }
  if (options.mode == Mode::sign_message && options.inputs.size() != 1) {
    return refused("'{}' accepts one bundle, not {}", mode, options.inputs.size());
  }
  if (options.mode == Mode::diff && options.inputs.size() != 2) {
    return refused("'{}' compares two bundles, not {}", mode, options.inputs.size());
  }
  const auto standard_inputs =
      std::ranges::count_if(options.inputs, [](const Input& input) { return input.path == "-"; });
  if (standard_inputs > 0 && options.mode == Mode::plan) {
    return refused("'--plan' requires files: units cannot read standard input");
  }
  if (standard_inputs > 1) {
    return refused("standard input ('-') is given more than once");
  }
  return {};
}

// --optional requires the source in the bundle.
Result<void> check_optional_source(const Options& options) {
  if (options.optional_programs.empty() || options.source == SourcePolicy::keep) {
    return {};
  }
  return refused("'--optional' keeps the source of '{}', and '--no-source' drops it; use "
                 "'--strip --strip-source' on the bundle to ship only what compiled",
                 options.optional_programs.front());
}

// Who signs: --sign and the compile mode.
Result<void> check_signer(const Options& options) {
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

Result<void> check_signing(const Options& options) {
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

Result<void> check_encryption(const Options& options) {
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
         std::ranges::find(k_names, row.long_name) != std::end(k_names);
}

constexpr OutputKind k_output_kinds[] = {
    {"clbin", OutputForm::bundle},
    {"ptx", OutputForm::raw_binary, format::BinaryKind::ptx},
    {"cubin", OutputForm::raw_binary, format::BinaryKind::cubin},
    {"spv", OutputForm::raw_binary, format::BinaryKind::spirv},
    {"bin", OutputForm::raw_binary, format::BinaryKind::unknown},
    {"h", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::c_header},
    {"c", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::c_source},
    {"o", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::object},
    {"s", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::assembly},
    {"hpp", OutputForm::launchers}};

const OutputKind* find_output_kind(std::string_view name) {
  const auto* const found = std::ranges::find(k_output_kinds, name, &OutputKind::name);
  return found == std::end(k_output_kinds) ? nullptr : found;
}

} // namespace

const OutputKind& output_kind(const Options& options) {
  const OutputKind* found = nullptr;
  if (options.emit) {
    found = find_output_kind(*options.emit);
  } else if (options.output && options.output->has_extension()) {
    found = find_output_kind(std::string_view(options.output->extension().native()).substr(1));
  }
  return found == nullptr ? k_output_kinds[0] : *found;
}

bool is_output_kind(std::string_view name) noexcept {
  return find_output_kind(name) != nullptr;
}

std::string output_kinds() {
  std::vector<std::string_view> names;
  std::ranges::transform(k_output_kinds, std::back_inserter(names), &OutputKind::name);
  return fmt::format("{}", fmt::join(names, ", "));
}

unsigned worker_count(const Options& options) noexcept {
  return options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::string mode_spelling(Mode mode) {
  const auto row = std::ranges::find(option_table(), mode, &OptionRow::mode);
  return mode == Mode::compile || row == option_table().end() ? ""
                                                              : fmt::format("--{}", row->long_name);
}

Result<std::vector<std::string>> parse_driver_options(const std::vector<std::string>& words) {
  Options options;
  WordSorter sorter(words, options);
  CLBIN_TRY(sorter.sort());
  const auto other = std::ranges::find_if(
      sorter.applied(), [](const OptionRow* row) { return !is_for_drivers(*row); });
  if (other != sorter.applied().end() || !sorter.first_other().empty()) {
    const std::string found =
        other == sorter.applied().end() ? sorter.first_other() : short_spelling(**other);
    return refused("'{}' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror", found);
  }
  return options.driver_options;
}

// What --source-only leaves without effect is an error.
Result<void> check_source_only(const Options& options) {
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
  return refused("'--source-only' compiles nothing, and cannot be used with '{}'", option);
}

Result<void> check_optional_programs(const Options& options,
                                     const std::vector<std::string>& names) {
  for (const std::string& name : options.optional_programs) {
    if (std::ranges::find(names, name) == names.end()) {
      return refused("'--optional {}': there is no program '{}'; there {} '{}'", name, name,
                     names.size() == 1 ? "is" : "are", fmt::join(names, "', '"));
    }
  }
  return {};
}

Result<void> check_program_names(const std::vector<Input>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (inputs[i].program == inputs[j].program) {
        return refused("'{}' and '{}' would both be program '{}'; name one of them with "
                       "'--program NAME=FILE'",
                       inputs[j].path.string(), inputs[i].path.string(), inputs[i].program);
      }
    }
  }
  return {};
}

Result<Options> parse_command_line(const std::vector<std::string>& words) {
  Options options;
  if (!words.empty() && words.front() == "--worker") {
    options.mode = Mode::worker;
    return options;
  }
  CLBIN_TRY_ASSIGN(std::vector<std::string> expanded, expand_response_files(words));
  options.command = take_command(expanded);
  WordSorter sorter(expanded, options);
  CLBIN_TRY(sorter.sort());
  CLBIN_TRY(enter_modes(sorter.applied(), options));
  for (const Given& given : sorter.rest()) {
    CLBIN_TRY(apply(given, options));
  }
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

Result<Specialization> parse_specialization(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto size =
      equals == std::string::npos || equals == 0
          ? std::nullopt
          : clbin::listing::parse_group_size(std::string_view(text).substr(equals + 1), 'x');
  if (!size) {
    return fail(ErrorCode::invalid_argument,
                "'--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one "
                "to three numbers from 1 to {}; not '{}'",
                clbin::listing::k_largest_group, text);
  }
  return Specialization{text.substr(0, equals), *size};
}

void add_specialization(std::vector<Specialization>& all, Specialization specialization) {
  const auto place = std::lower_bound(all.begin(), all.end(), specialization);
  if (place == all.end() || *place != specialization) {
    all.insert(place, std::move(specialization));
  }
}

} // namespace oclcc

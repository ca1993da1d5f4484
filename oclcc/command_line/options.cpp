// Words to Options: expands response files, matches each word with a row of the option table,
// applies the rows, and checks what the options mean together. gcc's single-dash options are
// applied when they are found, modes before all others, because some options depend on the mode.
#include "command_line/options.hpp"

#include "base/text.hpp"
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
  case OptionForm::optional_mode:
    return {&row, std::string(row.default_value)};
  default:
    return {&row, "yes"};
  }
}

Result<Given> match_long_option(const std::string& word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const auto row = std::ranges::find(option_table(), std::string_view(word).substr(2, equals - 2),
                                     &OptionRow::long_name);
  if (row == option_table().end() || is_word_form(row->form)) {
    return unrecognized(word);
  }
  if (equals == word.size()) {
    return given_alone(*row);
  }
  if (row->form == OptionForm::flag || row->form == OptionForm::mode) {
    return refused("option '--{}' accepts no value", row->long_name);
  }
  return Given{&*row, word.substr(equals + 1)};
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

Result<void> apply(const Given& given, Options& options) {
  const std::string& value = *given.value;
  if (given.row == nullptr) {
    if (value.empty()) {
      return refused("an input file has an empty name");
    }
    const std::filesystem::path path = base::to_path(value);
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

Result<void> check_scopes(const std::vector<const OptionRow*>& applied, Mode mode) {
  for (const OptionRow* const row : applied) {
    if (scope_allows(row->scope, mode)) {
      continue;
    }
    if (mode == Mode::compile) {
      return refused("'{}' needs {}", short_spelling(*row), modes_of(row->scope));
    }
    return refused("'{}' cannot be used with '{}'", short_spelling(*row), mode_spelling(mode));
  }
  return {};
}

// What options require of others, by the spellings of messages, which spaces separate. The first of
// `options` that is given needs one of `others`, or excludes all of them.
struct OptionRule {
  enum class Relation : std::uint8_t { needs, excludes };
  std::string_view options;
  Relation relation;
  std::string_view others;
  OptionScope modes = ~0ULL; // in which it applies
  std::string_view text{};   // instead of the usual one; {0} is the option, {1} the others
};

constexpr OptionRule k_rules[] = {
    // --verify starts drivers only with --run.
    {"--device -j --timeout", OptionRule::Relation::needs, "--run", scope_of(Mode::verify)},
    {"-MF -MT -MQ -MP", OptionRule::Relation::needs, "-M -MM -MD -MMD", scope_of(Mode::compile),
     "'-MF', '-MT', '-MQ' and '-MP' need '-M' or '-MD'"},
    {"--key --sign-key", OptionRule::Relation::excludes, "--sign-with"},
    {"--sign-key --sign-with --encrypt-key --encrypt-for", OptionRule::Relation::excludes,
     "-fsyntax-only -M -MM"},
    {"--sign", OptionRule::Relation::needs, "--key --sign-with"},
    {"--public-key", OptionRule::Relation::needs, "--sign-with --verify"},
    {"--counter", OptionRule::Relation::needs, "--sign-key --sign-with",
     scope_of(Mode::compile, Mode::split)},
    {"--passphrase-file", OptionRule::Relation::needs, "--key --vouched-by", scope_of(Mode::sign),
     "'{0}' needs '--key'"},
    {"--passphrase-file", OptionRule::Relation::needs, "--sign-key",
     scope_of(Mode::compile, Mode::split)},
    {"--no-passphrase", OptionRule::Relation::excludes, "--passphrase-file"},
    {"--fail-on", OptionRule::Relation::needs, "--against"},
    {"--watch", OptionRule::Relation::excludes, "-M -MM -### --compile-commands --unit"},
    {"--csv", OptionRule::Relation::excludes, "--json"},
    {"--html", OptionRule::Relation::excludes, "--json --csv"},
    {"--detached", OptionRule::Relation::excludes, "--counter --vouched-by --least-counter"},
    {"--detached --least-counter", OptionRule::Relation::needs, "--public-key",
     scope_of(Mode::verify)},
    {"--encrypt", OptionRule::Relation::needs, "--encrypt-key --encrypt-for"},
    {"--decrypt", OptionRule::Relation::needs, "--decrypt-key"},
    {"--source-only", OptionRule::Relation::excludes,
     "--no-source --target --device --device-option --specialize --emit-cubin -fsyntax-only -###",
     scope_of(Mode::compile), "'{0}' compiles nothing, and cannot be used with {1}"},
};

Result<void> check_rule(const OptionRule& rule, const std::set<std::string, std::less<>>& given) {
  const auto first_given = [&](const std::vector<std::string_view>& words) {
    return std::ranges::find_if(words, [&](std::string_view word) { return given.contains(word); });
  };
  const auto options = base::words_between_spaces(rule.options);
  const auto others = base::words_between_spaces(rule.others);
  const auto option = first_given(options);
  const auto other = first_given(others);
  const bool is_conflict = other != others.end();
  if (option == options.end() || is_conflict != (rule.relation == OptionRule::Relation::excludes)) {
    return {};
  }
  const std::string_view usual =
      is_conflict ? "'{0}' and {1} cannot be used together" : "'{0}' needs {1}";
  const std::string named =
      is_conflict ? fmt::format("'{}'", *other) : fmt::format("'{}'", fmt::join(others, "' or '"));
  return refused("{}",
                 fmt::format(fmt::runtime(rule.text.empty() ? usual : rule.text), *option, named));
}

Result<void> check_rules(const std::vector<const OptionRow*>& applied, Mode mode) {
  std::set<std::string, std::less<>> given;
  for (const OptionRow* const row : applied) {
    given.insert(short_spelling(*row));
  }
  if (given.contains("-###")) {
    given.erase("-fsyntax-only"); // -### has priority
  }
  for (const OptionRule& rule : k_rules) {
    if (scope_allows(rule.modes, mode)) {
      CLBIN_TRY(check_rule(rule, given));
    }
  }
  return {};
}

// What options require of each other's values.
Result<void> check_values(const Options& options) {
  if (options.signing.command && options.public_keys.size() != 1) {
    return refused("'--sign-with' needs one '--public-key'");
  }
  if (options.watch == WatchPolicy::yes &&
      (options.output == "-" ||
       std::ranges::find(options.inputs, "-", &Input::path) != options.inputs.end())) {
    return refused("'--watch' requires regular files, and '-' is none");
  }
  if (options.key_type != KeyType::signing && options.signing.passphrase_file) {
    return refused("'--key-type {}' and '--passphrase-file' cannot be used together",
                   options.key_type == KeyType::content ? "content" : "recipient");
  }
  for (const auto& [variant, extensions] : options.requirements) {
    if (std::ranges::find(options.variants, variant, &Variant::name) == options.variants.end()) {
      return refused("'--requires {}={}': there is no '--variant {}'", variant,
                     fmt::join(extensions, ","), variant);
    }
  }
  if (!options.optional_programs.empty() && options.source == SourcePolicy::drop) {
    return refused("'--optional' keeps the source of '{}', and '--no-source' drops it; use "
                   "'--strip --strip-source' on the bundle to ship only what compiled",
                   options.optional_programs.front());
  }
  return {};
}

// The first option that has no effect on `input`, k_bundle_input or k_rebuilt_bundle.
std::string first_option_without(OptionScope input, const std::vector<const OptionRow*>& applied) {
  const auto found = std::ranges::find_if(
      applied, [&](const OptionRow* row) { return (row->scope & input) == 0; });
  return found == applied.end() ? std::string() : short_spelling(**found);
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

Result<void> check_inputs(const Options& options) {
  const std::vector<Input>& inputs = options.inputs;
  const std::string mode = mode_spelling(options.mode);
  const std::string first = inputs.empty() ? "" : inputs.front().path.string();
  constexpr OptionScope k_without_inputs =
      scope_of(Mode::list_devices, Mode::list_targets, Mode::identity, Mode::cache_stats,
               Mode::clear_cache, Mode::keygen, Mode::record);
  const bool takes_none = scope_allows(k_without_inputs, options.mode);
  const bool compiles = options.mode == Mode::compile || options.mode == Mode::plan;
  if (options.mode == Mode::record && !inputs.empty()) {
    return refused("'--record' requires '--' before the command '{}'", first);
  }
  if (options.mode == Mode::record &&
      (options.command.empty() || options.command.front().empty())) {
    return refused("'--record' requires a command: --record {} -- COMMAND",
                   options.recording->string());
  }
  if (takes_none && !inputs.empty()) {
    return refused("'{}' accepts no input file, but '{}' is given", mode, first);
  }
  if (!takes_none && inputs.empty()) {
    return compiles ? refused("no input file; 'oclcc --help' lists the common options")
                    : refused("'{}' needs a {}", mode,
                              options.mode == Mode::import_binaries ? "device binary"
                              : options.mode == Mode::report        ? "bundle or a device binary"
                                                                    : "bundle");
  }
  const bool takes_one =
      scope_allows(scope_of(Mode::sign_message, Mode::disassemble, Mode::provenance, Mode::sbom,
                            Mode::reproduce, Mode::tune, Mode::split),
                   options.mode);
  if (takes_one && inputs.size() != 1) {
    return refused("'{}' accepts one {}, not {}", mode,
                   options.mode == Mode::disassemble ? "file" : "bundle", inputs.size());
  }
  if (options.mode == Mode::diff && inputs.size() != 2) {
    return refused("'{}' compares two bundles, not {}", mode, inputs.size());
  }
  if (options.mode == Mode::disassemble && options.wanted_kernels.size() > 1) {
    return refused("'{}' accepts one '--kernel'", mode);
  }
  if (options.against && inputs.size() != 1) {
    return refused("'--against' compares one file, not {}", inputs.size());
  }
  const auto standard_inputs = std::ranges::count(inputs, "-", &Input::path);
  if (standard_inputs > 0 && options.mode == Mode::plan) {
    return refused("'--plan' requires files: units cannot read standard input");
  }
  if (standard_inputs > 1) {
    return refused("standard input ('-') is given more than once");
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
    {"asm", OutputForm::raw_binary, {}, {}, RawContent::assembly},
    {"h", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::c_header},
    {"c", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::c_source},
    {"o", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::object},
    {"s", OutputForm::embedding, format::BinaryKind::unknown, embed::EmbedForm::assembly},
    {"hpp", OutputForm::launchers},
    {"measurements", OutputForm::measurements}};

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
    found = find_output_kind(options.output->extension().string().substr(1));
  }
  return found == nullptr ? k_output_kinds[0] : *found;
}

Result<void> check_output_kind(std::string_view name) {
  if (find_output_kind(name) != nullptr) {
    return {};
  }
  std::vector<std::string_view> names;
  std::ranges::transform(k_output_kinds, std::back_inserter(names), &OutputKind::name);
  return refused("'--emit' accepts one of {}, not '{}'", fmt::join(names, ", "), name);
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

namespace {
constexpr std::string_view k_every_program = "*"; // no program has this name
} // namespace

bool is_optional(const Options& options, std::string_view program) {
  return std::ranges::any_of(options.optional_programs, [&](const std::string& name) {
    return name == program || name == k_every_program;
  });
}

Result<void> check_optional_programs(const Options& options,
                                     const std::vector<std::string>& names) {
  for (const std::string& name : options.optional_programs) {
    if (name != k_every_program && std::ranges::find(names, name) == names.end()) {
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
  CLBIN_TRY_ASSIGN(std::vector<std::string> expanded,
                   expand_response_files(words, options.response_files));
  options.command = take_command(expanded);
  WordSorter sorter(expanded, options);
  CLBIN_TRY(sorter.sort());
  for (const OptionRow* const row : sorter.applied()) { // modes first: some options depend on them
    if (row->form == OptionForm::mode || row->form == OptionForm::optional_mode) {
      CLBIN_TRY(enter_mode(options, row->mode));
    }
  }
  for (const Given& given : sorter.rest()) {
    CLBIN_TRY(apply(given, options));
  }
  if (options.mode == Mode::help || options.mode == Mode::version) {
    return options;
  }
  CLBIN_TRY(check_scopes(sorter.applied(), options.mode));
  CLBIN_TRY(check_inputs(options));
  CLBIN_TRY(check_rules(sorter.applied(), options.mode));
  CLBIN_TRY(check_values(options));
  if (options.mode == Mode::plan) {
    options.words = std::move(expanded);
  }
  options.compiling_option = first_option_without(k_bundle_input, sorter.applied());
  options.source_option = first_option_without(k_rebuilt_bundle, sorter.applied());
  return options;
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

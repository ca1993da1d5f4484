#include "layer/layer_settings.hpp"

#include "base/crypto/key_text.hpp"
#include "base/text.hpp"
#include "loader/run_time_program.hpp"
#include "source/directive_scanner.hpp"

namespace clbin::layer {

namespace {

constexpr std::uint64_t k_max_key_file_bytes = 4096;
constexpr std::size_t k_max_problems = 20;
constexpr std::size_t k_fewest_digits = 8;
constexpr std::size_t k_digest_digits = 64;

// The settings of a file and the variables. Each returns the problem with the value, or "".
std::string set_mode(LayerSettings& settings, std::string_view value) {
  for (const Mode mode : {Mode::cache, Mode::serve, Mode::record, Mode::strict}) {
    if (format::name_of(mode) == value) {
      settings.mode = mode;
      return {};
    }
  }
  return fmt::format("unknown mode '{}': expected cache, serve, record or strict",
                     base::printable(value));
}

std::string set_bundles(LayerSettings& settings, std::string_view value) {
  settings.bundles = base::paths_in(value);
  if (settings.bundles.size() <= loader::k_most_listed_bundles) {
    return {};
  }
  settings.bundles.resize(loader::k_most_listed_bundles);
  return fmt::format("more than {} bundles: the others are not used",
                     loader::k_most_listed_bundles);
}

template <auto Member>
std::string set_path(LayerSettings& settings, std::string_view value) {
  settings.*Member = value;
  return {};
}

// The settings of signatures fail closed. After any problem, a signature is required all the same.
std::string set_public_keys(LayerSettings& settings, std::string_view value) {
  settings.public_keys.clear();
  std::string problem;
  for (const std::filesystem::path& path : base::paths_in(value)) {
    const auto bytes = base::read_regular_file(path, k_max_key_file_bytes);
    const auto key = bytes.has_value() ? base::parse_minisign_public_key(base::as_text(*bytes))
                                       : tl::unexpected(bytes.error());
    if (key.has_value()) {
      settings.public_keys.push_back(key->key);
    } else if (problem.empty()) {
      problem = fmt::format("'{}' is not trusted: {}", base::printable(path.string()),
                            key.error().message);
    }
  }
  if (settings.public_keys.empty() && problem.empty()) {
    return "no file is named, and no bundle is trusted";
  }
  return problem;
}

// No counter is enough after a problem.
std::string set_least_counter(LayerSettings& settings, std::string_view value) {
  settings.least_counter = std::numeric_limits<std::uint64_t>::max();
  const auto counter = base::parse_number<std::uint64_t>(value);
  if (!counter.has_value()) {
    return fmt::format("'{}' is not a number", base::printable(value));
  }
  settings.least_counter = *counter;
  return {};
}

template <bool LayerSettings::*Member>
std::string set_switch(LayerSettings& settings, std::string_view value) {
  const std::optional<bool> is_on = base::parse_switch(value);
  if (!is_on.has_value()) {
    return fmt::format("'{}' is neither 1 nor 0, yes nor no", base::printable(value));
  }
  settings.*Member = *is_on;
  return {};
}

std::string set_record_data(LayerSettings& settings, std::string_view value) {
  const auto bytes = base::parse_number<std::uint64_t>(value);
  settings.recorded_data_bytes = bytes.value_or(0);
  return bytes.has_value() ? "" : fmt::format("'{}' is not a number", base::printable(value));
}

// Off after a problem.
std::string set_unsigned_cache(LayerSettings& settings, std::string_view value) {
  settings.has_unsigned_cache = false;
  return set_switch<&LayerSettings::has_unsigned_cache>(settings, value);
}

enum class Concern : std::uint8_t { builds, signatures, keys };

struct Setting {
  std::string_view key;
  const char* variable;
  std::string (*set)(LayerSettings&, std::string_view);
  Concern concern = Concern::builds;
};
constexpr std::array<Setting, 11> k_settings{{
    {"mode", "CLBIN_LAYER_MODE", set_mode},
    {"bundles", "CLBIN_LAYER_BUNDLES", set_bundles},
    {"log", "CLBIN_LAYER_LOG", set_path<&LayerSettings::log>},
    {"record", "CLBIN_LAYER_RECORD", set_path<&LayerSettings::record_folder>},
    {"record-binaries", "CLBIN_LAYER_RECORD_BINARIES",
     set_switch<&LayerSettings::records_binaries>},
    {"record-data", "CLBIN_LAYER_RECORD_DATA", set_record_data},
    {"record-source", "CLBIN_LAYER_RECORD_SOURCE", set_switch<&LayerSettings::records_source>},
    {"cache-pocl", "CLBIN_CACHE_POCL", set_switch<&LayerSettings::caches_pocl>},
    {"public-keys", "CLBIN_LAYER_PUBLIC_KEYS", set_public_keys, Concern::keys},
    {"least-counter", "CLBIN_LAYER_LEAST_COUNTER", set_least_counter, Concern::signatures},
    {"unsigned", "CLBIN_LAYER_UNSIGNED", set_unsigned_cache, Concern::signatures},
}};

// Returns the problem with the value; empty if there is none.
std::string apply(const Setting& setting, std::string_view value, SettingsRead& result) {
  if (setting.concern != Concern::builds) {
    result.settings.signatures = SignatureUse::required;
  }
  result.names_keys |= setting.concern == Concern::keys;
  return setting.set(result.settings, value);
}

// Adds "PLACE: PROBLEM" if there is a problem.
void add_problem(SettingsRead& result, std::string_view place, std::string_view problem) {
  if (!problem.empty() && result.problems.size() < k_max_problems) {
    result.problems.push_back(fmt::format("{}: {}", place, problem));
  }
}

bool is_digest_start(std::string_view text) {
  return text.size() >= k_fewest_digits && text.size() <= k_digest_digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Reads a file line by line.
class ConfigurationParser {
public:
  explicit ConfigurationParser(SettingsRead& result) : m_result(result) {}

  // Returns the problem with the line; empty if there is none.
  std::string read_line(const base::Result<std::string_view>& text) {
    if (!text.has_value()) {
      return not_understood(text.error().message);
    }
    return text->front() == '[' ? read_section(*text) : read_setting(*text);
  }

private:
  enum class Section : std::uint8_t { general, rule, unknown };

  std::string read_section(std::string_view line) {
    m_section = Section::unknown;
    if (line.back() != ']') {
      return not_understood("missing ']'");
    }
    const std::string_view inside = base::without_blanks(line.substr(1, line.size() - 2));
    const std::size_t space = std::min(inside.find_first_of(" \t"), inside.size());
    const std::string_view kind = inside.substr(0, space);
    const std::string_view name = base::without_blanks(inside.substr(space));
    const bool is_program = kind == "program";
    if (is_program && !is_digest_start(name)) {
      return not_understood(fmt::format("'{}' is not {} to {} lower-case hexadecimal digits",
                                        base::printable(name), k_fewest_digits, k_digest_digits));
    }
    // A name with a blank or '=' may be a setting that was meant to have a line of its own.
    const bool is_word = !name.empty() && name.find_first_of(" \t=") == std::string_view::npos;
    if (!is_program && (kind != "kernel" || !is_word)) {
      return not_understood(
          fmt::format("unknown section '{}': expected 'program DIGEST' or 'kernel NAME'",
                      base::printable(inside)));
    }
    m_section = Section::rule;
    m_rule.subject = is_program ? OptionRule::Subject::program : OptionRule::Subject::kernel;
    m_rule.name = name;
    return {};
  }

  // Returns a problem with a line that may have been meant to require signatures.
  std::string not_understood(std::string problem) {
    m_result.is_file_unclear = true;
    return problem;
  }

  std::string read_setting(std::string_view line) {
    const auto parsed = base::parse_setting(line);
    if (!parsed.has_value()) {
      return not_understood(parsed.error().message);
    }
    const auto& [key, value] = *parsed;
    if (m_section != Section::general) {
      return add_rule(key, value);
    }
    const auto* const setting = std::ranges::find_if(
        k_settings, [&name = parsed->name](const Setting& known) { return known.key == name; });
    if (setting == k_settings.end()) {
      return not_understood(fmt::format("unknown setting '{}'", base::printable(key)));
    }
    if (setting->concern != Concern::builds && !m_given.insert(setting->key).second) {
      return not_understood(fmt::format("'{}' is set twice", setting->key));
    }
    return apply(*setting, value, m_result);
  }

  std::string add_rule(std::string_view key, std::string_view value) {
    m_rule.options = value;
    m_rule.action =
        key == "replace-options" ? OptionRule::Action::replace : OptionRule::Action::append;
    if (key != "replace-options" && key != "append-options") {
      return not_understood(
          fmt::format("unknown setting '{}': expected append-options or replace-options",
                      base::printable(key)));
    }
    if (m_section == Section::rule) { // an unknown one has been reported
      m_result.settings.rules.push_back(m_rule);
    }
    return {};
  }

  SettingsRead& m_result;
  std::set<std::string_view> m_given; // settings of signatures
  Section m_section = Section::general;
  OptionRule m_rule; // with the subject and the name of the section
};

// A pipe would stop the application, and is empty for the second process that reads it.
void read_configuration_file(const std::string& path, SettingsRead& result) {
  const auto bytes = base::read_regular_file(path, base::k_max_configuration_bytes);
  if (!bytes.has_value()) {
    add_problem(result, "CLBIN_LAYER_CONFIG", bytes.error().message);
    result.is_file_unclear = true;
    return;
  }
  apply_configuration(base::as_text(*bytes), path, result);
}

// Fails closed if a file may have required signatures, or if the keys are missing. These problems
// are reported whatever the number of the others.
void check_signatures(SettingsRead& result) {
  LayerSettings& settings = result.settings;
  if (result.is_file_unclear) {
    settings.signatures = SignatureUse::required;
    settings.public_keys.clear();
    settings.has_unsigned_cache = false;
    result.problems.emplace_back("no bundle is trusted and the user cache is not used: the "
                                 "configuration file is not understood completely, and may "
                                 "require signatures");
  } else if (settings.signatures == SignatureUse::required && !result.names_keys) {
    result.problems.emplace_back("no bundle is trusted: CLBIN_LAYER_LEAST_COUNTER and "
                                 "CLBIN_LAYER_UNSIGNED require keys in CLBIN_LAYER_PUBLIC_KEYS");
  }
}

// Settings that contradict each other: without its directory or bundles, a mode does nothing.
void check_mode(SettingsRead& result) {
  LayerSettings& settings = result.settings;
  if (settings.mode == Mode::record && settings.record_folder.empty()) {
    result.problems.emplace_back("mode 'record' requires a directory in CLBIN_LAYER_RECORD");
    settings.mode = Mode::cache;
  } else if (settings.mode == Mode::serve && settings.bundles.empty()) {
    result.problems.emplace_back("mode 'serve' requires bundles in CLBIN_LAYER_BUNDLES");
    settings.mode = Mode::cache;
  }
}

} // namespace

void apply_configuration(std::string_view text, const std::string& file, SettingsRead& result) {
  ConfigurationParser parser(result);
  for (const base::ConfigurationLine& line : base::configuration_lines(text)) {
    add_problem(result, fmt::format("{}:{}", file, line.number), parser.read_line(line.text));
  }
}

SettingsRead read_settings(const cache::ProcessEnvironment& environment) {
  SettingsRead result;
  // An empty variable is one that is not set, except where a signature may be meant.
  if (const auto path = environment.variable("CLBIN_LAYER_CONFIG")) {
    read_configuration_file(*path, result);
  }
  for (const Setting& setting : k_settings) {
    const auto value = environment.variable(setting.variable);
    const bool is_set =
        value.has_value() && (!value->empty() || setting.concern != Concern::builds);
    if (is_set) {
      add_problem(result, setting.variable, apply(setting, *value, result));
    }
  }
  check_mode(result);
  check_signatures(result);
  return result;
}

namespace {

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !source::is_identifier(text[at - 1]);
    if (begins && (end == text.size() || !source::is_identifier(text[end]))) {
      return true;
    }
  }
  return false;
}

} // namespace

std::string apply_rules(const std::vector<OptionRule>& rules, const RuledProgram& program,
                        std::string_view options) {
  std::string result(options);
  for (const OptionRule& rule : rules) {
    if (rule.subject == OptionRule::Subject::program ? !program.digest.starts_with(rule.name)
                                                     : !contains_word(program.text, rule.name)) {
      continue;
    }
    if (rule.action == OptionRule::Action::replace) {
      result = rule.options;
    } else {
      result += (result.empty() || rule.options.empty() ? "" : " ") + rule.options;
    }
  }
  return result;
}

} // namespace clbin::layer

#include "command_line/option_effects.hpp"

#include "command_line/make_spelling.hpp"
#include "command_line/option_table.hpp"
#include "command_line/output_kind.hpp"
#include "embed/object_target.hpp"
#include "embed/symbol_name.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace oclcc {

namespace base = clbin::base;

namespace {

constexpr unsigned k_max_jobs = 1024;
constexpr unsigned k_max_timeout_seconds = 24 * 60 * 60;

template <typename Number>
base::Result<Number> parse_number(std::string_view option, const std::string& text,
                                  Number maximum) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || number == 0 || number > maximum) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' requires a number from 1 to {}, not '{}'", option, maximum, text);
  }
  return number;
}

base::Result<std::uint64_t> parse_counter(std::string_view option, const std::string& text) {
  return parse_number(option, text, std::numeric_limits<std::uint64_t>::max());
}

// Whether `line` is the base64 of a content key ("CK" and 40 bytes) or of a recipient's secret key
// ("XS" and 40 bytes), or the most of it.
bool is_secret_line(std::string_view line) {
  constexpr std::size_t k_most_characters = 40; // of 56
  constexpr std::string_view k_digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bool is_content_key =
      line.starts_with("Q0") && line.find_first_of("stuv", 2) == 2; // "CK" is not whole digits
  const bool is_recipient = line.starts_with("WF") && line.find_first_of("MNOP", 2) == 2;
  return (is_content_key || is_recipient) &&
         std::min(line.find_first_not_of(k_digits), line.size()) >= k_most_characters;
}

// The text of a secret key is not printed: a message may be kept in a log. In minisign's base64 it
// begins with its algorithms: "Ed", then "Sc" and "B2", or two zeros and "B2".
bool contains_secret_key(std::string_view text) {
  if (text.find("RWRTY0Iy") != std::string::npos || text.find("RWQAAEIy") != std::string::npos) {
    return true;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    if (is_secret_line(text.substr(at, end - at))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

base::Result<void> refuse_secret_key(std::string_view option, const std::string& value) {
  if (!contains_secret_key(value)) {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "'{}' requires the name of a file, not the text of a secret key", option);
}

tl::unexpected<base::Error> given_again(std::string_view option) {
  return base::fail(base::ErrorCode::invalid_argument, "'{}' is given more than once", option);
}

// For options that decide who signs: the last of several must not win silently.
template <typename Value>
base::Result<void> set_once(std::optional<Value>& target, std::string_view option,
                            const std::string& value) {
  CLBIN_TRY(refuse_secret_key(option, value));
  if (target) {
    return given_again(option);
  }
  target = value;
  return {};
}

struct NameAndValue {
  std::string name;
  std::string value;
};

base::Result<NameAndValue> split_at_equals(std::string_view option, const std::string& text,
                                           std::string_view shape) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' requires {}, not '{}'", option,
                      shape, text);
  }
  return NameAndValue{text.substr(0, equals), text.substr(equals + 1)};
}

} // namespace

base::Result<void> enter_mode(Options& options, Mode mode) {
  // --help and --version override every other mode.
  if (options.mode == Mode::help || options.mode == Mode::version) {
    return {};
  }
  const bool wins = mode == Mode::help || mode == Mode::version;
  if (!wins && options.mode != Mode::compile && options.mode != mode) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' and '{}' cannot be used together",
                      mode_spelling(options.mode), mode_spelling(mode));
  }
  options.mode = mode;
  return {};
}

base::Result<void> apply_help(Options& options, const std::string& value) {
  if (value == "all") {
    options.help = HelpExtent::all;
  } else if (!value.empty() && value != "common") {
    return base::fail(base::ErrorCode::invalid_argument, "'--help' accepts common or all, not '{}'",
                      value);
  }
  return enter_mode(options, Mode::help);
}

base::Result<void> apply_define(Options& options, const std::string& value) {
  options.driver_options.push_back("-D" + value);
  return {};
}

base::Result<void> apply_undefine(Options& options, const std::string& value) {
  options.driver_options.push_back("-U" + value);
  return {};
}

base::Result<void> apply_syntax_only(Options& options, const std::string&) {
  // -### has priority, as in gcc: nothing is compiled.
  if (options.goal == CompileGoal::output) {
    options.goal = CompileGoal::check;
  }
  return {};
}

base::Result<void> apply_language(Options&, const std::string& value) {
  if (value == "cl" || value == "none") {
    return {};
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "oclcc compiles OpenCL C: '-x' accepts cl or none, not '{}'", value);
}

base::Result<void> apply_emit(Options& options, const std::string& value) {
  if (!is_output_kind(value)) {
    return base::fail(base::ErrorCode::invalid_argument, "'--emit' accepts one of {}, not '{}'",
                      output_kinds(), value);
  }
  options.emit = value;
  return {};
}

base::Result<void> apply_tool(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("--tool", value, "NAME=PATH"));
  options.tools.insert_or_assign(pair.name, pair.value);
  return {};
}

base::Result<void> apply_device_option(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("--device-option", value, "PATTERN=OPTIONS"));
  auto words = parse_driver_options(split_options(pair.value));
  if (!words) {
    return base::add_context(words.error(), fmt::format("--device-option {}", pair.name));
  }
  options.device_options.push_back({pair.name, std::move(*words)});
  return {};
}

base::Result<void> apply_prefix_map(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("-ffile-prefix-map", value, "OLD=NEW"));
  options.prefix_map.push_back({pair.name, pair.value});
  return {};
}

base::Result<void> apply_rule_beside(Options& options, const std::string&) {
  // As in gcc, -M does not become -MD.
  if (options.depfile_mode == DepfileMode::none) {
    options.depfile_mode = DepfileMode::beside_output;
  }
  return {};
}

base::Result<void> apply_quoted_depfile_target(Options& options, const std::string& value) {
  options.depfile_targets.push_back(escape_for_make(value));
  return {};
}

base::Result<void> apply_program(Options& options, const std::string& value) {
  if (options.mode == Mode::extract) {
    options.wanted_programs.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("--program", value, "NAME=FILE"));
  if (pair.value.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "'--program {}' names no file", value);
  }
  options.inputs.push_back({pair.value, pair.name});
  return {};
}

base::Result<void> apply_variant(Options& options, const std::string& value) {
  if (options.mode == Mode::extract) {
    options.wanted_variants.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("--variant", value, "NAME='OPTIONS'"));
  const bool taken = std::any_of(options.variants.begin(), options.variants.end(),
                                 [&](const Variant& other) { return other.name == pair.name; });
  if (taken) {
    return base::fail(base::ErrorCode::invalid_argument, "variant '{}' is given twice", pair.name);
  }
  auto words = parse_driver_options(split_options(pair.value));
  if (!words) {
    return base::add_context(words.error(), fmt::format("variant '{}'", pair.name));
  }
  options.variants.push_back({pair.name, std::move(*words)});
  return {};
}

base::Result<void> apply_symbol(Options& options, const std::string& value) {
  CLBIN_TRY(embed::check_symbol(value));
  options.symbol = value;
  return {};
}

base::Result<void> apply_host_triple(Options& options, const std::string& value) {
  CLBIN_TRY(embed::object_target(value));
  options.host_triple = value;
  return {};
}

base::Result<void> apply_specialize(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(Specialization specialization, parse_specialization(value));
  add_specialization(options.specializations, std::move(specialization));
  return {};
}

base::Result<void> apply_record(Options& options, const std::string& value) {
  options.recording = value;
  return enter_mode(options, Mode::record);
}

base::Result<void> apply_keygen(Options& options, const std::string& value) {
  CLBIN_TRY(set_once(options.key_pair, "--keygen", value));
  const std::string name = options.key_pair->filename().string();
  if (name.empty() || name == "." || name == "..") {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--keygen' requires a name for the files, but '{}' is a directory", value);
  }
  return enter_mode(options, Mode::keygen);
}

base::Result<void> apply_plan(Options& options, const std::string& value) {
  constexpr std::pair<std::string_view, PlanFormat> k_formats[] = {
      {"ninja", PlanFormat::ninja},
      {"json", PlanFormat::json},
      {"slurm", PlanFormat::slurm},
      {"parallel", PlanFormat::parallel}};
  for (const auto& [name, format] : k_formats) {
    if (value == name) {
      options.plan_format = format;
      return enter_mode(options, Mode::plan);
    }
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    "'--plan' accepts ninja, json, slurm or parallel, not '{}'", value);
}

base::Result<void> apply_unit(Options& options, const std::string& value) {
  const auto key = base::digest_from_hex(value);
  if (!key) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--unit' requires the key of a unit, 64 hexadecimal digits, not '{}'",
                      value);
  }
  options.unit = *key;
  return {};
}

base::Result<void> apply_key(Options& options, const std::string& value) {
  return set_once(options.signing.key, "--key", value);
}

base::Result<void> apply_sign_key(Options& options, const std::string& value) {
  if (options.mode == Mode::sign) { // an error of its own, which is not that of a second key
    return refuse_secret_key("--sign-key", value);
  }
  return set_once(options.signing.key, "--sign-key", value);
}

base::Result<void> apply_sign_with(Options& options, const std::string& value) {
  return set_once(options.signing.command, "--sign-with", value);
}

base::Result<void> apply_public_key(Options& options, const std::string& value) {
  CLBIN_TRY(refuse_secret_key("--public-key", value));
  options.public_keys.push_back(value);
  return {};
}

base::Result<void> apply_counter(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(const std::uint64_t counter, parse_counter("--counter", value));
  if (options.signing.counter) {
    return given_again("--counter");
  }
  options.signing.counter = counter;
  return {};
}

base::Result<void> apply_least_counter(Options& options, const std::string& value) {
  if (options.least_counter != 0) {
    return given_again("--least-counter");
  }
  CLBIN_TRY_ASSIGN(options.least_counter, parse_counter("--least-counter", value));
  return {};
}

base::Result<void> apply_vouched_by(Options& options, const std::string& value) {
  return set_once(options.signing.vouching_key, "--vouched-by", value);
}

base::Result<void> apply_passphrase_file(Options& options, const std::string& value) {
  return set_once(options.signing.passphrase_file, "--passphrase-file", value);
}

base::Result<void> apply_key_type(Options& options, const std::string& value) {
  if (value == "signing") {
    options.key_type = KeyType::signing;
  } else if (value == "content") {
    options.key_type = KeyType::content;
  } else if (value == "recipient") {
    options.key_type = KeyType::recipient;
  } else {
    CLBIN_TRY(refuse_secret_key("--key-type", value));
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--key-type' accepts signing, content or recipient, not '{}'", value);
  }
  return {};
}

base::Result<void> apply_encrypt_key(Options& options, const std::string& value) {
  return set_once(options.encryption.key, "--encrypt-key", value);
}

base::Result<void> apply_encrypt_for(Options& options, const std::string& value) {
  CLBIN_TRY(refuse_secret_key("--encrypt-for", value));
  options.encryption.recipients.push_back(value);
  return {};
}

base::Result<void> apply_decrypt_key(Options& options, const std::string& value) {
  CLBIN_TRY(refuse_secret_key("--decrypt-key", value));
  options.decrypt_keys.emplace_back(value);
  return {};
}

base::Result<void> apply_jobs(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(options.jobs, parse_number("-j", value, k_max_jobs));
  return {};
}

base::Result<void> apply_timeout(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(options.timeout_seconds,
                   parse_number("--timeout", value, k_max_timeout_seconds));
  return {};
}

base::Result<void> apply_memory_limit(Options& options, const std::string& value) {
  if (value == "none") {
    options.memory_limit_bytes = 0;
    return {};
  }
  constexpr std::string_view k_units = "KMGT";
  constexpr std::uint64_t k_least = 1ULL << 20U;
  constexpr std::uint64_t k_most = 1ULL << 50U;
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, number);
  const std::size_t unit = stop == end ? 0 : k_units.find(*stop);
  const bool is_whole = stop == end || (stop + 1 == end && unit != std::string_view::npos);
  const auto shift = static_cast<unsigned>(stop == end ? 0 : 10 * (unit + 1));
  if (code != std::errc() || !is_whole || number > (k_most >> shift) || number << shift < k_least) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--memory-limit' accepts none or a size of at least 1M, such as 512M or 4G, "
                      "not '{}'",
                      value);
  }
  options.memory_limit_bytes = number << shift;
  return {};
}

base::Result<void> apply_color(Options& options, const std::string& value) {
  if (value == "auto") {
    options.color = ColorMode::automatic;
  } else if (value == "always") {
    options.color = ColorMode::always;
  } else if (value == "never") {
    options.color = ColorMode::never;
  } else {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--color' accepts auto, always or never, not '{}'", value);
  }
  return {};
}

base::Result<void> apply_diagnostics_format(Options& options, const std::string& value) {
  if (value == "text") {
    options.diagnostics_format = DiagnosticsFormat::text;
  } else if (value == "json") {
    options.diagnostics_format = DiagnosticsFormat::json;
  } else if (value == "sarif") {
    options.diagnostics_format = DiagnosticsFormat::sarif;
  } else {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'--diagnostics-format' accepts text, json or sarif, not '{}'", value);
  }
  return {};
}

} // namespace oclcc

#include "option_table.hpp"

#include "option_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace oclcc {

namespace base = clbin::base;

namespace {

constexpr unsigned k_max_jobs = 1024;
constexpr unsigned k_max_timeout_seconds = 24 * 60 * 60;

base::Result<void> set_mode(Options& options, Mode mode, std::string_view spelling) {
  // --help and --version answer whatever else is asked.
  if (options.mode == Mode::help || options.mode == Mode::version) {
    return {};
  }
  const bool wins = mode == Mode::help || mode == Mode::version;
  if (!wins && options.mode != Mode::compile && options.mode != mode) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' and '{}' cannot be used together",
                      mode_spelling(options.mode), spelling);
  }
  options.mode = mode;
  return {};
}

base::Result<unsigned> parse_number(std::string_view option, const std::string& text,
                                    unsigned maximum) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || number == 0 || number > maximum) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "'{}' takes a number from 1 to {}, not '{}'", option, maximum, text);
  }
  return number;
}

struct NameAndValue {
  std::string name;
  std::string value;
};

base::Result<NameAndValue> split_at_equals(std::string_view option, const std::string& text,
                                           std::string_view shape) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' takes {}, not '{}'", option, shape,
                      text);
  }
  return NameAndValue{text.substr(0, equals), text.substr(equals + 1)};
}

base::Result<void> apply_help(Options& options, const std::string&) {
  return set_mode(options, Mode::help, "--help");
}
base::Result<void> apply_version(Options& options, const std::string&) {
  return set_mode(options, Mode::version, "--version");
}
base::Result<void> apply_info(Options& options, const std::string&) {
  return set_mode(options, Mode::info, "--info");
}
base::Result<void> apply_list_devices(Options& options, const std::string&) {
  return set_mode(options, Mode::list_devices, "--list-devices");
}
base::Result<void> apply_json(Options& options, const std::string&) {
  options.list_format = ListFormat::json;
  return {};
}
base::Result<void> apply_output(Options& options, const std::string& value) {
  options.output = value;
  return {};
}
base::Result<void> apply_no_source(Options& options, const std::string&) {
  options.source = SourcePolicy::drop;
  return {};
}
base::Result<void> apply_keep_going(Options& options, const std::string&) {
  options.failure = FailurePolicy::keep_going;
  return {};
}
base::Result<void> apply_quiet(Options& options, const std::string&) {
  options.verbosity = Verbosity::quiet;
  return {};
}
base::Result<void> apply_verbose(Options& options, const std::string&) {
  options.verbosity = Verbosity::verbose;
  return {};
}
base::Result<void> apply_device(Options& options, const std::string& value) {
  options.device_patterns.push_back(value);
  return {};
}
base::Result<void> apply_include_folder(Options& options, const std::string& value) {
  options.include_folders.emplace_back(value);
  return {};
}
base::Result<void> apply_forced_include(Options& options, const std::string& value) {
  options.forced_includes.emplace_back(value);
  return {};
}
base::Result<void> apply_define(Options& options, const std::string& value) {
  options.driver_options.push_back("-D" + value);
  return {};
}
base::Result<void> apply_undefine(Options& options, const std::string& value) {
  options.driver_options.push_back("-U" + value);
  return {};
}
base::Result<void> apply_driver_word(Options& options, const std::string& value) {
  options.driver_options.push_back(value);
  return {};
}

base::Result<void> apply_program(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("--program", value, "NAME=FILE"));
  if (pair.value.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "'--program {}' names no file", value);
  }
  options.inputs.push_back({pair.value, pair.name});
  return {};
}

base::Result<void> apply_variant(Options& options, const std::string& value) {
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

base::Result<void> apply_jobs(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(options.jobs, parse_number("-j", value, k_max_jobs));
  return {};
}

base::Result<void> apply_timeout(Options& options, const std::string& value) {
  CLBIN_TRY_ASSIGN(options.timeout_seconds,
                   parse_number("--timeout", value, k_max_timeout_seconds));
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
                      "'--color' takes auto, always or never, not '{}'", value);
  }
  return {};
}

using Group = OptionGroup;
using Form = OptionForm;
using Scope = OptionScope;

// In the order of --help.
constexpr OptionRow k_option_table[] = {
    {Group::output, Form::value, Scope::compile, 'o', "output", "FILE",
     "write the bundle to FILE; \"-\" is standard output\n"
     "(default: the program's name + \".clbin\"; with\n"
     "several inputs there is none). If FILE ends in\n"
     ".ptx, .cubin, .spv or .bin: the one device's\n"
     "binary itself",
     apply_output},
    {Group::output, Form::value, Scope::compile, '\0', "program", "NAME=FILE",
     "compile FILE as program NAME instead of its stem", apply_program},
    {Group::output, Form::value, Scope::compile, '\0', "variant", "NAME='OPTIONS'",
     "compile also with OPTIONS, to be loaded as NAME; may\n"
     "be given many times. Without it there is one\n"
     "variant, \"default\"",
     apply_variant},
    {Group::output, Form::flag, Scope::compile, '\0', "no-source", "",
     "leave the source out of the bundle. Unless this is\n"
     "given, the source and every header it includes are\n"
     "shipped, so that devices that no entry fits can\n"
     "still build it",
     apply_no_source},

    {Group::devices, Form::value, Scope::compile_or_list, '\0', "device", "PATTERN",
     "only the devices that match: gpu, cpu, accelerator,\n"
     "all, PLATFORM:DEVICE by number (0:1), or a part of a\n"
     "platform's or device's name; may be given many times\n"
     "(default: all)",
     apply_device},

    {Group::compiler, Form::word_value, Scope::compile, '\0', "-D", "NAME[=VALUE]",
     "define a macro", apply_define},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-U", "NAME", "undefine a macro",
     apply_undefine},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-I", "FOLDER",
     "look for headers in FOLDER", apply_include_folder},
    {Group::compiler, Form::word_value, Scope::compile, '\0', "-include", "FILE",
     "include FILE before the first line", apply_forced_include},
    {Group::compiler, Form::word_prefix, Scope::compile, '\0', "-cl-", "*",
     "any OpenCL option, handed to every driver as it is", apply_driver_word},
    {Group::compiler, Form::word, Scope::compile, '\0', "-w", "", "no warnings", apply_driver_word},
    {Group::compiler, Form::word, Scope::compile, '\0', "-Werror", "", "warnings are errors",
     apply_driver_word},

    {Group::running, Form::value, Scope::compile, 'j', "jobs", "N",
     "N compilers at once (default: one a core)", apply_jobs},
    {Group::running, Form::value, Scope::compile_or_list, '\0', "timeout", "SECONDS",
     "give up on a compiler after SECONDS (default: 300)", apply_timeout},
    {Group::running, Form::flag, Scope::compile, '\0', "keep-going", "",
     "write what did compile even if something did not", apply_keep_going},
    {Group::running, Form::optional_value, Scope::any, '\0', "color", "WHEN",
     "colours: auto, always or never (default: auto)", apply_color},
    {Group::running, Form::flag, Scope::any, 'q', "quiet", "", "no warnings and no notes",
     apply_quiet},
    {Group::running, Form::flag, Scope::any, 'v', "verbose", "",
     "say what is done, show whole build logs; with\n"
     "--list-devices, show all that the devices tell",
     apply_verbose},

    {Group::inspecting, Form::flag, Scope::any, '\0', "info", "",
     "show what the bundles FILE... hold; starts no driver", apply_info},
    {Group::inspecting, Form::flag, Scope::any, '\0', "list-devices", "",
     "show the installed devices", apply_list_devices},
    {Group::inspecting, Form::flag, Scope::info_or_list, '\0', "json", "",
     "with --info or --list-devices: as JSON", apply_json},
    {Group::modes, Form::flag, Scope::any, '\0', "help", "", "show this text", apply_help},
    {Group::modes, Form::flag, Scope::any, '\0', "version", "", "show the version", apply_version},
};

} // namespace

std::span<const OptionRow> option_table() noexcept {
  return k_option_table;
}

std::string short_spelling(const OptionRow& row) {
  if (row.letter != '\0') {
    return {'-', row.letter};
  }
  return (is_word_form(row.form) ? "" : "--") + std::string(row.long_name);
}

std::vector<std::string> option_spellings() {
  std::vector<std::string> result;
  for (const OptionRow& row : option_table()) {
    result.push_back(short_spelling(row));
    if (row.letter != '\0') {
      result.push_back("--" + std::string(row.long_name));
    }
  }
  return result;
}

bool is_word_form(OptionForm form) noexcept {
  return form == OptionForm::word || form == OptionForm::word_value ||
         form == OptionForm::word_prefix;
}

} // namespace oclcc

#include "command_line/option_table.hpp"

#include "terminal/shell_quoting.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>

namespace oclcc {

namespace {

// --- The effects of the options -----------------------------------------------------------------
// Each applies an option with `value`, its argument, to `options`. Return invalid_argument, with
// the option and the accepted values, if the value or a previous option does not allow it.

constexpr unsigned k_max_jobs = 1024;
constexpr unsigned k_max_timeout_seconds = 24 * 60 * 60;

// Returns the member at the end of a path: options.signing.key.
template <auto outer, auto... inner>
auto& member_of(Options& options) {
  return ((options.*outer).*....*inner);
}

template <auto member, auto constant>
Result<void> set_constant(Options& options, const OptionRow&, const std::string&) {
  options.*member = constant;
  return {};
}

// The last occurrence of the option applies.
template <auto member>
Result<void> set_value(Options& options, const OptionRow&, const std::string& value) {
  options.*member = value;
  return {};
}

// All occurrences of the option apply, in their order.
template <auto member>
Result<void> append_value(Options& options, const OptionRow&, const std::string& value) {
  (options.*member).emplace_back(value);
  return {};
}

template <char letter>
Result<void> append_driver_option(Options& options, const OptionRow&, const std::string& value) {
  options.driver_options.push_back(fmt::format("-{}{}", letter, value));
  return {};
}

template <typename Number>
Result<Number> parse_number(const OptionRow& row, const std::string& text, Number maximum) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || number == 0 || number > maximum) {
    return refused("'{}' requires a number from 1 to {}, not '{}'", short_spelling(row), maximum,
                   text);
  }
  return number;
}

template <auto maximum, auto member>
Result<void> set_number(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY_ASSIGN(options.*member, parse_number(row, value, maximum));
  return {};
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

Result<void> refuse_secret_key(const OptionRow& row, const std::string& value) {
  if (!contains_secret_key(value)) {
    return {};
  }
  return refused("'{}' requires the name of a file, not the text of a secret key",
                 short_spelling(row));
}

template <typename Member>
Result<void> require_first(const Member& member, const OptionRow& row) {
  if (!member) {
    return {};
  }
  return refused("'{}' is given more than once", short_spelling(row));
}

// For options that decide who signs: the last of several must not win silently.
template <auto... path>
Result<void> set_once(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY(refuse_secret_key(row, value));
  CLBIN_TRY(require_first(member_of<path...>(options), row));
  member_of<path...>(options) = value;
  return {};
}

template <auto... path>
Result<void> set_counter(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY_ASSIGN(const auto counter,
                   parse_number(row, value, std::numeric_limits<std::uint64_t>::max()));
  CLBIN_TRY(require_first(member_of<path...>(options), row));
  member_of<path...>(options) = counter;
  return {};
}

template <auto... path>
Result<void> append_key(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY(refuse_secret_key(row, value));
  member_of<path...>(options).emplace_back(value);
  return {};
}

// Sets `target` to the choice with the name `value`.
template <typename Value>
Result<void>
choose(Value& target, const OptionRow& row, const std::string& value,
       std::initializer_list<std::pair<std::string_view, std::type_identity_t<Value>>> choices) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (value == name) {
      target = choice;
      return {};
    }
    names.emplace_back(name);
  }
  return refused("'{}' accepts {}, not '{}'", short_spelling(row), alternatives(names), value);
}

Result<void> set_help(Options& options, const OptionRow& row, const std::string& value) {
  return choose(options.help, row, value,
                {{"common", HelpExtent::common}, {"all", HelpExtent::all}});
}

Result<void> set_color(Options& options, const OptionRow& row, const std::string& value) {
  return choose(
      options.color, row, value,
      {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}});
}

Result<void> set_diagnostics_format(Options& options, const OptionRow& row,
                                    const std::string& value) {
  return choose(options.diagnostics_format, row, value,
                {{"text", DiagnosticsFormat::text},
                 {"json", DiagnosticsFormat::json},
                 {"sarif", DiagnosticsFormat::sarif}});
}

Result<void> set_plan(Options& options, const OptionRow& row, const std::string& value) {
  return choose(options.plan_format, row, value,
                {{"ninja", PlanFormat::ninja},
                 {"json", PlanFormat::json},
                 {"slurm", PlanFormat::slurm},
                 {"parallel", PlanFormat::parallel}});
}

Result<void> set_key_type(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY(refuse_secret_key(row, value));
  return choose(options.key_type, row, value,
                {{"signing", KeyType::signing},
                 {"content", KeyType::content},
                 {"recipient", KeyType::recipient}});
}

Result<void> request_check(Options& options, const OptionRow&, const std::string&) {
  // -### has priority, as in gcc: nothing is compiled.
  if (options.goal == CompileGoal::output) {
    options.goal = CompileGoal::check;
  }
  return {};
}

Result<void> request_rule_beside(Options& options, const OptionRow&, const std::string&) {
  // As in gcc, -M does not become -MD.
  if (options.depfile_mode == DepfileMode::none) {
    options.depfile_mode = DepfileMode::beside_output;
  }
  return {};
}

Result<void> check_language(Options&, const OptionRow&, const std::string& value) {
  if (value == "cl" || value == "none") {
    return {};
  }
  return refused("oclcc compiles OpenCL C: '-x' accepts cl or none, not '{}'", value);
}

Result<void> set_emit(Options& options, const OptionRow&, const std::string& value) {
  if (!is_output_kind(value)) {
    return refused("'--emit' accepts one of {}, not '{}'", output_kinds(), value);
  }
  options.emit = value;
  return {};
}

Result<void> set_symbol(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY(embed::check_symbol(value));
  options.symbol = value;
  return {};
}

Result<void> set_host_triple(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY(embed::object_target(value));
  options.host_triple = value;
  return {};
}

struct NameAndValue {
  std::string name;
  std::string value;
};

Result<NameAndValue> split_at_equals(const std::string& option, const std::string& text,
                                     std::string_view shape) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return refused("'{}' requires {}, not '{}'", option, shape, text);
  }
  return NameAndValue{text.substr(0, equals), text.substr(equals + 1)};
}

Result<void> add_tool(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  options.tools.insert_or_assign(pair.name, pair.value);
  return {};
}

// The options of drivers in `text`; `place` names them in errors.
Result<std::vector<std::string>> driver_words(const std::string& text, const std::string& place) {
  auto words = parse_driver_options(split_options(text));
  return words ? std::move(words) : base::add_context(words.error(), place);
}

Result<void> add_device_option(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  CLBIN_TRY_ASSIGN(auto words,
                   driver_words(pair.value, fmt::format("--device-option {}", pair.name)));
  options.device_options.push_back({pair.name, std::move(words)});
  return {};
}

Result<void> add_prefix_mapping(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals("-ffile-prefix-map", value, "OLD=NEW"));
  options.prefix_map.push_back({pair.name, pair.value});
  return {};
}

Result<void> add_quoted_target(Options& options, const OptionRow&, const std::string& value) {
  options.depfile_targets.push_back(escape_for_make(value));
  return {};
}

Result<void> add_program(Options& options, const OptionRow& row, const std::string& value) {
  if (options.mode == Mode::extract) {
    options.wanted_programs.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  if (pair.value.empty()) {
    return refused("'--program {}' names no file", value);
  }
  options.inputs.push_back({pair.value, pair.name});
  return {};
}

Result<void> add_variant(Options& options, const OptionRow& row, const std::string& value) {
  if (options.mode == Mode::extract) {
    options.wanted_variants.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  if (std::ranges::find(options.variants, pair.name, &Variant::name) != options.variants.end()) {
    return refused("variant '{}' is given twice", pair.name);
  }
  CLBIN_TRY_ASSIGN(auto words, driver_words(pair.value, fmt::format("variant '{}'", pair.name)));
  options.variants.push_back({pair.name, std::move(words)});
  return {};
}

Result<void> add_size(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY_ASSIGN(Specialization specialization, parse_specialization(value));
  add_specialization(options.specializations, std::move(specialization));
  return {};
}

Result<void> set_key_pair(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY(set_once<&Options::key_pair>(options, row, value));
  const std::string name = options.key_pair->filename().string();
  if (name.empty() || name == "." || name == "..") {
    return refused("'--keygen' requires a name for the files, but '{}' is a directory", value);
  }
  return {};
}

Result<void> set_sign_key(Options& options, const OptionRow& row, const std::string& value) {
  if (options.mode == Mode::sign) { // an error of its own, which is not that of a second key
    return refuse_secret_key(row, value);
  }
  return set_once<&Options::signing, &SigningOptions::key>(options, row, value);
}

Result<void> set_unit(Options& options, const OptionRow&, const std::string& value) {
  const auto key = base::digest_from_hex(value);
  if (!key) {
    return refused("'--unit' requires the key of a unit, 64 hexadecimal digits, not '{}'", value);
  }
  options.unit = *key;
  return {};
}

Result<void> set_memory_limit(Options& options, const OptionRow&, const std::string& value) {
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
    return refused("'--memory-limit' accepts none or a size of at least 1M, such as 512M or 4G, "
                   "not '{}'",
                   value);
  }
  options.memory_limit_bytes = number << shift;
  return {};
}

// --- The table ----------------------------------------------------------------------------------

using Group = OptionGroup;
using Form = OptionForm;

struct Scope {
  static constexpr OptionScope compile = scope_of(Mode::compile);
  // Compiles and plans, whose units are compiled later.
  static constexpr OptionScope sources = scope_of(Mode::compile, Mode::plan);
  static constexpr OptionScope sources_or_rebuild = sources | k_rebuilt_bundle;
  static constexpr OptionScope plan = scope_of(Mode::plan);
  static constexpr OptionScope compile_or_embed = compile | k_bundle_input;
  static constexpr OptionScope compile_or_rebuild = compile | k_rebuilt_bundle;
  static constexpr OptionScope compile_or_bundle = compile | k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope strip = scope_of(Mode::strip);
  static constexpr OptionScope compile_or_list =
      scope_of(Mode::compile, Mode::list_devices, Mode::plan) | k_rebuilt_bundle;
  static constexpr OptionScope offline =
      scope_of(Mode::compile, Mode::list_targets, Mode::identity, Mode::plan) | k_rebuilt_bundle;
  static constexpr OptionScope writing =
      scope_of(Mode::compile, Mode::plan, Mode::strip, Mode::merge, Mode::repack, Mode::extract,
               Mode::sign, Mode::sign_message, Mode::strip_signature, Mode::encrypt,
               Mode::decrypt) |
      k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope reporting =
      scope_of(Mode::info, Mode::list_devices, Mode::list_targets, Mode::identity, Mode::verify,
               Mode::diff, Mode::strip, Mode::merge, Mode::repack, Mode::extract, Mode::cache_stats,
               Mode::explain, Mode::sign, Mode::strip_signature, Mode::encrypt, Mode::decrypt);
  static constexpr OptionScope compile_or_extract =
      scope_of(Mode::compile, Mode::plan, Mode::extract);
  static constexpr OptionScope choosing = scope_of(Mode::strip, Mode::extract);
  static constexpr OptionScope verify = scope_of(Mode::verify);
  static constexpr OptionScope running =
      scope_of(Mode::compile, Mode::verify, Mode::explain) | k_rebuilt_bundle;
  static constexpr OptionScope calling =
      scope_of(Mode::compile, Mode::plan, Mode::list_devices, Mode::verify, Mode::explain) |
      k_rebuilt_bundle;
  static constexpr OptionScope keygen = scope_of(Mode::keygen);
  static constexpr OptionScope sign = scope_of(Mode::sign);
  static constexpr OptionScope sign_or_compile = scope_of(Mode::sign) | compile_or_rebuild;
  static constexpr OptionScope passphrase = scope_of(Mode::keygen) | sign_or_compile;
  static constexpr OptionScope counter = scope_of(Mode::sign_message) | sign_or_compile;
  static constexpr OptionScope trusting = scope_of(Mode::verify) | sign_or_compile;
  static constexpr OptionScope detaching = scope_of(Mode::verify, Mode::sign);
  static constexpr OptionScope encrypting =
      scope_of(Mode::encrypt, Mode::merge, Mode::repack, Mode::strip) | compile_or_rebuild;
  // Every mode that reads the contents of bundles.
  static constexpr OptionScope decrypting =
      scope_of(Mode::info, Mode::explain, Mode::verify, Mode::diff, Mode::extract, Mode::merge,
               Mode::repack, Mode::strip, Mode::record, Mode::sign, Mode::sign_message,
               Mode::encrypt, Mode::decrypt) |
      compile_or_bundle;
  static constexpr OptionScope record = scope_of(Mode::record);
  static constexpr OptionScope any = ~0U;
};

// In the order of --help within each group, and of modes in messages.
constexpr OptionRow k_option_table[] = {
    {Group::output, Form::value, Scope::writing, "output", "FILE",
     "write the output to FILE; \"-\" is standard output (default: the program's name + "
     "\".clbin\"; required for several inputs). The suffix of FILE selects the output: .ptx, "
     ".cubin, .spv or .bin: the binary of the one device; .h, .c, .o or .s: the bundle, embedded "
     "in a C header, C source, an object file or assembly; .hpp: C++ launchers; otherwise the "
     "bundle. If the input is a bundle, embedding and launchers convert it; otherwise, its "
     "programs are built anew",
     set_value<&Options::output>, Mode::compile, 'o'},
    {Group::output, Form::value, Scope::compile_or_bundle, "emit", "KIND",
     "select the output, regardless of its suffix: clbin, ptx, cubin, spv, bin, h, c, o, s or hpp",
     set_emit},
    {Group::output, Form::value, Scope::compile_or_embed, "symbol", "NAME",
     "name an embedded bundle NAME in C and its size NAME_size (default: the output's stem + "
     "\"_clbin\")",
     set_symbol},
    {Group::output, Form::value, Scope::compile_or_embed, "embed-header", "FILE",
     "with -o k.c, k.o or k.s: also write FILE, a header that declares the embedded bundle",
     set_value<&Options::embed_header>},
    {Group::output, Form::value, Scope::compile_or_embed, "host-triple", "TRIPLE",
     "with -o k.o or k.s: write it for the machine TRIPLE, such as aarch64-linux-gnu (default: "
     "this machine)",
     set_host_triple},
    {Group::output, Form::value, Scope::compile_or_extract, "program", "NAME=FILE",
     "compile FILE as program NAME (default: the stem of FILE); with --extract: extract only "
     "program NAME",
     add_program},
    {Group::output, Form::value, Scope::sources_or_rebuild, "optional", "PROGRAM",
     "allow PROGRAM to fail for a device: print a warning and keep its source, which is built when "
     "PROGRAM is loaded on that device; repeatable",
     append_value<&Options::optional_programs>},
    {Group::output, Form::value, Scope::compile_or_extract, "variant", "NAME='OPTIONS'",
     "compile with OPTIONS in addition, as variant NAME; repeatable (default: one variant, "
     "\"default\"); with --extract: extract only variant NAME",
     add_variant},
    {Group::output, Form::value, Scope::sources_or_rebuild, "specialize", "KERNEL=SIZE",
     "prepare KERNEL for launches with work-groups of SIZE (64, 16x16, 8x8x4): include the code "
     "that its first launch requires; repeatable. Sizes that kernels require or hint at are always "
     "included",
     add_size},
    {Group::output, Form::flag, Scope::sources_or_rebuild, "emit-cubin", "",
     "for NVIDIA devices, also write a cubin, which the driver loads without compiling; requires "
     "ptxas",
     set_constant<&Options::cubin, CubinPolicy::emit>},
    {Group::output, Form::flag, Scope::sources_or_rebuild | Scope::record, "no-source", "",
     "omit the source from the bundle. By default, the source and every header it includes are "
     "shipped, so that devices without a matching entry can build the program",
     set_constant<&Options::source, SourcePolicy::drop>},
    {Group::output, Form::flag, Scope::compile, "source-only", "",
     "compile nothing: write a bundle of the sources, from which each device builds the program",
     set_constant<&Options::binaries, BinaryPolicy::none>},

    {Group::devices, Form::value, Scope::calling, "device", "PATTERN",
     "use only matching devices: gpu, cpu, accelerator, all, PLATFORM:DEVICE by number (0:1), a "
     "feature of --identity, or a part of a platform or device name; repeatable (default: all)",
     append_value<&Options::device_patterns>},
    {Group::devices, Form::value, Scope::sources_or_rebuild, "target", "SPEC",
     "compile for the offline target SPEC, such as nvptx:sm_70, which needs no device; starts "
     "no driver unless --device is given, too; repeatable",
     append_value<&Options::targets>},
    {Group::devices, Form::value, Scope::offline, "tool", "NAME=PATH",
     "for offline targets, use the program or library PATH as NAME, such as clang; repeatable",
     add_tool},
    {Group::devices, Form::value, Scope::sources, "device-option", "PATTERN=OPTIONS",
     "compile with OPTIONS in addition, for the devices that match PATTERN", add_device_option},

    {Group::compiler, Form::word_value, Scope::sources, "-D", "NAME[=VALUE]", "define a macro",
     append_driver_option<'D'>},
    {Group::compiler, Form::word_value, Scope::sources, "-U", "NAME", "undefine a macro",
     append_driver_option<'U'>},
    {Group::compiler, Form::word_value, Scope::sources, "-I", "DIR", "search DIR for headers",
     append_value<&Options::include_folders>},
    {Group::compiler, Form::word_value, Scope::sources, "-include", "FILE",
     "include FILE before the first line", append_value<&Options::forced_includes>},
    {Group::compiler, Form::word_prefix, Scope::sources, "-cl-", "*",
     "pass any OpenCL option to every driver, unchanged", append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-g", "", "generate debug information",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-O", "",
     "set the optimization level; passed to every driver, unchanged",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-O0", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-O1", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-O2", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-O3", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-Os", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-Oz", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-Ofast", "", "",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-w", "", "suppress compiler warnings",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources, "-Werror", "", "treat warnings as errors",
     append_value<&Options::driver_options>},
    {Group::compiler, Form::word, Scope::sources_or_rebuild, "-Werror=variant", "",
     "treat a variant that some device cannot build as an error",
     set_constant<&Options::absent_variants, AbsentVariants::refuse>},
    {Group::compiler, Form::word_value, Scope::sources, "-x", "cl",
     "set the input language; only cl is supported", check_language},
    {Group::compiler, Form::word_equals, Scope::sources, "-ffile-prefix-map", "OLD=NEW",
     "replace OLD with NEW at the start of file names in #line directives, in binaries and in the "
     "bundle",
     add_prefix_mapping},
    {Group::compiler, Form::word_equals, Scope::sources, "-fmacro-prefix-map", "OLD=NEW", "",
     add_prefix_mapping},
    {Group::compiler, Form::word_equals, Scope::sources, "-fdebug-prefix-map", "OLD=NEW", "",
     add_prefix_mapping},

    {Group::depfiles, Form::word, Scope::compile, "-M", "", "print the rule and compile nothing",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile, "-MM", "", "",
     set_constant<&Options::depfile_mode, DepfileMode::instead>},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MD", "",
     "write the rule next to the output, with suffix .d", request_rule_beside},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MMD", "", "", request_rule_beside},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MF", "FILE",
     "write the rule to FILE", set_value<&Options::depfile>},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MT", "TARGET",
     "set the target of the rule, unchanged", append_value<&Options::depfile_targets>},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MQ", "TARGET",
     "set the target of the rule, escaped for make", add_quoted_target},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MP", "",
     "add an empty rule for each header, so that make continues after a header is removed",
     set_constant<&Options::phony_headers, PhonyHeaders::yes>},

    {Group::running, Form::word, Scope::compile_or_rebuild, "-fsyntax-only", "",
     "compile, but write no output", request_check},
    {Group::running, Form::word, Scope::compile, "-###", "",
     "print a command for each unit and run none",
     set_constant<&Options::goal, CompileGoal::preview>},
    {Group::running, Form::value, Scope::running, "jobs", "N",
     "run N compilers at once (default: one per core)", set_number<k_max_jobs, &Options::jobs>,
     Mode::compile, 'j'},
    {Group::running, Form::value, Scope::calling | Scope::sign, "timeout", "SECONDS",
     "stop a compiler, or the command of --sign-with, after SECONDS (default: 300)",
     set_number<k_max_timeout_seconds, &Options::timeout_seconds>},
    {Group::running, Form::value, Scope::compile_or_list, "memory-limit", "SIZE",
     "stop a compiler that uses more memory than SIZE, such as 512M or 4G; none: no limit "
     "(default: three quarters of the machine's memory)",
     set_memory_limit},
    {Group::running, Form::flag, Scope::compile_or_rebuild, "keep-going", "",
     "write the parts that compiled even if others failed",
     set_constant<&Options::failure, FailurePolicy::keep_going>},
    {Group::running, Form::optional_value, Scope::any, "color", "WHEN",
     "use colours: auto, always or never (default: auto)", set_color},
    {Group::running, Form::value, Scope::any, "diagnostics-format", "FORMAT",
     "print messages as text, json or sarif (default: text)", set_diagnostics_format},
    {Group::running, Form::flag, Scope::any, "quiet", "", "suppress warnings and notes",
     set_constant<&Options::verbosity, Verbosity::quiet>, Mode::compile, 'q'},
    {Group::running, Form::flag, Scope::any, "verbose", "",
     "report each step and print whole build logs; with --list-devices: print all properties of "
     "the devices",
     set_constant<&Options::verbosity, Verbosity::verbose>, Mode::compile, 'v'},

    {Group::inspecting, Form::mode, Scope::any, "info", "",
     "list the contents of the bundles FILE...; starts no driver", nullptr, Mode::info},
    {Group::inspecting, Form::mode, Scope::any, "list-devices", "", "list the installed devices",
     nullptr, Mode::list_devices},
    {Group::inspecting, Form::mode, Scope::any, "list-targets", "",
     "list the offline targets, and what those that cannot be used here need", nullptr,
     Mode::list_targets},
    {Group::inspecting, Form::mode, Scope::any, "explain", "",
     "show what each device would load from the bundles FILE..., and why; passes matching entries "
     "to the drivers, compiles no source",
     nullptr, Mode::explain},
    {Group::inspecting, Form::mode, Scope::any, "verify", "",
     "check every byte of the bundles FILE...", nullptr, Mode::verify},
    {Group::inspecting, Form::flag, Scope::verify, "run", "",
     "with --verify: load each entry on the devices that would load it, each in a separate process",
     set_constant<&Options::run, RunPolicy::yes>},
    {Group::inspecting, Form::mode, Scope::any, "diff", "",
     "list the differences between two bundles; the exit status is 1 if there are any", nullptr,
     Mode::diff},
    {Group::inspecting, Form::mode, Scope::any, "extract", "",
     "write the binaries and sources of bundles to files in the directory -o (default: working "
     "directory)",
     nullptr, Mode::extract},
    {Group::inspecting, Form::flag, Scope::reporting, "json", "", "print the report as JSON",
     set_constant<&Options::list_format, ListFormat::json>},

    {Group::changing, Form::mode, Scope::any, "merge", "",
     "combine the bundles FILE..., in any order, into the bundle -o; compresses nothing again",
     nullptr, Mode::merge},
    {Group::changing, Form::mode, Scope::any, "repack", "",
     "compress the bundles FILE... again, in place unless -o is given", nullptr, Mode::repack},
    {Group::changing, Form::mode, Scope::any, "strip", "",
     "remove parts of the bundles FILE..., in place unless -o is given; compresses nothing again",
     nullptr, Mode::strip},
    {Group::changing, Form::value, Scope::choosing, "keep-target", "PATTERN",
     "keep, or extract, only entries whose target matches PATTERN (a target such as nvptx:sm_70, "
     "or a part of a device or platform name); repeatable",
     append_value<&Options::keep_targets>},
    {Group::changing, Form::value, Scope::choosing, "drop-target", "PATTERN",
     "remove, or do not extract, entries whose target matches PATTERN; '*' matches all; repeatable",
     append_value<&Options::drop_targets>},
    {Group::changing, Form::flag, Scope::strip, "strip-source", "", "remove the source",
     set_constant<&Options::source, SourcePolicy::drop>},
    {Group::changing, Form::flag, Scope::strip, "strip-reflection", "",
     "remove all kernel information except kernel names",
     set_constant<&Options::reflection, ReflectionPolicy::drop>},

    {Group::recording, Form::value, Scope::any, "record", "BUNDLE",
     "run the command after \"--\", and write the OpenCL programs that it builds, with their "
     "sources and options, to BUNDLE, or add them to it",
     set_value<&Options::recording>, Mode::record},
    {Group::recording, Form::flag, Scope::record, "record-binaries", "",
     "also record the device binaries",
     set_constant<&Options::recorded_binaries, BinaryPolicy::build>},

    {Group::signing, Form::value, Scope::any, "keygen", "NAME",
     "make a key pair: the secret key NAME.key, which a passphrase protects, and the public key "
     "NAME.pub, as minisign(1) does; --key-type makes other keys",
     set_key_pair, Mode::keygen},
    {Group::signing, Form::flag, Scope::keygen, "no-passphrase", "",
     "with --keygen: do not protect the secret key",
     set_constant<&Options::passphrase_policy, PassphrasePolicy::none>},
    {Group::signing, Form::mode, Scope::any, "sign", "",
     "sign the bundles FILE..., in place unless -o is given, with --key or --sign-with", nullptr,
     Mode::sign},
    {Group::signing, Form::value, Scope::sign, "key", "FILE",
     "with --sign: sign with the secret key in FILE",
     set_once<&Options::signing, &SigningOptions::key>},
    {Group::signing, Form::value, Scope::compile_or_rebuild, "sign-key", "FILE",
     "sign the output of a compile with the secret key in FILE", set_sign_key},
    {Group::signing, Form::value, Scope::sign_or_compile, "sign-with", "COMMAND",
     "sign with COMMAND, which reads the bytes to sign on standard input and writes their Ed25519 "
     "signature to standard output; requires --public-key",
     set_once<&Options::signing, &SigningOptions::command>},
    {Group::signing, Form::value, Scope::trusting, "public-key", "KEY",
     "with --verify: require a signature by KEY, a file or the text in it; repeatable. With "
     "--sign-with: the key of COMMAND",
     append_key<&Options::public_keys>},
    {Group::signing, Form::value, Scope::counter, "counter", "N",
     "also sign the counter N, against older versions",
     set_counter<&Options::signing, &SigningOptions::counter>},
    {Group::signing, Form::value, Scope::verify, "least-counter", "N",
     "with --verify: require a counter of at least N", set_counter<&Options::least_counter>},
    {Group::signing, Form::value, Scope::sign, "vouched-by", "FILE",
     "with --sign: who trusts the secret key in FILE shall also trust the key that signs",
     set_once<&Options::signing, &SigningOptions::vouching_key>},
    {Group::signing, Form::value, Scope::passphrase, "passphrase-file", "FILE",
     "read the passphrase of the secret key from FILE (default: the terminal, or standard input)",
     set_once<&Options::signing, &SigningOptions::passphrase_file>},
    {Group::signing, Form::flag, Scope::detaching, "detached", "",
     "with --sign or --verify: write or check a signature file FILE.minisig, as minisign(1) does",
     set_constant<&Options::signature_form, SignatureForm::detached>},
    {Group::signing, Form::mode, Scope::any, "sign-message", "",
     "write the bytes that a signature of the bundle FILE signs, for signing elsewhere", nullptr,
     Mode::sign_message},
    {Group::signing, Form::mode, Scope::any, "strip-signature", "",
     "remove the signatures of the bundles FILE..., in place unless -o is given, and nothing else",
     nullptr, Mode::strip_signature},

    {Group::encrypting, Form::value, Scope::keygen, "key-type", "TYPE",
     "with --keygen: make a key pair for signing, the content key NAME.key, or a key pair of a "
     "recipient; the last two have no passphrase (default: signing)",
     set_key_type},
    {Group::encrypting, Form::mode, Scope::any, "encrypt", "",
     "encrypt the contents of the bundles FILE..., in place unless -o is given, with --encrypt-key "
     "or --encrypt-for",
     nullptr, Mode::encrypt},
    {Group::encrypting, Form::mode, Scope::any, "decrypt", "",
     "decrypt the contents of the bundles FILE..., in place unless -o is given, with --decrypt-key",
     nullptr, Mode::decrypt},
    {Group::encrypting, Form::value, Scope::encrypting, "encrypt-key", "FILE",
     "encrypt the output with the content key in FILE; equal contents have equal bytes",
     set_once<&Options::encryption, &EncryptionOptions::key>},
    {Group::encrypting, Form::value, Scope::encrypting, "encrypt-for", "KEY",
     "encrypt the output for the recipient with the public key KEY, a file or the text in it, "
     "with a new content key unless --encrypt-key is given; repeatable",
     append_key<&Options::encryption, &EncryptionOptions::recipients>},
    {Group::encrypting, Form::value, Scope::decrypting, "decrypt-key", "FILE",
     "read encrypted bundles with the content key, or the recipient's secret key, in FILE; "
     "repeatable",
     append_key<&Options::decrypt_keys>},

    {Group::caching, Form::flag, Scope::sources_or_rebuild, "no-cache", "",
     "build everything, and store nothing in the cache",
     set_constant<&Options::cache, CachePolicy::ignore>},
    {Group::caching, Form::mode, Scope::any, "cache-stats", "",
     "show the contents and the hits of libclbin's user cache and oclcc's compile cache", nullptr,
     Mode::cache_stats},
    {Group::caching, Form::mode, Scope::any, "clear-cache", "",
     "remove the contents of both caches", nullptr, Mode::clear_cache},

    {Group::planning, Form::value, Scope::any, "plan", "ninja|json|slurm|parallel",
     "compile nothing: write a plan of the units, and of the merge and repack that make the bundle "
     "-o, for ninja, Slurm, GNU parallel, or (as JSON) another engine, to the directory that is "
     "named as the bundle, with the suffix .plan. Leaves out what the cache contains",
     set_plan, Mode::plan},
    {Group::planning, Form::value, Scope::plan, "machine", "FILE",
     "with --plan: plan for the devices in FILE, which --identity --json printed on another "
     "machine, and not for those of this machine; repeatable",
     append_value<&Options::machines>},
    {Group::planning, Form::value, Scope::compile, "unit", "KEY",
     "compile only the unit KEY of a plan, which the other options describe; fail if they describe "
     "another one",
     set_unit},
    {Group::planning, Form::mode, Scope::any, "identity", "",
     "print what this machine can compile for, as features of a Slurm node: Feature=...", nullptr,
     Mode::identity},

    {Group::modes, Form::optional_mode, Scope::any, "help", "all",
     "show the common options, or all options", set_help, Mode::help},
    {Group::modes, Form::mode, Scope::any, "version", "", "show the version", nullptr,
     Mode::version},
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
         form == OptionForm::word_equals || form == OptionForm::word_prefix;
}

} // namespace oclcc

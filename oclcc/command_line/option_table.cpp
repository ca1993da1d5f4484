#include "command_line/option_table.hpp"

#include "base/text.hpp"
#include "format/bundle/measurements.hpp"
#include "source/directive_scanner.hpp"
#include "terminal/shell_quoting.hpp"

#include <fmt/format.h>
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

// Words are UTF-8 on every system, and so are the names of files in them.
void assign(std::optional<std::filesystem::path>& member, const std::string& value) {
  member = base::to_path(value);
}
template <typename Member>
void assign(Member& member, const std::string& value) {
  member = value;
}

// The last occurrence of the option applies.
template <auto member>
Result<void> set_value(Options& options, const OptionRow&, const std::string& value) {
  assign(options.*member, value);
  return {};
}

// All occurrences of the option apply, in their order.
template <auto member>
Result<void> append_value(Options& options, const OptionRow&, const std::string& value) {
  auto& values = options.*member;
  if constexpr (std::is_same_v<std::decay_t<decltype(values)>,
                               std::vector<std::filesystem::path>>) {
    values.push_back(base::to_path(value));
  } else {
    values.emplace_back(value);
  }
  return {};
}

constexpr auto pass_on = append_value<&Options::driver_options>;

template <char letter>
Result<void> append_driver_option(Options& options, const OptionRow&, const std::string& value) {
  options.driver_options.push_back(fmt::format("-{}{}", letter, value));
  return {};
}

template <typename Number>
Result<Number> parse_number(const OptionRow& row, const std::string& text, Number maximum) {
  const auto number = base::parse_number<Number>(text);
  if (!number || *number == 0 || *number > maximum) {
    return refused("'{}' requires a number from 1 to {}, not '{}'", short_spelling(row), maximum,
                   text);
  }
  return *number;
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
  const std::vector<std::string_view> words = base::words_between_spaces(text);
  return text.find("RWRTY0Iy") != std::string_view::npos ||
         text.find("RWQAAEIy") != std::string_view::npos ||
         std::ranges::any_of(words, is_secret_line);
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
  assign(member_of<path...>(options), value);
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

template <typename Value>
using NamedValue = std::pair<std::string_view, Value>;
constexpr NamedValue<HelpExtent> k_help_extents[] = {{"common", HelpExtent::common},
                                                     {"all", HelpExtent::all}};
constexpr NamedValue<ColorMode> k_color_modes[] = {
    {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
constexpr NamedValue<DiagnosticsFormat> k_diagnostics_formats[] = {
    {"text", DiagnosticsFormat::text},
    {"json", DiagnosticsFormat::json},
    {"sarif", DiagnosticsFormat::sarif}};
constexpr NamedValue<PlanFormat> k_plan_formats[] = {{"ninja", PlanFormat::ninja},
                                                     {"json", PlanFormat::json},
                                                     {"slurm", PlanFormat::slurm},
                                                     {"parallel", PlanFormat::parallel}};
constexpr NamedValue<SplitUnit> k_split_units[] = {
    {"family", SplitUnit::family}, {"vendor", SplitUnit::vendor}, {"entry", SplitUnit::entry}};
constexpr NamedValue<KeyType> k_key_types[] = {{"signing", KeyType::signing},
                                               {"content", KeyType::content},
                                               {"recipient", KeyType::recipient}};

// Sets the member to the one of `choices` with the name `value`.
template <auto member, const auto& choices>
Result<void> set_choice(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY(refuse_secret_key(row, value));
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (value == name) {
      options.*member = choice;
      return {};
    }
    names.emplace_back(name);
  }
  return refused("'{}' accepts {}, not '{}'", short_spelling(row), alternatives(names), value);
}

// For options that yield to another one with the same member, whatever their order.
template <auto member, auto constant>
Result<void> set_if_default(Options& options, const OptionRow&, const std::string&) {
  if (options.*member == decltype(constant){}) {
    options.*member = constant;
  }
  return {};
}

Result<void> check_language(Options&, const OptionRow&, const std::string& value) {
  if (value == "cl" || value == "none") {
    return {};
  }
  return refused("oclcc compiles OpenCL C: '-x' accepts cl or none, not '{}'", value);
}

// The last occurrence of the option applies, if `check` accepts it.
template <auto check, auto member>
Result<void> set_checked(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY(check(value));
  assign(options.*member, value);
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
  options.tools.insert_or_assign(pair.name, base::to_path(pair.value));
  return {};
}

// The options of drivers in `text`; `place` names them in errors.
Result<std::vector<std::string>> driver_words(const std::string& text, const std::string& place) {
  return base::in_context(parse_driver_options(split_options(text)), place);
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

// Modes in which --program and --variant select what a bundle contains.
constexpr OptionScope k_selecting_modes = scope_of(Mode::extract, Mode::disassemble, Mode::report);

Result<void> add_program(Options& options, const OptionRow& row, const std::string& value) {
  if ((k_selecting_modes & scope_of(options.mode)) != 0) {
    options.wanted_programs.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  if (pair.value.empty()) {
    return refused("'--program {}' names no file", value);
  }
  options.inputs.push_back({base::to_path(pair.value), pair.name});
  return {};
}

Result<void> add_new_variant(Options& options, Variant variant) {
  if (std::ranges::find(options.variants, variant.name, &Variant::name) != options.variants.end()) {
    return refused("variant '{}' is given twice", variant.name);
  }
  options.variants.push_back(std::move(variant));
  return {};
}

Result<void> add_variant(Options& options, const OptionRow& row, const std::string& value) {
  const bool is_choice = options.mode == Mode::tune && value.find('=') == std::string::npos;
  if (is_choice || (k_selecting_modes & scope_of(options.mode)) != 0) {
    options.wanted_variants.push_back(value);
    return {};
  }
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  CLBIN_TRY_ASSIGN(auto words, driver_words(pair.value, fmt::format("variant '{}'", pair.name)));
  return add_new_variant(options, {pair.name, std::move(words)});
}

Result<void> add_variants(Options& options, const OptionRow&, const std::string& value) {
  CLBIN_TRY_ASSIGN(auto variants, variants_of_space(value));
  for (Variant& variant : variants) {
    CLBIN_TRY(add_new_variant(options, std::move(variant)));
  }
  return {};
}

Result<void> add_requirement(Options& options, const OptionRow& row, const std::string& value) {
  CLBIN_TRY_ASSIGN(NameAndValue pair, split_at_equals(short_spelling(row), value, row.argument));
  const auto is_name = [](std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, clbin::source::is_identifier);
  };
  for (std::size_t at = 0; at <= pair.value.size();) {
    const std::size_t end = std::min(pair.value.find(',', at), pair.value.size());
    const std::string name = pair.value.substr(at, end - at);
    if (!is_name(name)) {
      return refused("'{} {}': '{}' is not the name of an extension", short_spelling(row), value,
                     name);
    }
    options.requirements[pair.name].insert(name);
    at = end + 1;
  }
  return {};
}

// "registers+10%"
Result<ChangeLimit> parse_change_limit(std::string_view text) {
  ChangeLimit limit;
  const std::size_t sign = std::min(text.find_first_of("+-", 1), text.size());
  const bool is_scalar = text.starts_with("scalar-"); // whose dash is no sign
  const std::size_t end = is_scalar ? std::min(text.find('+'), text.size()) : sign;
  limit.number = text.substr(0, end);
  std::string_view rest = text.substr(end);
  const bool is_known =
      std::ranges::find(k_limited_numbers, limit.number) != std::end(k_limited_numbers);
  if (is_known && rest.empty()) {
    return limit;
  }
  const bool has_sign = rest.starts_with(limit.number == "occupancy" ? '-' : '+');
  rest.remove_prefix(rest.empty() ? 0 : 1);
  if (rest.ends_with('%')) {
    limit.unit = ChangeUnit::percent;
    rest.remove_suffix(1);
  }
  const auto allowed = base::parse_number<std::uint64_t>(rest);
  if (!is_known || !has_sign || !allowed) {
    return refused("'--fail-on' accepts a list of {}, each alone or with what is allowed, such as "
                   "registers+10% or occupancy-1, not '{}'",
                   fmt::join(k_limited_numbers, ", "), text);
  }
  limit.allowed = *allowed;
  return limit;
}

Result<void> set_tolerance(Options& options, const OptionRow& row, const std::string& value) {
  const auto tolerance = base::parse_real(value);
  if (!tolerance || *tolerance < 0 || *tolerance > 1) {
    return refused("'{}' requires a number from 0 to 1, such as 1e-3, not '{}'",
                   short_spelling(row), value);
  }
  options.tolerance = *tolerance;
  return {};
}

Result<void> set_page(Options& options, const OptionRow&, const std::string& value) {
  options.page = base::to_path(value);
  options.list_format = ListFormat::json; // of the documents in the page
  return {};
}

Result<void> add_change_limits(Options& options, const OptionRow&, const std::string& value) {
  for (std::size_t start = 0; start <= value.size();) {
    const std::size_t comma = std::min(value.find(',', start), value.size());
    CLBIN_TRY_ASSIGN(ChangeLimit limit,
                     parse_change_limit(std::string_view(value).substr(start, comma - start)));
    options.change_limits.push_back(std::move(limit));
    start = comma + 1;
  }
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

Result<void> set_assembly(Options& options, const OptionRow&, const std::string&) {
  options.emit = "asm";
  return {};
}

Result<void> set_unit(Options& options, const OptionRow&, const std::string& value) {
  const auto key = base::digest_from_hex(value);
  if (!key) {
    return refused("'--unit' requires the key of a unit, 64 hexadecimal digits, not '{}'", value);
  }
  options.unit = *key;
  return {};
}

Result<void> set_recorded_data(Options& options, const OptionRow&, const std::string& value) {
  const auto bytes = base::parse_size(value);
  if (!bytes || *bytes == 0 || *bytes > format::k_max_recorded_bytes) {
    return refused("'--record-data' accepts a size of at most 1G, such as 64M, not '{}'", value);
  }
  options.recorded_data_bytes = *bytes;
  return {};
}

Result<void> set_memory_limit(Options& options, const OptionRow&, const std::string& value) {
  if (value == "none") {
    options.memory_limit_bytes = 0;
    return {};
  }
  constexpr std::uint64_t k_least = 1ULL << 20U;
  constexpr std::uint64_t k_most = 1ULL << 50U;
  const auto bytes = base::parse_size(value);
  if (!bytes || *bytes < k_least || *bytes > k_most) {
    return refused("'--memory-limit' accepts none or a size of at least 1M, such as 512M or 4G, "
                   "not '{}'",
                   value);
  }
  options.memory_limit_bytes = bytes;
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
  static constexpr OptionScope plan_or_import = scope_of(Mode::plan, Mode::import_binaries);
  static constexpr OptionScope compile_or_embed = compile | k_bundle_input;
  static constexpr OptionScope compile_or_rebuild = compile | k_rebuilt_bundle;
  static constexpr OptionScope compile_or_bundle = compile | k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope strip = scope_of(Mode::strip);
  static constexpr OptionScope compile_or_list =
      scope_of(Mode::compile, Mode::list_devices, Mode::plan, Mode::reproduce, Mode::tune,
               Mode::warm) |
      k_rebuilt_bundle;
  static constexpr OptionScope offline = scope_of(Mode::compile, Mode::list_targets, Mode::identity,
                                                  Mode::plan, Mode::disassemble, Mode::reproduce) |
                                         k_rebuilt_bundle;
  static constexpr OptionScope writing =
      scope_of(Mode::compile, Mode::plan, Mode::strip, Mode::merge, Mode::repack, Mode::extract,
               Mode::sign, Mode::sign_message, Mode::strip_signature, Mode::encrypt, Mode::decrypt,
               Mode::import_binaries, Mode::disassemble, Mode::provenance, Mode::sbom, Mode::tune,
               Mode::split) |
      k_bundle_input | k_rebuilt_bundle;
  static constexpr OptionScope reporting = scope_of(
      Mode::info, Mode::list_devices, Mode::list_targets, Mode::identity, Mode::verify, Mode::diff,
      Mode::strip, Mode::merge, Mode::repack, Mode::extract, Mode::cache_stats, Mode::explain,
      Mode::sign, Mode::strip_signature, Mode::encrypt, Mode::decrypt, Mode::report, Mode::tune);
  static constexpr OptionScope report = scope_of(Mode::report);
  static constexpr OptionScope compile_or_extract =
      scope_of(Mode::compile, Mode::plan) | k_selecting_modes;
  static constexpr OptionScope choosing = scope_of(Mode::strip) | k_selecting_modes;
  static constexpr OptionScope disassemble = scope_of(Mode::disassemble);
  static constexpr OptionScope verify = scope_of(Mode::verify);
  static constexpr OptionScope running =
      scope_of(Mode::compile, Mode::verify, Mode::explain, Mode::reproduce) | k_rebuilt_bundle;
  static constexpr OptionScope calling =
      scope_of(Mode::compile, Mode::plan, Mode::list_devices, Mode::verify, Mode::explain,
               Mode::tune, Mode::warm) |
      k_rebuilt_bundle;
  static constexpr OptionScope tune = scope_of(Mode::tune);
  static constexpr OptionScope warm = scope_of(Mode::warm);
  static constexpr OptionScope waiting =
      calling | scope_of(Mode::sign, Mode::disassemble, Mode::reproduce);
  static constexpr OptionScope keygen = scope_of(Mode::keygen);
  static constexpr OptionScope sign = scope_of(Mode::sign);
  static constexpr OptionScope compile_or_split = scope_of(Mode::split) | compile_or_rebuild;
  static constexpr OptionScope sign_or_compile = scope_of(Mode::sign) | compile_or_split;
  static constexpr OptionScope encrypting =
      scope_of(Mode::encrypt, Mode::merge, Mode::repack, Mode::strip) | compile_or_split;
  // Every mode that reads the contents of bundles.
  static constexpr OptionScope decrypting =
      scope_of(Mode::info, Mode::explain, Mode::verify, Mode::diff, Mode::extract, Mode::merge,
               Mode::repack, Mode::strip, Mode::record, Mode::sign, Mode::sign_message,
               Mode::encrypt, Mode::decrypt, Mode::disassemble, Mode::provenance, Mode::sbom,
               Mode::reproduce, Mode::report, Mode::split) |
      compile_or_bundle;
  static constexpr OptionScope record = scope_of(Mode::record);
  static constexpr OptionScope any = ~0ULL;
};

constexpr OptionRow mode_row(std::string_view group, Mode mode, std::string_view name,
                             std::string_view help) {
  return {group, Form::mode, Scope::any, name, "", nullptr, help, mode};
}

// In the order of --help within each group, and of modes in messages.
constexpr OptionRow k_option_table[] = {
    {Group::output, Form::value, Scope::writing, "output", "FILE", set_value<&Options::output>,
     "write the output to FILE; \"-\" is standard output (default: the program's name + "
     "\".clbin\"; required for several inputs). The suffix of FILE selects the output: .ptx, "
     ".cubin, .spv or .bin: the binary of the one device; .h, .c, .o or .s: the bundle, embedded "
     "in a C header, C source, an object file or assembly; .asm: the assembly of the one device "
     "binary; .hpp: C++ launchers; otherwise the bundle. If the input is a bundle, embedding and "
     "launchers convert it; otherwise, its programs are built anew",
     Mode::compile, 'o'},
    {Group::output, Form::value, Scope::compile_or_bundle, "emit", "KIND",
     set_checked<check_output_kind, &Options::emit>,
     "select the output, regardless of its suffix: clbin, ptx, cubin, spv, bin, asm, h, c, o, s, "
     "hpp or, of a bundle, measurements: the times of its variants, without source and binaries"},
    {Group::output, Form::word, Scope::compile_or_bundle, "-S", "", set_assembly,
     "write the assembly of the one device binary, as --emit asm does"},
    {Group::output, Form::value, Scope::compile_or_embed, "symbol", "NAME",
     set_checked<embed::check_symbol, &Options::symbol>,
     "name an embedded bundle NAME in C and its size NAME_size (default: the output's stem + "
     "\"_clbin\")"},
    {Group::output, Form::value, Scope::compile_or_embed, "embed-header", "FILE",
     set_value<&Options::embed_header>,
     "with -o k.c, k.o or k.s: also write FILE, a header that declares the embedded bundle"},
    {Group::output, Form::value, Scope::compile_or_embed, "host-triple", "TRIPLE",
     set_checked<embed::object_target, &Options::host_triple>,
     "with -o k.o or k.s: write it for the machine TRIPLE, such as aarch64-linux-gnu (default: "
     "this machine)"},
    {Group::output, Form::value, Scope::compile_or_extract, "program", "NAME=FILE", add_program,
     "compile FILE as program NAME (default: the stem of FILE); with --extract, --disassemble "
     "and --report: only program NAME"},
    {Group::output, Form::value, Scope::sources_or_rebuild, "optional", "PROGRAM",
     append_value<&Options::optional_programs>,
     "allow PROGRAM to fail for a device: print a warning and keep its source, which is built when "
     "PROGRAM is loaded on that device; repeatable"},
    {Group::output, Form::value, Scope::compile_or_extract | scope_of(Mode::tune), "variant",
     "NAME='OPTIONS'", add_variant,
     "compile with OPTIONS in addition, as variant NAME; repeatable (default: one variant, "
     "\"default\"); with --extract, --disassemble and --report: only variant NAME; with --tune: "
     "also measure each variant with OPTIONS in addition, as BASE+NAME, or, without OPTIONS, only "
     "variant NAME"},
    {Group::output, Form::value, Scope::sources | scope_of(Mode::tune), "variants",
     "'MACRO=VALUE,...'", add_variants,
     "compile a variant for each combination of the values of macros; \"if CONDITION\" may follow "
     "them; repeatable"},
    {Group::output, Form::value, Scope::sources, "requires", "VARIANT=NAME[,NAME]...",
     add_requirement,
     "load VARIANT only with the extensions NAME, of the device or of an entry compiled with them; "
     "a load that names no variant prefers it; repeatable"},
    {Group::output, Form::value, Scope::sources_or_rebuild | Scope::warm, "specialize",
     "KERNEL=SIZE", add_size,
     "prepare KERNEL for launches with work-groups of SIZE (64, 16x16, 8x8x4): include the code "
     "that its first launch requires; repeatable. Sizes that kernels require or hint at are always "
     "included"},
    {Group::output, Form::flag, Scope::compile_or_rebuild, "launched-only", "",
     set_constant<&Options::kernels, KernelChoice::launched>,
     "of a recording, compile only the kernels that were launched; the programs of the result have "
     "no others"},
    {Group::output, Form::flag, Scope::sources_or_rebuild, "emit-cubin", "",
     set_constant<&Options::cubin, CubinPolicy::emit>,
     "for NVIDIA devices, also write a cubin, which the driver loads without compiling; requires "
     "ptxas"},
    {Group::output, Form::flag, Scope::sources_or_rebuild | Scope::record, "no-source", "",
     set_constant<&Options::source, SourcePolicy::drop>,
     "omit the source from the bundle. By default, the source and every header it includes are "
     "shipped, so that devices without a matching entry can build the program"},
    {Group::output, Form::flag, Scope::compile, "source-only", "",
     set_constant<&Options::binaries, BinaryPolicy::none>,
     "compile nothing: write a bundle of the sources, from which each device builds the program"},

    {Group::devices, Form::value, Scope::calling, "device", "PATTERN",
     append_value<&Options::device_patterns>,
     "use only matching devices: gpu, cpu, accelerator, all, PLATFORM:DEVICE by number (0:1), a "
     "feature of --identity, or a part of a platform or device name; repeatable (default: all)"},
    {Group::devices, Form::value, Scope::sources_or_rebuild, "target", "SPEC",
     append_value<&Options::targets>,
     "compile for the offline target SPEC, such as nvptx:sm_70, which needs no device; starts "
     "no driver unless --device is given, too; repeatable"},
    {Group::devices, Form::value, Scope::offline, "tool", "NAME=PATH", add_tool,
     "for offline targets, use the program or library PATH as NAME, such as clang; repeatable"},
    {Group::devices, Form::value, Scope::sources, "device-option", "PATTERN=OPTIONS",
     add_device_option, "compile with OPTIONS in addition, for the devices that match PATTERN"},

    {Group::compiler, Form::word_value, Scope::sources, "-D", "NAME[=VALUE]",
     append_driver_option<'D'>, "define a macro"},
    {Group::compiler, Form::word_value, Scope::sources, "-U", "NAME", append_driver_option<'U'>,
     "undefine a macro"},
    {Group::compiler, Form::word_value, Scope::sources, "-I", "DIR",
     append_value<&Options::include_folders>, "search DIR for headers"},
    {Group::compiler, Form::word_value, Scope::sources, "-include", "FILE",
     append_value<&Options::forced_includes>, "include FILE before the first line"},
    {Group::compiler, Form::word_prefix, Scope::sources, "-cl-", "*", pass_on,
     "pass any OpenCL option to every driver, unchanged"},
    {Group::compiler, Form::word, Scope::sources, "-g", "", pass_on, "generate debug information"},
    {Group::compiler, Form::word, Scope::sources, "-O", "", pass_on,
     "set the optimization level; passed to every driver, unchanged"},
    {Group::compiler, Form::word, Scope::sources, "-O0", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-O1", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-O2", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-O3", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-Os", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-Oz", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-Ofast", "", pass_on, ""},
    {Group::compiler, Form::word, Scope::sources, "-w", "", pass_on, "suppress compiler warnings"},
    {Group::compiler, Form::word, Scope::sources, "-Werror", "", pass_on,
     "treat warnings as errors"},
    {Group::compiler, Form::word, Scope::sources_or_rebuild, "-Werror=variant", "",
     set_constant<&Options::absent_variants, AbsentVariants::refuse>,
     "treat a variant that some device cannot build as an error"},
    {Group::compiler, Form::word_value, Scope::sources, "-x", "cl", check_language,
     "set the input language; only cl is supported"},
    {Group::compiler, Form::word_equals, Scope::sources, "-ffile-prefix-map", "OLD=NEW",
     add_prefix_mapping,
     "replace OLD with NEW at the start of file names in #line directives, in binaries and in the "
     "bundle"},
    {Group::compiler, Form::word_equals, Scope::sources, "-fmacro-prefix-map", "OLD=NEW",
     add_prefix_mapping, ""},
    {Group::compiler, Form::word_equals, Scope::sources, "-fdebug-prefix-map", "OLD=NEW",
     add_prefix_mapping, ""},

    {Group::depfiles, Form::word, Scope::compile, "-M", "",
     set_constant<&Options::depfile_mode, DepfileMode::instead>,
     "print the rule and compile nothing"},
    {Group::depfiles, Form::word, Scope::compile, "-MM", "",
     set_constant<&Options::depfile_mode, DepfileMode::instead>, ""},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MD", "",
     // As in gcc, -M does not become -MD.
     set_if_default<&Options::depfile_mode, DepfileMode::beside_output>,
     "write the rule next to the output, with suffix .d"},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MMD", "",
     set_if_default<&Options::depfile_mode, DepfileMode::beside_output>, ""},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MF", "FILE",
     set_value<&Options::depfile>, "write the rule to FILE"},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MT", "TARGET",
     append_value<&Options::depfile_targets>, "set the target of the rule, unchanged"},
    {Group::depfiles, Form::word_value, Scope::compile_or_bundle, "-MQ", "TARGET",
     add_quoted_target, "set the target of the rule, escaped for make"},
    {Group::depfiles, Form::word, Scope::compile_or_bundle, "-MP", "",
     set_constant<&Options::phony_headers, PhonyHeaders::yes>,
     "add an empty rule for each header, so that make continues after a header is removed"},

    {Group::running, Form::optional_value, Scope::compile, "compile-commands", "FILE",
     set_value<&Options::compile_commands>,
     "compile nothing: write the commands with which clang would compile the sources to FILE, "
     "which clangd reads; keeps those of other sources (default: compile_commands.json)",
     Mode::compile, '\0', "compile_commands.json"},

    {Group::running, Form::flag, Scope::compile, "watch", "",
     set_constant<&Options::watch, WatchPolicy::yes>,
     "compile, and then again each time that a source, a header or another file that the compile "
     "reads changes, until interrupted"},
    {Group::running, Form::word, Scope::compile_or_rebuild, "-fsyntax-only", "",
     // -### has priority, as in gcc: nothing is compiled.
     set_if_default<&Options::goal, CompileGoal::check>, "compile, but write no output"},
    {Group::running, Form::word, Scope::compile, "-###", "",
     set_constant<&Options::goal, CompileGoal::preview>,
     "print a command for each unit and run none"},
    {Group::running, Form::value, Scope::running, "jobs", "N",
     set_number<k_max_jobs, &Options::jobs>, "run N compilers at once (default: one per core)",
     Mode::compile, 'j'},
    {Group::running, Form::value, Scope::waiting, "timeout", "SECONDS",
     set_number<k_max_timeout_seconds, &Options::timeout_seconds>,
     "stop a compiler, or the command of --sign-with, after SECONDS (default: 300)"},
    {Group::running, Form::value, Scope::compile_or_list, "memory-limit", "SIZE", set_memory_limit,
     "stop a compiler that uses more memory than SIZE, such as 512M or 4G; none: no limit "
     "(default: three quarters of the machine's memory)"},
    {Group::running, Form::flag, Scope::compile_or_rebuild, "keep-going", "",
     set_constant<&Options::failure, FailurePolicy::keep_going>,
     "write the parts that compiled even if others failed"},
    {Group::running, Form::optional_value, Scope::any, "color", "WHEN",
     set_choice<&Options::color, k_color_modes>,
     "use colours: auto, always or never (default: auto)", Mode::compile, '\0', "always"},
    {Group::running, Form::value, Scope::any, "diagnostics-format", "FORMAT",
     set_choice<&Options::diagnostics_format, k_diagnostics_formats>,
     "print messages as text, json or sarif (default: text)"},
    {Group::running, Form::flag, Scope::any, "quiet", "",
     set_constant<&Options::verbosity, Verbosity::quiet>, "suppress warnings and notes",
     Mode::compile, 'q'},
    {Group::running, Form::flag, Scope::any, "verbose", "",
     set_constant<&Options::verbosity, Verbosity::verbose>,
     "report each step and print whole build logs; with --list-devices: print all properties of "
     "the devices; with --list-targets: the extensions that -cl-ext can request",
     Mode::compile, 'v'},

    mode_row(Group::inspecting, Mode::info, "info",
             "list the contents of the bundles FILE...; starts no driver"),
    mode_row(Group::inspecting, Mode::list_devices, "list-devices", "list the installed devices"),
    mode_row(Group::inspecting, Mode::list_targets, "list-targets",
             "list the offline targets, and what those that cannot be used here need"),
    mode_row(Group::inspecting, Mode::explain, "explain",
             "show what each device would load from the bundles FILE..., and why; passes matching "
             "entries to the drivers, compiles no source"),
    mode_row(Group::inspecting, Mode::verify, "verify", "check every byte of the bundles FILE..."),
    {Group::inspecting, Form::flag, Scope::verify, "run", "",
     set_constant<&Options::run, RunPolicy::yes>,
     "with --verify: load each entry on the devices that would load it, each in a separate "
     "process"},
    mode_row(Group::inspecting, Mode::diff, "diff",
             "list the differences between two bundles; the exit status is 1 if there are any"),
    mode_row(
        Group::inspecting, Mode::extract, "extract",
        "write the binaries and sources of bundles to files in the directory -o (default: working "
        "directory)"),
    mode_row(Group::inspecting, Mode::disassemble, "disassemble",
             "print the instructions of the one device binary in FILE, or of the one of a bundle "
             "that --program, --variant and --keep-target select"),
    mode_row(
        Group::inspecting, Mode::report, "report",
        "list the registers, spills, memory, code size and occupancy of the kernels in FILE..., "
        "bundles or device binaries; needs no device and no tool"),
    {Group::inspecting, Form::value, Scope::disassemble | Scope::report, "kernel", "NAME",
     append_value<&Options::wanted_kernels>,
     "with --disassemble or --report: only of the kernel NAME; with --report: repeatable"},
    {Group::inspecting, Form::value, Scope::report, "against", "FILE", set_value<&Options::against>,
     "with --report: list what differs from the kernels in FILE"},
    {Group::inspecting, Form::value, Scope::report, "fail-on", "LIMITS", add_change_limits,
     "with --against: exit with status 1 if a number is worse than LIMITS allow, such as "
     "spills,scratch,registers+10%,size+5%,occupancy-1"},
    mode_row(Group::inspecting, Mode::provenance, "provenance",
             "print the sources, compilers and options that the binaries of the bundle FILE were "
             "made of, as an in-toto statement (SLSA provenance v1)"),
    mode_row(Group::inspecting, Mode::sbom, "sbom",
             "print the same as a bill of materials (CycloneDX 1.5)"),
    mode_row(
        Group::inspecting, Mode::reproduce, "reproduce",
        "build every binary of the bundle FILE anew from what it records, without a cache, and "
        "compare; the exit status is 1 if one differs"),
    {Group::inspecting, Form::flag, Scope::reporting, "json", "",
     set_constant<&Options::list_format, ListFormat::json>, "print the report as JSON"},
    {Group::inspecting, Form::flag, Scope::report, "csv", "",
     set_constant<&Options::list_format, ListFormat::csv>,
     "with --report: print comma-separated values"},
    {Group::inspecting, Form::value, Scope::report, "html", "PAGE", set_page,
     "with --report: write a page for browsers, which also contains the sizes of the entries, the "
     "decisions of --explain and the instructions of the binaries"},

    mode_row(
        Group::tuning, Mode::tune, "tune",
        "run the launches of --launch, or else the recorded ones, with each variant of the "
        "bundle FILE on each device, compare the results, print the times, and add them to the "
        "bundle, in place unless -o is given"),
    {Group::tuning, Form::value, Scope::tune, "launch", "KERNEL=SIZE[:ARGUMENTS]",
     append_value<&Options::launches>,
     "with --tune: launch KERNEL, as 'scale=512x512,16x16:random(f32,262144),n=512', or what the "
     "JSON file of this name describes; repeatable"},
    {Group::tuning, Form::value, Scope::tune, "tune-seconds", "N",
     set_number<k_max_timeout_seconds, &Options::tune_seconds>,
     "with --tune: end after N seconds, with what was measured"},
    {Group::tuning, Form::value, Scope::tune, "tolerance", "NUMBER", set_tolerance,
     "with --tune: how far results of floating-point numbers may differ, relatively (default: 1e-2 "
     "for half, 1e-4 for float, 1e-9 for double)"},
    {Group::tuning, Form::flag, Scope::tune, "known-answers", "",
     set_constant<&Options::answers, AnswerPolicy::add>,
     "with --tune: also keep what each launch computes, for --verify --run"},

    mode_row(
        Group::changing, Mode::merge, "merge",
        "combine the bundles FILE..., in any order, into the bundle -o; compresses nothing again"),
    mode_row(Group::changing, Mode::import_binaries, "import",
             "put device binaries of other tools, each as [PROGRAM:][TARGET=]FILE, into the bundle "
             "-o; reads fat binaries, offload bundles and archives, too"),
    mode_row(Group::changing, Mode::repack, "repack",
             "compress the bundles FILE... again, in place unless -o is given"),
    {Group::changing, Form::optional_mode, Scope::any, "split", "UNIT",
     set_choice<&Options::split_unit, k_split_units>,
     "write the bundle FILE to the directory -o as a base, with its sources and IL, and a pack "
     "that "
     "can be installed alone for each UNIT: family (of devices, the default), vendor or entry (one "
     "target)",
     Mode::split, '\0', "family"},
    mode_row(Group::changing, Mode::strip, "strip",
             "remove parts of the bundles FILE..., in place unless -o is given; compresses nothing "
             "again"),
    {Group::changing, Form::value, Scope::choosing, "keep-target", "PATTERN",
     append_value<&Options::keep_targets>,
     "keep, extract, disassemble or report only entries whose target matches PATTERN (a target "
     "such as nvptx:sm_70, or a part of a device or platform name); repeatable"},
    {Group::changing, Form::value, Scope::choosing, "drop-target", "PATTERN",
     append_value<&Options::drop_targets>,
     "remove, or leave out, entries whose target matches PATTERN; '*' matches all; repeatable"},
    {Group::changing, Form::flag, Scope::strip, "strip-source", "",
     set_constant<&Options::source, SourcePolicy::drop>, "remove the source"},
    {Group::changing, Form::flag, Scope::strip, "strip-reflection", "",
     set_constant<&Options::reflection, ReflectionPolicy::drop>,
     "remove all kernel information except kernel names"},
    {Group::changing, Form::flag, Scope::strip, "strip-measurements", "",
     set_constant<&Options::measurements, MeasurementPolicy::drop>,
     "remove the times of variants, by which loads choose one"},
    {Group::changing, Form::flag, Scope::strip, "strip-answers", "",
     set_constant<&Options::answers, AnswerPolicy::drop>, "remove what --known-answers has kept"},
    {Group::changing, Form::flag, Scope::strip, "strip-data", "",
     set_constant<&Options::recorded_data, DataPolicy::drop>,
     "remove the launches that --record-data has recorded, with their data"},
    {Group::changing, Form::flag, Scope::strip, "prune", "",
     set_constant<&Options::losers, LoserPolicy::drop>,
     "remove each variant that was measured and that no load prefers on any device"},

    {Group::recording, Form::value, Scope::any, "record", "BUNDLE", set_value<&Options::recording>,
     "run the command after \"--\", and write the OpenCL programs that it builds, with their "
     "sources and options, to BUNDLE, or add them to it",
     Mode::record},
    {Group::recording, Form::flag, Scope::record, "record-binaries", "",
     set_constant<&Options::recorded_binaries, BinaryPolicy::build>,
     "also record the device binaries"},
    {Group::recording, Form::optional_value, Scope::record, "record-data", "LIMIT",
     set_recorded_data,
     "also record a few launches of each kernel with their arguments and the contents of their "
     "buffers and images, at most LIMIT (64M) bytes of them, for --tune and --verify --run",
     Mode::compile, '\0', "64M"},

    {Group::signing, Form::value, Scope::any, "keygen", "NAME", set_key_pair,
     "make a key pair: the secret key NAME.key, which a passphrase protects, and the public key "
     "NAME.pub, as minisign(1) does; --key-type makes other keys",
     Mode::keygen},
    {Group::signing, Form::flag, Scope::keygen, "no-passphrase", "",
     set_constant<&Options::passphrase_policy, PassphrasePolicy::none>,
     "with --keygen: do not protect the secret key"},
    mode_row(Group::signing, Mode::sign, "sign",
             "sign the bundles FILE..., in place unless -o is given, with --key or --sign-with"),
    {Group::signing, Form::value, Scope::sign, "key", "FILE",
     set_once<&Options::signing, &SigningOptions::key>,
     "with --sign: sign with the secret key in FILE"},
    {Group::signing, Form::value, Scope::compile_or_split, "sign-key", "FILE", set_sign_key,
     "sign the output of a compile or of --split with the secret key in FILE"},
    {Group::signing, Form::value, Scope::sign_or_compile, "sign-with", "COMMAND",
     set_once<&Options::signing, &SigningOptions::command>,
     "sign with COMMAND, which reads the bytes to sign on standard input and writes their Ed25519 "
     "signature to standard output; requires --public-key"},
    {Group::signing, Form::value, Scope::verify | Scope::sign_or_compile, "public-key", "KEY",
     append_key<&Options::public_keys>,
     "with --verify: require a signature by KEY, a file or the text in it; repeatable. With "
     "--sign-with: the key of COMMAND"},
    {Group::signing, Form::value, scope_of(Mode::sign_message) | Scope::sign_or_compile, "counter",
     "N", set_counter<&Options::signing, &SigningOptions::counter>,
     "also sign the counter N, against older versions"},
    {Group::signing, Form::value, Scope::verify, "least-counter", "N",
     set_counter<&Options::least_counter>, "with --verify: require a counter of at least N"},
    {Group::signing, Form::value, Scope::sign, "vouched-by", "FILE",
     set_once<&Options::signing, &SigningOptions::vouching_key>,
     "with --sign: who trusts the secret key in FILE shall also trust the key that signs"},
    {Group::signing, Form::value, Scope::keygen | Scope::sign_or_compile, "passphrase-file", "FILE",
     set_once<&Options::signing, &SigningOptions::passphrase_file>,
     "read the passphrase of the secret key from FILE (default: the terminal, or standard input)"},
    {Group::signing, Form::flag, Scope::verify | Scope::sign, "detached", "",
     set_constant<&Options::signature_form, SignatureForm::detached>,
     "with --sign or --verify: write or check a signature file FILE.minisig, as minisign(1) does"},
    mode_row(Group::signing, Mode::sign_message, "sign-message",
             "write the bytes that a signature of the bundle FILE signs, for signing elsewhere"),
    mode_row(Group::signing, Mode::strip_signature, "strip-signature",
             "remove the signatures of the bundles FILE..., in place unless -o is given, and "
             "nothing else"),

    {Group::encrypting, Form::value, Scope::keygen, "key-type", "TYPE",
     set_choice<&Options::key_type, k_key_types>,
     "with --keygen: make a key pair for signing, the content key NAME.key, or a key pair of a "
     "recipient; the last two have no passphrase (default: signing)"},
    mode_row(Group::encrypting, Mode::encrypt, "encrypt",
             "encrypt the contents of the bundles FILE..., in place unless -o is given, with "
             "--encrypt-key or --encrypt-for"),
    mode_row(Group::encrypting, Mode::decrypt, "decrypt",
             "decrypt the contents of the bundles FILE..., in place unless -o is given, with "
             "--decrypt-key"),
    {Group::encrypting, Form::value, Scope::encrypting, "encrypt-key", "FILE",
     set_once<&Options::encryption, &EncryptionOptions::key>,
     "encrypt the output with the content key in FILE; equal contents have equal bytes"},
    {Group::encrypting, Form::value, Scope::encrypting, "encrypt-for", "KEY",
     append_key<&Options::encryption, &EncryptionOptions::recipients>,
     "encrypt the output for the recipient with the public key KEY, a file or the text in it, "
     "with a new content key unless --encrypt-key is given; repeatable"},
    {Group::encrypting, Form::value, Scope::decrypting, "decrypt-key", "FILE",
     append_key<&Options::decrypt_keys>,
     "read encrypted bundles with the content key, or the recipient's secret key, in FILE; "
     "repeatable"},

    {Group::caching, Form::flag, Scope::sources_or_rebuild | Scope::tune, "no-cache", "",
     set_constant<&Options::cache, CachePolicy::ignore>,
     "build everything, and store nothing in the cache; with --tune: measure again what the bundle "
     "contains"},
    mode_row(Group::caching, Mode::warm, "warm",
             "load every program of the bundles FILE... on each device, and store what has to be "
             "built in libclbin's user cache, so that applications start without a build"),
    mode_row(Group::caching, Mode::cache_stats, "cache-stats",
             "show the contents and the hits of libclbin's user cache and oclcc's compile cache"),
    mode_row(Group::caching, Mode::clear_cache, "clear-cache",
             "remove the contents of both caches"),

    {Group::planning, Form::value, Scope::any, "plan", "ninja|json|slurm|parallel",
     set_choice<&Options::plan_format, k_plan_formats>,
     "compile nothing: write a plan of the units, and of the merge and repack that make the bundle "
     "-o, for ninja, Slurm, GNU parallel, or (as JSON) another engine, to the directory that is "
     "named as the bundle, with the suffix .plan. Leaves out what the cache contains",
     Mode::plan},
    {Group::planning, Form::value, Scope::plan_or_import, "machine", "FILE",
     append_value<&Options::machines>,
     "with --plan or --import: use the devices in FILE, which --identity --json printed on another "
     "machine, and not those of this machine; repeatable"},
    {Group::planning, Form::value, Scope::compile, "unit", "KEY", set_unit,
     "compile only the unit KEY of a plan, which the other options describe; fail if they describe "
     "another one"},
    mode_row(Group::planning, Mode::identity, "identity",
             "print what this machine can compile for, as features of a Slurm node: Feature=..."),

    {Group::modes, Form::optional_mode, Scope::any, "help", "all",
     set_choice<&Options::help, k_help_extents>, "show the common options, or all options",
     Mode::help, '\0', "common"},
    mode_row(Group::modes, Mode::version, "version", "show the version"),
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

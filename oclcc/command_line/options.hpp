// The command line, as data. See oclcc(1).
#pragma once

#include "command_line/embedding_names.hpp"
#include "format/binary/binary_kind.hpp"
#include "model/kernel.hpp"
#include "terminal/reporter.hpp"

#include <set>

namespace oclcc {

using format::Specialization;

// Returns an error of the command line.
template <typename... Arguments>
[[nodiscard]] tl::unexpected<Error> refused(fmt::format_string<Arguments...> text,
                                            Arguments&&... arguments) {
  return fail(ErrorCode::invalid_argument, text, std::forward<Arguments>(arguments)...);
}

enum class Mode : std::uint8_t {
  compile,
  plan,
  list_devices,
  list_targets,
  identity,
  info,
  strip,
  merge,
  repack,
  split,
  verify,
  extract,
  disassemble,
  provenance,
  sbom,
  reproduce,
  diff,
  cache_stats,
  clear_cache,
  explain,
  record,
  keygen,
  sign,
  sign_message,
  strip_signature,
  encrypt,
  decrypt,
  import_binaries,
  report,
  tune,
  warm,
  help,
  version,
  worker
};
enum class HelpExtent : std::uint8_t { common, all };
enum class CubinPolicy : std::uint8_t { skip, emit };
enum class KernelChoice : std::uint8_t { all, launched };
// none: --source-only.
enum class BinaryPolicy : std::uint8_t { build, none };
enum class SourcePolicy : std::uint8_t { keep, drop };
enum class ReflectionPolicy : std::uint8_t { keep, drop };
enum class MeasurementPolicy : std::uint8_t { keep, drop };
enum class LoserPolicy : std::uint8_t { keep, drop };
enum class DataPolicy : std::uint8_t { keep, drop };
enum class AnswerPolicy : std::uint8_t { unchanged, add, drop };
enum class FailurePolicy : std::uint8_t { stop, keep_going };
enum class RunPolicy : std::uint8_t { no, yes };
// What a pack contains: the entries of a vendor, of a family of devices, or of one target.
enum class SplitUnit : std::uint8_t { family, vendor, entry };
enum class CachePolicy : std::uint8_t { use, ignore };
enum class WatchPolicy : std::uint8_t { no, yes };
// -MD writes the rule in addition to the output, -M instead of it.
enum class DepfileMode : std::uint8_t { none, beside_output, instead };
enum class PhonyHeaders : std::uint8_t { no, yes };
enum class AbsentVariants : std::uint8_t { warn, refuse };
// -fsyntax-only compiles and writes nothing. -### prints commands and runs none.
enum class CompileGoal : std::uint8_t { output, check, preview };
enum class PassphrasePolicy : std::uint8_t { ask, none };
// detached: a file of minisign beside the bundle, instead of a record in the bundle.
enum class SignatureForm : std::uint8_t { record, detached };
// What --keygen makes.
enum class KeyType : std::uint8_t { signing, content, recipient };
enum class PlanFormat : std::uint8_t { ninja, json, slurm, parallel };
enum class ListFormat : std::uint8_t { text, json, csv };
enum class ChangeUnit : std::uint8_t { absolute, percent };

struct Input {
  std::filesystem::path path; // "-" for standard input
  std::string program;        // of --program NAME=FILE, otherwise the stem; "stdin" for "-"
  friend bool operator==(const Input&, const Input&) = default;
};

struct Variant {
  std::string name;
  std::vector<std::string> options; // like Options::driver_options
  friend bool operator==(const Variant&, const Variant&) = default;
};

// --device-option PATTERN=OPTIONS
struct DeviceOptions {
  std::string pattern;
  std::vector<std::string> options; // like Options::driver_options
  friend bool operator==(const DeviceOptions&, const DeviceOptions&) = default;
};

// -ffile-prefix-map=OLD=NEW
struct PrefixMapping {
  std::string old_prefix;
  std::string new_prefix;
  friend bool operator==(const PrefixMapping&, const PrefixMapping&) = default;
};

// Who signs, and what: --sign, --sign-message, and the compile mode.
struct SigningOptions {
  std::optional<std::filesystem::path> key; // --key, --sign-key
  std::optional<std::string> command;       // --sign-with
  std::optional<std::uint64_t> counter;
  std::optional<std::filesystem::path> vouching_key;    // --vouched-by
  std::optional<std::filesystem::path> passphrase_file; // also of --keygen
  // Whether the output is signed.
  [[nodiscard]] bool is_requested() const noexcept { return key || command; }
  friend bool operator==(const SigningOptions&, const SigningOptions&) = default;
};

// With which key the output is encrypted, and for whom.
struct EncryptionOptions {
  std::optional<std::filesystem::path> key; // --encrypt-key; otherwise, a new key
  std::vector<std::string> recipients;      // --encrypt-for, as given
  [[nodiscard]] bool is_requested() const noexcept { return key || !recipients.empty(); }
  friend bool operator==(const EncryptionOptions&, const EncryptionOptions&) = default;
};

// --fail-on: by how much a number of --report may be worse than that of --against.
struct ChangeLimit {
  std::string number; // of k_limited_numbers
  std::uint64_t allowed = 0;
  ChangeUnit unit = ChangeUnit::absolute;
  friend bool operator==(const ChangeLimit&, const ChangeLimit&) = default;
};
inline constexpr std::string_view k_limited_numbers[] = {
    "registers", "scalar-registers", "spills", "scratch", "local", "constant", "size", "occupancy"};

struct Options {
  Mode mode = Mode::compile;
  HelpExtent help = HelpExtent::common; // --help=all
  std::vector<Input> inputs;
  std::optional<std::filesystem::path> output;
  // The first given option that affects only compiling sources. Empty if there is none.
  std::string compiling_option;
  // The first given option that has no effect if the programs of a bundle are built anew. Empty if
  // there is none.
  std::string source_option;
  // Options for drivers, in the order of the command line: -D, -U, -cl-*, -g, -O*, -w, -Werror, one
  // word each ("-DX"). Excludes -I and -include, which the include closure resolves.
  std::vector<std::string> driver_options;
  std::vector<std::filesystem::path> include_folders; // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  std::vector<std::string> device_patterns;           // --device; empty: all
  std::vector<std::string> targets;                   // --target; empty: no offline target
  std::map<std::string, std::filesystem::path, std::less<>> tools; // --tool NAME=PATH
  std::vector<Variant> variants;                             // empty for "default" without options
  std::map<std::string, std::set<std::string>> requirements; // --requires: extensions, by variant
  // --keep-target and --drop-target (patterns.hpp). An entry is kept if it matches one of the
  // first (or there are none) and none of the second.
  std::vector<std::string> keep_targets;
  std::vector<std::string> drop_targets;
  std::optional<std::string> symbol;                 // --symbol
  std::optional<std::string> host_triple;            // --host-triple
  std::optional<std::filesystem::path> embed_header; // --embed-header
  std::vector<Specialization> specializations;       // --specialize, in order, without duplicates
  CubinPolicy cubin = CubinPolicy::skip;             // --emit-cubin
  KernelChoice kernels = KernelChoice::all;          // --launched-only, of a recording
  std::vector<DeviceOptions> device_options;         // in the order of the command line
  std::vector<PrefixMapping> prefix_map;             // the last match applies
  CompileGoal goal = CompileGoal::output;
  std::optional<std::string> emit; // a name that check_output_kind accepts
  BinaryPolicy binaries = BinaryPolicy::build;
  SourcePolicy source = SourcePolicy::keep;
  std::vector<std::string> optional_programs; // --optional: names of inputs' programs, or "*"
  ReflectionPolicy reflection = ReflectionPolicy::keep;
  MeasurementPolicy measurements = MeasurementPolicy::keep;
  DataPolicy recorded_data = DataPolicy::keep; // --strip-data
  AnswerPolicy answers = AnswerPolicy::unchanged;
  LoserPolicy losers = LoserPolicy::keep; // --prune
  SplitUnit split_unit = SplitUnit::family;
  // --extract, --disassemble, --report: --program NAME, --variant NAME (also --tune); empty: all
  std::vector<std::string> wanted_programs;
  std::vector<std::string> wanted_variants;
  std::vector<std::string> wanted_kernels;        // --disassemble, --report: --kernel; empty: all
  std::optional<std::filesystem::path> against;   // --report
  std::vector<ChangeLimit> change_limits;         // --fail-on
  std::optional<std::filesystem::path> page;      // --html
  RunPolicy run = RunPolicy::no;                  // --verify --run
  std::vector<std::string> launches;              // --launch, as given
  unsigned tune_seconds = 0;                      // --tune-seconds; 0: no limit
  std::optional<double> tolerance;                // --tolerance
  std::optional<std::filesystem::path> recording; // --record
  BinaryPolicy recorded_binaries = BinaryPolicy::none; // --record-binaries: build
  std::uint64_t recorded_data_bytes = 0;               // --record-data; 0: none
  std::vector<std::string> command;                    // --record: the words after "--"
  PlanFormat plan_format = PlanFormat::json;           // --plan
  std::vector<std::filesystem::path> machines;         // --machine
  std::optional<base::Digest> unit;                    // --unit
  std::vector<std::string> words; // --plan: the whole command line; otherwise empty
  SigningOptions signing;
  EncryptionOptions encryption;
  std::vector<std::filesystem::path> decrypt_keys;            // --decrypt-key
  std::optional<std::filesystem::path> key_pair;              // --keygen
  KeyType key_type = KeyType::signing;                        // --key-type
  PassphrasePolicy passphrase_policy = PassphrasePolicy::ask; // --no-passphrase: none
  std::vector<std::string> public_keys;                       // --public-key, as given
  std::uint64_t least_counter = 0;                            // --least-counter; 0: any
  SignatureForm signature_form = SignatureForm::record;
  DepfileMode depfile_mode = DepfileMode::none;
  std::optional<std::filesystem::path> depfile; // -MF
  std::vector<std::string> depfile_targets;     // -MT as given, -MQ escaped
  PhonyHeaders phony_headers = PhonyHeaders::no;
  std::optional<std::filesystem::path> compile_commands; // --compile-commands
  WatchPolicy watch = WatchPolicy::no;                   // --watch
  std::vector<std::filesystem::path> response_files;     // in the order of their reading
  FailurePolicy failure = FailurePolicy::stop;
  CachePolicy cache = CachePolicy::use;
  AbsentVariants absent_variants = AbsentVariants::warn; // -Werror=variant, -Werror: refuse
  ListFormat list_format = ListFormat::text;
  DiagnosticsFormat diagnostics_format = DiagnosticsFormat::text;
  ColorMode color = ColorMode::automatic;
  Verbosity verbosity = Verbosity::normal;
  unsigned jobs = 0;              // -j; 0 for one per core
  unsigned timeout_seconds = 300; // --timeout; for one unit, or one call of --sign-with
  // --memory-limit of one compiler. 0 for no limit; std::nullopt for a fraction of the machine's
  // memory.
  std::optional<std::uint64_t> memory_limit_bytes;
  friend bool operator==(const Options&, const Options&) = default;
};

// Parses "matmul=16x16": one to three sizes, each from 1 to 65536. invalid_argument for any other
// text.
[[nodiscard]] Result<Specialization> parse_specialization(const std::string& text);
// Inserts `specialization` in order, unless it is already present.
void add_specialization(std::vector<Specialization>& all, Specialization specialization);

// Returns the value of -j, otherwise the number of cores.
[[nodiscard]] unsigned worker_count(const Options& options) noexcept;

// Returns the option of a mode for messages, such as "--info"; empty for compile and worker.
[[nodiscard]] std::string mode_spelling(Mode mode);

// Parses `words`, without the program name. If the first word is "--worker", the mode is
// Mode::worker and other words are ignored. invalid_argument: an unknown option (with the most
// similar one), a missing value, a conflict, or no input. file_not_found, file_read: a response
// file cannot be read.
[[nodiscard]] Result<Options> parse_command_line(const std::vector<std::string>& words);

// Whether --optional names the program, or all of them by "*".
[[nodiscard]] bool is_optional(const Options& options, std::string_view program);

// Checks that --optional names only programs of `names`. invalid_argument otherwise.
[[nodiscard]] Result<void> check_optional_programs(const Options& options,
                                                   const std::vector<std::string>& names);

// For sources only; bundles may have equal names. invalid_argument if two programs have the same
// name.
[[nodiscard]] Result<void> check_program_names(const std::vector<Input>& inputs);

// Returns what --help (the options that most users need) or --help=all prints.
[[nodiscard]] std::string help_text(HelpExtent extent);
[[nodiscard]] std::string version_text();

// launchers: the C++ header of launchers.hpp. measurements: a bundle that contains nothing else.
enum class OutputForm : std::uint8_t { bundle, raw_binary, embedding, launchers, measurements };
// Whether the output is made of a bundle, without compiling, if the input is one.
[[nodiscard]] constexpr bool is_converted(OutputForm form) noexcept {
  return form == OutputForm::embedding || form == OutputForm::launchers ||
         form == OutputForm::measurements;
}
// What is written of a raw binary: its bytes, or its instructions.
enum class RawContent : std::uint8_t { bytes, assembly };

// A kind of output: a suffix of -o, and a value of --emit.
struct OutputKind {
  std::string_view name;
  OutputForm form;
  format::BinaryKind raw_kind = format::BinaryKind::unknown; // of raw binaries
  embed::EmbedForm embed_form = embed::EmbedForm::c_header;  // of embeddings
  RawContent raw_content = RawContent::bytes;                // of raw binaries
};
// invalid_argument unless --emit accepts `name`; the suffixes of -o are the same without the dot.
[[nodiscard]] Result<void> check_output_kind(std::string_view name);

// Returns the kind of --emit, otherwise of the suffix of -o, otherwise a bundle.
[[nodiscard]] const OutputKind& output_kind(const Options& options);

// Returns the variants of --variants: the combinations that "TILE=16,32 ITEM=4,8 if TILE>=4*ITEM"
// describes (oclcc-tuning(7)), named TILE16_ITEM4, in order; at least one, and at most 1,000.
// invalid_argument: the text is malformed, or has none or more.
[[nodiscard]] Result<std::vector<Variant>> variants_of_space(const std::string& text);

// Appends the words of what every unit of a compile is built with: macros, OpenCL options, headers,
// specializations, and what its bundle contains. Not the variants.
void add_source_words(const Options& options, std::vector<std::string>& words);
// Returns the words of a variant, and of what it requires.
[[nodiscard]] std::vector<std::string> variant_words(const Options& options,
                                                     const Variant& variant);

} // namespace oclcc

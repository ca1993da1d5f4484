// The command line, as data. See oclcc(1).
#pragma once

#include "base/result.hpp"
#include "command_line/specialization.hpp"
#include "terminal/reporter.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

enum class Mode : std::uint8_t {
  compile,
  list_devices,
  info,
  strip,
  merge,
  repack,
  verify,
  extract,
  diff,
  cache_stats,
  clear_cache,
  explain,
  help,
  version,
  worker
};
enum class HelpExtent : std::uint8_t { common, all };
enum class CubinPolicy : std::uint8_t { skip, emit };
enum class SourcePolicy : std::uint8_t { keep, drop };
enum class ReflectionPolicy : std::uint8_t { keep, drop };
enum class FailurePolicy : std::uint8_t { stop, keep_going };
enum class RunPolicy : std::uint8_t { no, yes };
enum class CachePolicy : std::uint8_t { use, ignore };
// -MD: the rule is written beside the output; -M: instead of it.
enum class DepfileMode : std::uint8_t { none, beside_output, instead };
enum class PhonyHeaders : std::uint8_t { no, yes };
enum class AbsentVariants : std::uint8_t { warn, refuse };
// -fsyntax-only: compiles and writes nothing; -###: shows what would be done.
enum class CompileGoal : std::uint8_t { output, check, preview };
enum class ListFormat : std::uint8_t { text, json };

struct Input {
  std::filesystem::path path; // "-" is standard input
  std::string program;        // --program NAME=FILE, else the stem; "stdin" for "-"
  friend bool operator==(const Input&, const Input&) = default;
};

struct Variant {
  std::string name;
  std::vector<std::string> options; // as Options::driver_options
  friend bool operator==(const Variant&, const Variant&) = default;
};

// --device-option PATTERN=OPTIONS
struct DeviceOptions {
  std::string pattern;
  std::vector<std::string> options; // as Options::driver_options
  friend bool operator==(const DeviceOptions&, const DeviceOptions&) = default;
};

// -ffile-prefix-map=OLD=NEW
struct PrefixMapping {
  std::string old_prefix;
  std::string new_prefix;
  friend bool operator==(const PrefixMapping&, const PrefixMapping&) = default;
};

struct Options {
  Mode mode = Mode::compile;
  HelpExtent help = HelpExtent::common; // --help=all
  std::vector<Input> inputs;
  std::optional<std::filesystem::path> output;
  // The first option given that says how sources are compiled, and nothing of what is made of a
  // bundle; empty: none.
  std::string compiling_option;
  // What the driver is given, in the order of the command line: -D, -U, -cl-*, -g, -O*, -w,
  // -Werror, one word each ("-DX"). -I and -include are not in it: the include closure answers
  // them.
  std::vector<std::string> driver_options;
  std::vector<std::filesystem::path> include_folders; // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  std::vector<std::string> device_patterns;           // --device; empty: all
  std::vector<Variant> variants;                      // empty: "default" with no options of its own
  // --keep-target, --drop-target: see target_pattern.hpp. An entry is kept that one of the first
  // matches (any, where there is none) and none of the others.
  std::vector<std::string> keep_targets;
  std::vector<std::string> drop_targets;
  std::optional<std::string> symbol;                 // --symbol: what an embedded bundle is called
  std::optional<std::string> host_triple;            // --host-triple: of an embedding object file
  std::optional<std::filesystem::path> embed_header; // --embed-header
  std::vector<Specialization> specializations;       // --specialize, in order, each once
  CubinPolicy cubin = CubinPolicy::skip;             // --emit-cubin
  std::vector<DeviceOptions> device_options;         // in the order of the command line
  std::vector<PrefixMapping> prefix_map;             // the last that fits counts
  CompileGoal goal = CompileGoal::output;
  std::optional<std::string> emit; // a name that is_output_kind knows
  SourcePolicy source = SourcePolicy::keep;
  std::vector<std::string> optional_programs; // --optional: names of inputs' programs
  ReflectionPolicy reflection = ReflectionPolicy::keep;
  std::vector<std::string> wanted_programs; // --extract: --program NAME; empty: all
  std::vector<std::string> wanted_variants; // --extract: --variant NAME; empty: all
  RunPolicy run = RunPolicy::no;            // --verify --run
  DepfileMode depfile_mode = DepfileMode::none;
  std::optional<std::filesystem::path> depfile; // -MF
  std::vector<std::string> depfile_targets;     // -MT as given, -MQ escaped
  PhonyHeaders phony_headers = PhonyHeaders::no;
  FailurePolicy failure = FailurePolicy::stop;
  CachePolicy cache = CachePolicy::use;
  AbsentVariants absent_variants = AbsentVariants::warn; // -Werror=variant, -Werror: refuse
  ListFormat list_format = ListFormat::text;
  DiagnosticsFormat diagnostics_format = DiagnosticsFormat::text;
  ColorMode color = ColorMode::automatic;
  Verbosity verbosity = Verbosity::normal;
  unsigned jobs = 0;              // -j; 0: as many as cores
  unsigned timeout_seconds = 300; // --timeout; for one unit
  // --memory-limit, of one compiler; 0: as much as it likes; nothing: a share of the machine's.
  std::optional<std::uint64_t> memory_limit_bytes;
  friend bool operator==(const Options&, const Options&) = default;
};

// One string as OpenCL wants it, words with white space or quotes quoted. No quoting works on every
// driver (measured: PoCL and Oclgrind lose inner quotes, rusticl crashes): what the command line
// defines is moved into the text by find_include_closure where it would need it.
[[nodiscard]] std::string join_options(const std::vector<std::string>& words);
// The opposite, with the shell's quoting: used for --variant NAME='OPTIONS' and recorded options.
[[nodiscard]] std::vector<std::string> split_options(std::string_view text);

// -j, or as many as there are cores.
[[nodiscard]] unsigned worker_count(const Options& options) noexcept;

// The option that chooses a mode, for messages: "--info"; empty for compile and worker.
[[nodiscard]] std::string_view mode_spelling(Mode mode) noexcept;

// `words` without the program's name. "--worker" as the first word is Mode::worker, whatever
// follows. invalid_argument: unknown option (with the nearest one), missing value, conflict, no
// input. file_not_found, file_read: a response file.
[[nodiscard]] clbin::base::Result<Options>
parse_command_line(const std::vector<std::string>& words);

// Of sources: bundles may be called alike. invalid_argument: two programs of one name.
[[nodiscard]] clbin::base::Result<void> check_program_names(const std::vector<Input>& inputs);

// Returns what --help (the options that most users need) or --help=all prints.
[[nodiscard]] std::string help_text(HelpExtent extent);
[[nodiscard]] std::string version_text();

} // namespace oclcc

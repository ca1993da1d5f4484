// The command line, as data. See oclcc(1).
#pragma once

#include "base/result.hpp"
#include "reporter.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

enum class Mode : std::uint8_t { compile, list_devices, info, help, version, worker };
enum class SourcePolicy : std::uint8_t { keep, drop };
enum class FailurePolicy : std::uint8_t { stop, keep_going };
enum class ListFormat : std::uint8_t { text, json };

struct Input {
  std::filesystem::path path; // "-" is standard input
  std::string program;        // --program NAME=FILE, else the stem; "stdin" for "-"
};

struct Variant {
  std::string name;
  std::vector<std::string> options; // as Options::driver_options
};

struct Options {
  Mode mode = Mode::compile;
  std::vector<Input> inputs;
  std::optional<std::filesystem::path> output;
  // What the driver is given, in the order of the command line: -D, -U, -cl-*, -w, -Werror, one
  // word each ("-DX"). -I and -include are not in it: the include closure answers them.
  std::vector<std::string> driver_options;
  std::vector<std::filesystem::path> include_folders; // -I, in order
  std::vector<std::filesystem::path> forced_includes; // -include, in order
  std::vector<std::string> device_patterns;           // --device; empty: all
  std::vector<Variant> variants;                      // empty: "default" with no options of its own
  SourcePolicy source = SourcePolicy::keep;
  FailurePolicy failure = FailurePolicy::stop;
  ListFormat list_format = ListFormat::text;
  ColorMode color = ColorMode::automatic;
  Verbosity verbosity = Verbosity::normal;
  unsigned jobs = 0;              // -j; 0: as many as cores
  unsigned timeout_seconds = 300; // --timeout; for one unit
};

// One string as OpenCL wants it, words with white space or quotes quoted. No quoting works on every
// driver (measured: PoCL and Oclgrind lose inner quotes, rusticl crashes): what the command line
// defines is moved into the text by find_include_closure where it would need it.
[[nodiscard]] std::string join_options(const std::vector<std::string>& words);
// The opposite, with the shell's quoting: used for --variant NAME='OPTIONS' and recorded options.
[[nodiscard]] std::vector<std::string> split_options(std::string_view text);

// The option that chooses a mode, for messages: "--info"; empty for compile and worker.
[[nodiscard]] std::string_view mode_spelling(Mode mode) noexcept;

// `words` without the program's name. "--worker" as the first word is Mode::worker, whatever
// follows. invalid_argument: unknown option (with the nearest one), missing value, conflict, no
// input, two programs of one name. file_not_found, file_read: a response file.
[[nodiscard]] clbin::base::Result<Options>
parse_command_line(const std::vector<std::string>& words);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

} // namespace oclcc

// The table of all options of oclcc, which the parser, --help and tests read.
#pragma once

#include "command_line/options.hpp"

namespace oclcc {

// The groups of --help, by title.
struct OptionGroup {
  static constexpr std::string_view output = "Programs and output:";
  static constexpr std::string_view devices = "Devices:";
  static constexpr std::string_view compiler = "Passed to the compilers:";
  static constexpr std::string_view depfiles = "Dependency rules for make and ninja, as in gcc:";
  static constexpr std::string_view running = "Running:";
  static constexpr std::string_view inspecting = "Inspecting:";
  static constexpr std::string_view planning = "Building on several machines:";
  static constexpr std::string_view tuning = "Measuring variants:";
  static constexpr std::string_view changing = "Changing bundles:";
  static constexpr std::string_view recording = "Recording an application:";
  static constexpr std::string_view signing = "Signing:";
  static constexpr std::string_view encrypting = "Encrypting:";
  static constexpr std::string_view caching = "Caches:";
  static constexpr std::string_view modes = "Help:";
  static constexpr std::string_view in_order[] = {
      output, devices,  compiler,  depfiles, running,    inspecting, planning,
      tuning, changing, recording, signing,  encrypting, caching,    modes};
};

enum class OptionForm : std::uint8_t {
  flag,           // --no-source
  mode,           // --info: a flag that is applied before all others
  value,          // -o FILE, -oFILE, --output FILE, --output=FILE
  optional_value, // --color, --color=WHEN
  optional_mode,  // --help, --help=all
  // gcc's single-dash options:
  word,        // -Werror
  word_value,  // -DX, -D X
  word_equals, // -ffile-prefix-map=OLD=NEW
  word_prefix, // -cl-fast-relaxed-math
};

// The modes in which an option has an effect.
using OptionScope = std::uint64_t;
template <typename... Modes>
[[nodiscard]] constexpr OptionScope scope_of(Modes... modes) noexcept {
  return ((1ULL << static_cast<unsigned>(modes)) | ...);
}
// In addition to the modes: a compile whose input is a bundle, which is embedded or converted to
// launchers, not compiled.
inline constexpr OptionScope k_bundle_input = 1ULL << 63U;
// A compile whose input is a bundle, the programs of which are built anew.
inline constexpr OptionScope k_rebuilt_bundle = 1ULL << 62U;

struct OptionRow {
  std::string_view group; // of OptionGroup
  OptionForm form = OptionForm::word;
  OptionScope scope = 0;
  std::string_view long_name; // includes the dash for word forms
  std::string_view argument;  // as shown in --help; empty if there is none
  // Applies the option with its argument; null if it only enters its mode.
  Result<void> (*apply)(Options& options, const OptionRow& row, const std::string& value) = nullptr;
  std::string_view help;     // without line breaks; empty for another spelling of the row before
  Mode mode = Mode::compile; // which the option enters; compile: none
  char letter = '\0';        // '\0' if there is none
  std::string_view default_value{}; // of an optional value
};

[[nodiscard]] std::span<const OptionRow> option_table() noexcept;
// Returns "-o" if the row has a letter, otherwise "--info" or "-Werror".
[[nodiscard]] std::string short_spelling(const OptionRow& row);
// Returns every spelling of every option: "-o", "--output", "-D", …
[[nodiscard]] std::vector<std::string> option_spellings();
[[nodiscard]] bool is_word_form(OptionForm form) noexcept;

// Returns the options that a variant, or the whole command line, passes to drivers: -D, -U, -cl-*,
// -g, -O*, -w, -Werror, one word each (rusticl crashes on "-D X"). invalid_argument for any other
// option.
[[nodiscard]] Result<std::vector<std::string>>
parse_driver_options(const std::vector<std::string>& words);

// Returns "a, b or c".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& names);

// Returns `words` with every "@FILE" replaced by the words of that file, recursively, and appends
// the names of the files to `files`. After "--", "@FILE" is an ordinary word. file_not_found,
// file_read; invalid_argument if files are nested too deeply, or more files, bytes or words are
// read than the limits that oclcc(1) documents.
[[nodiscard]] Result<std::vector<std::string>>
expand_response_files(const std::vector<std::string>& words,
                      std::vector<std::filesystem::path>& files);

// Returns the candidate most similar to `word`, or an empty string if none is similar.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

} // namespace oclcc

// Every option of oclcc, once: what parses the command line, --help and the tests read this table.
#pragma once

#include "command_line/options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace oclcc {

enum class OptionGroup : std::uint8_t {
  modes,
  output,
  devices,
  compiler,
  depfiles,
  running,
  inspecting,
  changing,
  caching
};

enum class OptionForm : std::uint8_t {
  flag,           // --no-source
  mode,           // --info: a flag that is applied before all others
  value,          // -o FILE, -oFILE, --output FILE, --output=FILE
  optional_value, // --color, --color=WHEN
  optional_mode,  // --help, --help=all
  // gcc's single-dash options, which cxxopts would take for groups of letters:
  word,        // -Werror
  word_value,  // -DX, -D X
  word_equals, // -ffile-prefix-map=OLD=NEW
  word_prefix, // -cl-fast-relaxed-math
};

// The modes in which an option means something.
using OptionScope = std::uint32_t;
template <typename... Modes>
[[nodiscard]] constexpr OptionScope scope_of(Modes... modes) noexcept {
  return ((1U << static_cast<unsigned>(modes)) | ...);
}
// Beside the modes: of a compile whose input is a bundle, which is embedded or made into launchers
// and not compiled.
inline constexpr OptionScope k_bundle_input = 1U << 31U;

struct OptionRow {
  OptionGroup group;
  OptionForm form;
  OptionScope scope;
  char letter;                // '\0': none
  std::string_view long_name; // word forms: with its dash
  std::string_view argument;  // as shown in --help; empty: none
  std::string_view help;      // lines; empty: another spelling of the row before
  clbin::base::Result<void> (*apply)(Options& options, const std::string& value);
};

[[nodiscard]] std::span<const OptionRow> option_table() noexcept;
// "-o" where there is a letter, else "--info", "-Werror".
[[nodiscard]] std::string short_spelling(const OptionRow& row);
// Every spelling of every option: "-o", "--output", "-D", …
[[nodiscard]] std::vector<std::string> option_spellings();
[[nodiscard]] bool is_word_form(OptionForm form) noexcept;

// What a variant, or the rest of the command line, hands to drivers: -D, -U, -cl-*, -g, -O*, -w,
// -Werror, as one word each (rusticl crashes on "-D X"). invalid_argument for anything else.
[[nodiscard]] clbin::base::Result<std::vector<std::string>>
parse_driver_options(const std::vector<std::string>& words);

} // namespace oclcc

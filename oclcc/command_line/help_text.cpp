#include "command_line/option_table.hpp"

#include "base/text.hpp"

namespace oclcc {

namespace {

constexpr std::string_view k_common_help =
    R"(Usage: oclcc [options] FILE.cl... [-o BUNDLE]

Compiles OpenCL kernels for the installed devices into one bundle.

    -o FILE                 write the bundle to FILE
    -D NAME[=VALUE]         define a macro
    -I DIR                  search DIR for headers
    -cl-*                   pass any OpenCL option to every driver
    --device PATTERN        compile only for matching devices, such as gpu
    --target SPEC           compile for a device that is not here, such as
                            nvptx:sm_70 (--list-targets lists them)
    --list-devices          list the installed devices
    --info BUNDLE...        list the contents of bundles
    --explain BUNDLE...     show what each device would load, and why
    -v                      report each step and print whole build logs
    --help=all              show all options and the exit statuses

The manual page oclcc(1) describes every option.
)";

constexpr std::string_view k_usage =
    R"(Usage:
    oclcc [options] FILE.cl... [-o BUNDLE]
    oclcc [options] BUNDLE... -o BUNDLE
    oclcc --info [--json] BUNDLE...
    oclcc --list-devices [-v] [--json]
    oclcc --identity [--json]
    oclcc --plan=ninja|json|slurm|parallel [--machine FILE]... [options]
          FILE.cl... [-o BUNDLE]
    oclcc --explain [--device PATTERN]... [--json] BUNDLE...
    oclcc --verify [--public-key KEY]... [--least-counter N] [--detached]
          [--run [--device PATTERN]...] [--json] BUNDLE...
    oclcc --tune [--launch LAUNCH]... [--device PATTERN]... [--tune-seconds N]
          [--tolerance NUMBER] [--known-answers] [--json] BUNDLE [-o BUNDLE]
    oclcc --warm [--specialize KERNEL=SIZE]... [--device PATTERN]... BUNDLE...
    oclcc --diff [--json] BUNDLE BUNDLE
    oclcc --report [--program NAME]... [--variant NAME]... [--kernel NAME]...
          [--keep-target PATTERN | --drop-target PATTERN]...
          [--against FILE [--fail-on LIMITS]...] [--json | --csv | --html PAGE]
          FILE...
    oclcc --extract [--program NAME]... [--variant NAME]...
          [--keep-target PATTERN | --drop-target PATTERN]...
          BUNDLE... [-o DIR]
    oclcc --merge BUNDLE... -o BUNDLE
    oclcc --repack BUNDLE... [-o BUNDLE]
    oclcc --strip [--keep-target PATTERN | --drop-target PATTERN]...
          [--strip-source] [--strip-reflection] [--strip-measurements]
          [--strip-answers] [--strip-data] BUNDLE... [-o BUNDLE]
    oclcc --record BUNDLE [--record-binaries] [--record-data[=LIMIT]]
          [--no-source] -- COMMAND...
    oclcc --keygen NAME [--no-passphrase | --key-type TYPE]
    oclcc --sign --key FILE | --sign-with COMMAND --public-key KEY
          [--counter N] [--vouched-by FILE] BUNDLE... [-o BUNDLE]
    oclcc --sign --detached --key FILE BUNDLE... [-o FILE]
    oclcc --sign-message [--counter N] BUNDLE [-o FILE]
    oclcc --strip-signature BUNDLE... [-o BUNDLE]
    oclcc --encrypt --encrypt-key FILE | --encrypt-for KEY...
          BUNDLE... [-o BUNDLE]
    oclcc --decrypt --decrypt-key FILE... BUNDLE... [-o BUNDLE]
    oclcc --cache-stats [--json]
    oclcc --clear-cache

Compiles OpenCL kernels for the installed devices into one bundle, which
contains the device binaries and the source. If FILE is "-", oclcc reads
standard input. "@FILE" is replaced by the words in FILE. Every word after "--"
is an input file.
)";

constexpr std::string_view k_exit_codes =
    R"(
Exit status: 0 success, 1 a kernel did not compile, an entry did not load
(--verify --run), two bundles differ (--diff) or a limit is exceeded
(--fail-on), 2 invalid command line, 3 a file cannot be read or written,
4 invalid bundle or signature, or no key for an encrypted bundle, 5 no usable
device, driver or offline compiler, 6 out of memory or internal error.
--record: the exit status of the command. See oclcc(1).
)";

constexpr std::size_t k_help_column = 28;

// The first of `rows` with the other spellings that follow it.
std::string word_spellings(std::span<const OptionRow> rows) {
  std::string text = fmt::format("    {}", rows.front().long_name);
  for (const OptionRow& other : rows.subspan(1)) {
    if (!other.help.empty()) {
      break;
    }
    text += fmt::format(", {}", other.long_name);
  }
  const std::string_view argument = rows.front().argument;
  const std::string_view between = rows.front().form == OptionForm::word_equals ? "=" : " ";
  return text + (argument.empty() ? "" : fmt::format("{}{}", between, argument));
}

std::string spelling_with_argument(std::span<const OptionRow> rows) {
  const OptionRow& row = rows.front();
  if (row.form == OptionForm::word_prefix) {
    return fmt::format("    {}{}", row.long_name, row.argument);
  }
  if (is_word_form(row.form)) {
    return word_spellings(rows);
  }
  const std::string letter = row.letter == '\0' ? "" : fmt::format("-{}, ", row.letter);
  std::string argument;
  if (row.form == OptionForm::value) {
    argument = fmt::format(" {}", row.argument);
  } else if (row.form == OptionForm::optional_value || row.form == OptionForm::optional_mode) {
    argument = fmt::format("[={}]", row.argument);
  }
  return fmt::format("    {}--{}{}", letter, row.long_name, argument);
}

// Appends `help`, with its lines broken, below its first character.
void append_help(std::string& text, std::string_view help) {
  constexpr std::size_t k_width = 80 - k_help_column;
  std::size_t column = 0;
  for (const std::string_view word : base::words_between_spaces(help)) {
    if (column != 0 && column + 1 + word.size() > k_width) {
      text += '\n' + std::string(k_help_column, ' ');
      column = 0;
    }
    text += fmt::format("{}{}", column == 0 ? "" : " ", word);
    column += word.size() + (column == 0 ? 0 : 1);
  }
  text += '\n';
}

// Appends the first of `rows`.
void append_row(std::string& text, std::span<const OptionRow> rows) {
  const std::string spelling = spelling_with_argument(rows);
  // The help starts on a line of its own unless two spaces fit between it and the option.
  const bool fits = spelling.size() + 2 <= k_help_column;
  text += fits ? fmt::format("{:<{}}", spelling, k_help_column)
               : fmt::format("{}\n{:{}}", spelling, "", k_help_column);
  append_help(text, rows.front().help);
}

} // namespace

std::string help_text(HelpExtent extent) {
  if (extent == HelpExtent::common) {
    return std::string(k_common_help);
  }
  std::string text(k_usage);
  for (const std::string_view group : OptionGroup::in_order) {
    text += fmt::format("\n{}\n", group);
    for (std::size_t i = 0; i < option_table().size(); ++i) {
      const OptionRow& row = option_table()[i];
      if (row.group == group && !row.help.empty()) {
        append_row(text, option_table().subspan(i));
      }
    }
  }
  return text += k_exit_codes;
}

} // namespace oclcc

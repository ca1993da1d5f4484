#include "command_line/option_table.hpp"

namespace oclcc {

namespace {

struct GroupTitle {
  OptionGroup group;
  std::string_view title;
};

constexpr GroupTitle k_group_titles[] = {
    {OptionGroup::output, "Programs and output:"},
    {OptionGroup::devices, "Devices:"},
    {OptionGroup::compiler, "Handed to the compilers:"},
    {OptionGroup::depfiles, "Rules for make and ninja, as gcc's:"},
    {OptionGroup::running, "Running:"},
    {OptionGroup::inspecting, "Inspecting:"},
    {OptionGroup::changing, "Changing bundles:"},
    {OptionGroup::caching, "Caches:"},
    {OptionGroup::modes, "Help:"},
};

constexpr std::string_view k_usage =
    R"(Usage:
    oclcc [options] FILE.cl... [-o BUNDLE]
    oclcc --info [--json] BUNDLE...
    oclcc --list-devices [-v] [--json]
    oclcc --explain [--device PATTERN]... [--json] BUNDLE...
    oclcc --verify [--run [--device PATTERN]...] [--json] BUNDLE...
    oclcc --diff [--json] BUNDLE BUNDLE
    oclcc --extract [--program NAME]... [--variant NAME]...
          [--keep-target PATTERN | --drop-target PATTERN]...
          BUNDLE... [-o FOLDER]
    oclcc --merge BUNDLE... -o BUNDLE
    oclcc --repack BUNDLE... [-o BUNDLE]
    oclcc --strip [--keep-target PATTERN | --drop-target PATTERN]...
          [--strip-source] [--strip-reflection] BUNDLE... [-o BUNDLE]
    oclcc --cache-stats [--json]
    oclcc --clear-cache

Compiles OpenCL kernels for the installed devices and packs the device binaries,
with the source, into one bundle. "-" as FILE is standard input, "@FILE" stands
for the words in FILE, and what follows "--" is an input file.
)";

constexpr std::string_view k_exit_codes =
    R"(
Exit status: 0 done, 1 a kernel did not compile, an entry did not load (--verify
--run) or two bundles differ (--diff), 2 the command line, 3 reading or writing
a file, 4 not a valid bundle, 5 no usable device, driver or offline compiler,
6 no memory, or an error of oclcc itself. See oclcc(1).
)";

constexpr std::size_t k_help_column = 28;

// With the other spellings that follow it in the table.
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
  } else if (row.form == OptionForm::optional_value) {
    argument = fmt::format("[={}]", row.argument);
  }
  return fmt::format("    {}--{}{}", letter, row.long_name, argument);
}

// The first of `rows`.
void append_row(std::string& text, std::span<const OptionRow> rows) {
  const OptionRow& row = rows.front();
  const std::string spelling = spelling_with_argument(rows);
  const std::string indent(k_help_column, ' ');
  // Two spaces at least between an option and its help; else the help begins on its own line.
  const bool fits = spelling.size() + 2 <= k_help_column;
  text += spelling;
  text += fits ? std::string(k_help_column - spelling.size(), ' ') : "\n" + indent;
  for (const char c : row.help) {
    text += c;
    if (c == '\n') {
      text += indent;
    }
  }
  text += '\n';
}

} // namespace

std::string help_text() {
  std::string text(k_usage);
  for (const GroupTitle& title : k_group_titles) {
    text += fmt::format("\n{}\n", title.title);
    for (std::size_t i = 0; i < option_table().size(); ++i) {
      const OptionRow& row = option_table()[i];
      if (row.group == title.group && !row.help.empty()) {
        append_row(text, option_table().subspan(i));
      }
    }
  }
  return text += k_exit_codes;
}

} // namespace oclcc

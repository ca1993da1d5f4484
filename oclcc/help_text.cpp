#include "option_table.hpp"

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
    {OptionGroup::running, "Running:"},
    {OptionGroup::inspecting, "Inspecting:"},
    {OptionGroup::modes, "Help:"},
};

constexpr std::string_view k_usage =
    R"(Usage:
    oclcc [options] FILE.cl... [-o BUNDLE]
    oclcc --info [--json] BUNDLE...
    oclcc --list-devices [-v] [--json]

Compiles OpenCL kernels for the installed devices and packs the device binaries,
with the source, into one bundle. "-" as FILE is standard input, "@FILE" stands
for the words in FILE, and what follows "--" is an input file.
)";

constexpr std::string_view k_exit_codes =
    R"(
Exit status: 0 done, 1 a kernel did not compile, 2 the command line, 3 reading
or writing a file, 4 not a valid bundle, 5 no usable device, driver or offline
compiler. See oclcc(1).
)";

constexpr std::size_t k_help_column = 28;

std::string spelling_with_argument(const OptionRow& row) {
  if (row.form == OptionForm::word_prefix) {
    return fmt::format("    {}{}", row.long_name, row.argument);
  }
  if (is_word_form(row.form)) {
    return fmt::format("    {}{}{}", row.long_name, row.argument.empty() ? "" : " ", row.argument);
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

void append_row(std::string& text, const OptionRow& row) {
  const std::string spelling = spelling_with_argument(row);
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
    for (const OptionRow& row : option_table()) {
      if (row.group == title.group) {
        append_row(text, row);
      }
    }
  }
  return text += k_exit_codes;
}

} // namespace oclcc

// -D and -U as the include closure understands them.
#pragma once

#include "source/macro_expansion.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace oclcc {

using clbin::source::MacroTable;
using clbin::source::MacroValue;
using clbin::source::split_parameters;

// The macros that -D and -U options name.
[[nodiscard]] std::set<std::string> macros_named_by(const std::vector<std::string>& options);

// -D options that cannot be handed to every driver, -U options (which OpenCL does not have: PoCL
// refuses them), and the rest. Of several options for one macro only the last counts.
struct MacroOptions {
  std::vector<std::string> kept;  // for drivers, in order
  std::vector<std::string> lines; // "#define NAME VALUE" and "#undef NAME", without the line's end
};
// Macros in `left_alone` stay options, whatever their value.
[[nodiscard]] MacroOptions split_macro_options(const std::vector<std::string>& options,
                                               const std::set<std::string>& left_alone);

// For an option that some variants have and others do not, but that no driver can be handed: lines
// that do the same where a macro of the result's name is defined. Nothing for an option that
// drivers take as it is.
struct SelectedLines {
  std::string selector; // "OCLCC_OPTION_" and 16 digits of the option's digest
  std::vector<std::string> lines;
};
[[nodiscard]] std::optional<SelectedLines> lines_behind_selector(const std::string& option);

// Without -D options that a later -D or -U undoes, and without the -U options that did so.
[[nodiscard]] std::vector<std::string> cancel_undone(const std::vector<std::string>& options);

// The -D options among `options`.
void add_macro_values(const std::vector<std::string>& options, MacroTable& values);

} // namespace oclcc

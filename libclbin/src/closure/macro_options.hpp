// Parses -D and -U for the include closure.
#pragma once

#include "source/macro_expansion.hpp"

namespace clbin::closure {

// Returns the names of the macros in -D and -U options.
[[nodiscard]] std::set<std::string> macros_named_by(const std::vector<std::string>& options);

// The -D options that not every driver accepts, the -U options (which OpenCL lacks and PoCL
// rejects), and the others. Only the last of several options for one macro applies.
struct MacroOptions {
  std::vector<std::string> kept;  // for drivers, in order
  std::vector<std::string> lines; // "#define NAME VALUE" and "#undef NAME", without a line end
};
// Macros in `left_alone` remain options, whatever their value.
[[nodiscard]] MacroOptions split_macro_options(const std::vector<std::string>& options,
                                               const std::set<std::string>& left_alone);

// Lines that replace an option of some variants that drivers cannot parse. The lines take effect if
// the macro `selector` is defined.
struct SelectedLines {
  std::string selector; // "OCLCC_OPTION_" and 16 digits of a digest of the option
  std::vector<std::string> lines;
};
[[nodiscard]] std::optional<SelectedLines> lines_behind_selector(const std::string& option);

// Removes the -D options that a later -D or -U overrides, and those -U options.
[[nodiscard]] std::vector<std::string> cancel_undone(const std::vector<std::string>& options);

// Adds the macros of the -D options in `options` to `values`.
void add_macro_values(const std::vector<std::string>& options, source::MacroTable& values);

} // namespace clbin::closure

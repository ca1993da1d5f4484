// -D and -U as the include closure understands them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace oclcc {

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

// Without -D options that a later -D or -U undoes, and without the -U options that did so.
[[nodiscard]] std::vector<std::string> cancel_undone(const std::vector<std::string>& options);

// Every value that a macro may have: what #include NAME may mean is their union.
using MacroValues = std::map<std::string, std::set<std::string>>;
void add_macro_values(const std::vector<std::string>& options, MacroValues& values);

} // namespace oclcc

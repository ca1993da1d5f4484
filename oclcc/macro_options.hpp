// -D and -U as the include closure understands them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace oclcc {

// -D options that cannot be handed to every driver as an option, and the rest.
struct MacroOptions {
  std::vector<std::string> kept;        // for drivers, in order
  std::vector<std::string> definitions; // "#define NAME VALUE" lines, without the line's end
};
[[nodiscard]] MacroOptions split_macro_options(const std::vector<std::string>& options);

// Every value that a macro may have: what #include NAME may mean is their union.
using MacroValues = std::map<std::string, std::set<std::string>>;
void add_macro_values(const std::vector<std::string>& options, MacroValues& values);

} // namespace oclcc

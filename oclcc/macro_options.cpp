#include "macro_options.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace oclcc {

namespace {

struct Definition {
  std::string name;      // "F" of -DF(a,b)=a
  std::string signature; // "F(a,b)"
  std::string value;
};

std::string name_in(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_of("(= "), text.size())));
}

// Nothing unless the option is -D.
std::optional<Definition> parse_definition(const std::string& option) {
  if (!option.starts_with("-D")) {
    return std::nullopt;
  }
  const std::string text = option.substr(2);
  const std::size_t equals = text.find('=');
  Definition definition;
  definition.name = name_in(text);
  definition.signature = text.substr(0, equals);
  definition.value = equals == std::string::npos ? "1" : text.substr(equals + 1);
  // A definition is one line, whatever the shell let through.
  std::replace(definition.value.begin(), definition.value.end(), '\n', ' ');
  return definition;
}

std::string macro_named_by(const std::string& option) {
  const bool is_macro_option = option.starts_with("-D") || option.starts_with("-U");
  return is_macro_option ? name_in(std::string_view(option).substr(2)) : std::string();
}

bool needs_quoting(const std::string& option) {
  return option.find_first_of(" \t\n\r\f\v\"'\\") != std::string::npos;
}

} // namespace

MacroOptions split_macro_options(const std::vector<std::string>& options) {
  MacroOptions result;
  for (auto option = options.begin(); option != options.end(); ++option) {
    const std::string name = macro_named_by(*option);
    const auto names_it_too = [&](const std::string& other) {
      return !name.empty() && macro_named_by(other) == name;
    };
    // What a later -D or -U of the same macro undoes would come back as a #define.
    const bool undone = std::any_of(option + 1, options.end(), names_it_too);
    const auto definition = parse_definition(*option);
    if (!definition || !needs_quoting(*option)) {
      result.kept.push_back(*option);
    } else if (!undone) {
      result.kept.erase(std::remove_if(result.kept.begin(), result.kept.end(), names_it_too),
                        result.kept.end());
      result.definitions.push_back("#define " + definition->signature + " " + definition->value);
    }
  }
  return result;
}

void add_macro_values(const std::vector<std::string>& options, MacroValues& values) {
  for (const std::string& option : options) {
    if (const auto definition = parse_definition(option)) {
      values[definition->name].insert(definition->value);
    }
  }
}

} // namespace oclcc

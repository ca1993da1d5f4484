#include "closure/macro_options.hpp"

#include "base/digest.hpp"

#include <algorithm>

namespace clbin::closure {

namespace {

struct Definition {
  std::string name;      // "F" of -DF(a,b)=a
  std::string signature; // "F(a,b)"
  std::string value;
};

std::string name_in(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_of("(= "), text.size())));
}

// A definition is one line, whatever the shell passed. A backslash at its end would join the next
// line to it.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (text.ends_with('\\')) {
    text += " /**/";
  }
  return text;
}

// Returns std::nullopt unless the option is -D.
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
  definition.signature = on_one_line(definition.signature);
  definition.value = on_one_line(definition.value);
  return definition;
}

std::string macro_named_by(const std::string& option) {
  const bool is_macro_option = option.starts_with("-D") || option.starts_with("-U");
  return is_macro_option ? name_in(std::string_view(option).substr(2)) : std::string();
}

// Lines with the same effect in the text, for a macro option that not every driver accepts.
std::optional<std::string> line_of(const std::string& option) {
  if (option.starts_with("-U")) {
    return "#undef " + macro_named_by(option);
  }
  const bool needs_quoting = option.find_first_of(" \t\n\r\f\v\"'\\") != std::string::npos;
  const auto definition = needs_quoting ? parse_definition(option) : std::nullopt;
  return definition ? std::optional("#define " + definition->signature + " " + definition->value)
                    : std::nullopt;
}

using Words = std::vector<std::string>;

bool is_named_in(Words::const_iterator first, Words::const_iterator last, const std::string& name) {
  return std::any_of(first, last,
                     [&](const std::string& option) { return macro_named_by(option) == name; });
}

} // namespace

std::set<std::string> macros_named_by(const Words& options) {
  std::set<std::string> names;
  std::ranges::transform(options, std::inserter(names, names.end()), macro_named_by);
  names.erase(std::string());
  return names;
}

std::optional<SelectedLines> lines_behind_selector(const std::string& option) {
  const std::optional<std::string> line = line_of(option);
  if (!line) {
    return std::nullopt;
  }
  const auto digest = base::digest_of(base::as_bytes(option));
  std::string selector = "OCLCC_OPTION_" + base::to_hex(digest).substr(0, 16);
  return SelectedLines{selector, {"#ifdef " + selector, *line, "#endif"}};
}

MacroOptions split_macro_options(const Words& options, const std::set<std::string>& left_alone) {
  MacroOptions result;
  for (auto option = options.begin(); option != options.end(); ++option) {
    const std::string name = macro_named_by(*option);
    const bool undone = !name.empty() && is_named_in(option + 1, options.end(), name);
    const bool stays = name.empty() || left_alone.count(name) != 0;
    if (undone && !stays) {
      continue;
    }
    const auto line = stays ? std::nullopt : line_of(*option);
    if (line) {
      result.lines.push_back(*line);
    } else {
      result.kept.push_back(*option);
    }
  }
  return result;
}

std::vector<std::string> cancel_undone(const Words& options) {
  Words result;
  for (auto option = options.begin(); option != options.end(); ++option) {
    const std::string name = macro_named_by(*option);
    const bool undoes = option->starts_with("-U") && is_named_in(options.begin(), option, name);
    const bool undone = !name.empty() && is_named_in(option + 1, options.end(), name);
    if (!undoes && !undone) {
      result.push_back(*option);
    }
  }
  return result;
}

void add_macro_values(const std::vector<std::string>& options, source::MacroTable& values) {
  for (const std::string& option : options) {
    const auto definition = parse_definition(option);
    if (!definition) {
      continue;
    }
    const std::string parameters = definition->signature.substr(definition->name.size());
    source::MacroValue value = {std::nullopt, definition->value};
    if (parameters.starts_with('(')) {
      value.parameters = source::split_parameters(parameters);
    }
    values[definition->name].insert(std::move(value));
  }
}

} // namespace clbin::closure

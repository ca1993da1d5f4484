#include "compile/prefix_map.hpp"

#include "source/directive_scanner.hpp"

namespace oclcc {

namespace {

// Formats the name for a #line directive.
std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
  return text + '"';
}

void map_text(std::span<const PrefixMapping> mappings, std::string& text,
              std::map<std::string, std::string>& names) {
  const auto lines = clbin::source::scan_directives(text).lines;
  // Starts with the last one, so that previous positions stay valid.
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string mapped = map_prefix(mappings, line->file);
    if (mapped == line->file) {
      continue;
    }
    const std::string spelling = in_quotes(line->file);
    const std::size_t at = text.rfind(spelling, line->end);
    if (at != std::string::npos) {
      text.replace(at, spelling.size(), in_quotes(mapped));
      names.emplace(mapped, line->file);
    }
  }
}

} // namespace

std::string map_prefix(std::span<const PrefixMapping> mappings, std::string_view name) {
  const auto found =
      std::find_if(mappings.rbegin(), mappings.rend(), [&](const PrefixMapping& mapping) {
        return name.starts_with(mapping.old_prefix);
      });
  return found == mappings.rend()
             ? std::string(name)
             : found->new_prefix + std::string(name.substr(found->old_prefix.size()));
}

std::map<std::string, std::string> map_line_names(std::span<const PrefixMapping> mappings,
                                                  format::SourcePackage& package) {
  std::map<std::string, std::string> names;
  if (mappings.empty()) {
    return names;
  }
  map_text(mappings, package.main.text, names);
  for (format::SourceFile& header : package.headers) {
    map_text(mappings, header.text, names);
  }
  return names;
}

} // namespace oclcc

// Input: any text. The scanner's offsets are correct, macro expansion ends, and closed source has
// no include that its package cannot resolve.
#include "fuzz_check.hpp"
#include "source/directive_scanner.hpp"
#include "source/macro_expansion.hpp"
#include "source/source_closing.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace source = clbin::source;
using clbin::format::SourcePackage;
using clbin::fuzz::require;
using source::TextRange;

bool is_inside(const TextRange& range, std::string_view text) {
  return range.begin < range.end && range.end <= text.size();
}

void check(const source::IncludeDirective& include, std::string_view text) {
  require(!include.name.empty(), "an include has a name");
  require(is_inside(include.token, text), "an include's name is in the text");
  require(is_inside(include.keyword, text), "an include's keyword is in the text");
  require(include.keyword.end <= include.token.begin, "the keyword stands before the name");
  if (include.form != source::IncludeForm::macro) {
    const char first = text[include.token.begin];
    require(first == (include.form == source::IncludeForm::quoted ? '"' : '<'),
            "a header name begins with its quote");
  }
}

void check_scanner(const std::string& text) {
  const source::Directives directives = source::scan_directives(text);
  source::MacroTable macros;
  for (const source::MacroDefinition& macro : directives.macros) {
    source::MacroValue value{std::nullopt, macro.value};
    if (macro.parameters) {
      value.parameters = source::split_parameters(*macro.parameters);
    }
    require(!macro.name.empty(), "a macro has a name");
    macros[macro.name].insert(std::move(value));
  }
  source::ExpansionBudget budget;
  for (const source::IncludeDirective& include : directives.includes) {
    check(include, text);
    if (include.form == source::IncludeForm::macro) {
      const auto expansion = source::expand_macros(include.name, macros, "k.cl", budget);
      require(!expansion.texts.empty() ||
                  expansion.extent == source::MacroExpansion::Extent::cut_short,
              "a text expands to something");
    }
  }
}

// The check of closed source shares no code with the closing of source, and uses another method. It
// translates the text like the first phases of a compiler, for each kind of compiler, and then
// checks every "#".
struct Reading {
  bool has_trigraphs = false;
  bool joins_lines_over_blanks = false;
  bool ends_lines_at_carriage_returns = false;
};

std::string without_trigraphs(const std::string& text) {
  static const std::map<char, char> characters = {{'=', '#'}, {'/', '\\'}, {'\'', '^'},
                                                  {'(', '['}, {')', ']'},  {'!', '|'},
                                                  {'<', '{'}, {'>', '}'},  {'-', '~'}};
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool marks = text.compare(i, 2, "?\?") == 0 && i + 2 < text.size();
    const auto found = marks ? characters.find(text[i + 2]) : characters.end();
    result += found == characters.end() ? text[i] : found->second;
    i += found == characters.end() ? 0 : 2;
  }
  return result;
}

bool is_blank(char c) {
  return c != '\n' && (std::isgraph(static_cast<unsigned char>(c)) == 0);
}

std::string joined_lines(const std::string& text, const Reading& reading) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    while (text[i] == '\\' && end < text.size() && is_blank(text[end]) &&
           (reading.joins_lines_over_blanks || text[end] == '\r')) {
      ++end;
    }
    if (text[i] == '\\' && end < text.size() && text[end] == '\n') {
      i = end;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string translated(std::string text, const Reading& reading) {
  if (reading.has_trigraphs) {
    text = without_trigraphs(text);
  }
  for (std::size_t i = 0; reading.ends_lines_at_carriage_returns && i < text.size(); ++i) {
    text[i] = text[i] == '\r' ? '\n' : text[i];
  }
  return joined_lines(text, reading);
}

std::size_t skip_blanks(const std::string& text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t comment =
        text.compare(at, 2, "/*") == 0 ? text.find("*/", at + 2) : std::string::npos;
    if (comment != std::string::npos) {
      at = comment + 2;
    } else if (is_blank(text[at])) {
      ++at;
    } else {
      return at;
    }
  }
  return at;
}

std::string word_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
    ++end;
  }
  return text.substr(at, end - at);
}

// Returns the offset of the directive after "#" or "%:" at `at`, or 0 if there is none.
std::size_t directive_at(const std::string& text, std::size_t at) {
  const std::size_t after = text[at] == '#' ? at + 1 : text.compare(at, 2, "%:") == 0 ? at + 2 : 0;
  return after == 0 ? 0 : skip_blanks(text, after);
}

bool is_answered(const std::string& text, std::size_t at) {
  return text.compare(at, 11, "\"clbin~a.h\"") == 0 ||
         text.compare(at, 15, "\"sub/clbin~b.h\"") == 0;
}

bool is_defined_by(const std::string& options, const std::string& name) {
  const std::string option = "-D" + name;
  for (std::size_t at = options.find(option); at != std::string::npos;
       at = options.find(option, at + 1)) {
    if (word_at(options, at + 2) == name) {
      return true;
    }
  }
  return false;
}

// Returns whether every definition of `name` makes it a header of the package.
bool is_always_answered(const std::string& name, const std::vector<std::string>& texts,
                        const std::string& options) {
  bool is_defined = false;
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t begin = directive_at(text, at);
      if (begin == 0 || word_at(text, begin) != "define") {
        continue;
      }
      const std::size_t name_at = skip_blanks(text, begin + 6);
      if (word_at(text, name_at) != name) {
        continue;
      }
      is_defined = true;
      const std::size_t end = name_at + name.size();
      if ((end < text.size() && text[end] == '(') || !is_answered(text, skip_blanks(text, end))) {
        return false;
      }
    }
  }
  return is_defined && !name.empty() && name.front() != '_' && !is_defined_by(options, name);
}

void check_closed(const std::vector<std::string>& texts, const std::string& options) {
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool begins = text[at] == '_' && (at == 0 || word_at(text, at - 1).empty());
      const std::string here = begins ? word_at(text, at) : "";
      require(here != "__has_include" && here != "__has_include_next" && here != "__has_embed",
              "closed source does not ask for files");
      const std::size_t begin = directive_at(text, at);
      const std::string word = begin == 0 ? "" : word_at(text, begin);
      require(word != "include_next" && word != "embed" && word != "__include_macros",
              "closed source includes nothing that no package answers");
      if (word != "include" && word != "import") {
        continue;
      }
      const std::size_t name = skip_blanks(text, begin + word.size());
      require(is_answered(text, name) || is_always_answered(word_at(text, name), texts, options),
              "closed source includes headers of its package only");
    }
  }
}

// The data consists of the main file, one header and the options, separated by lines of "@@".
void check_closing(const std::string& data) {
  std::array<std::string, 3> parts;
  std::size_t begin = 0;
  for (std::string& part : parts) {
    const std::size_t end = std::min(data.find("\n@@\n", begin), data.size());
    part = data.substr(begin, end - begin);
    begin = std::min(end + 4, data.size());
  }
  const SourcePackage closed = source::close_source(
      {{"k.cl", "k.cl", parts[0]}, {{"a.h", "a.h", parts[1]}, {"sub/b.h", "b.h", ""}}}, parts[2]);
  std::set<std::vector<std::string>> readings; // most readings are equal
  for (unsigned bits = 0; bits < 8; ++bits) {
    const Reading reading{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
    std::vector<std::string> texts = {translated(closed.main.text, reading)};
    for (const clbin::format::SourceFile& header : closed.headers) {
      texts.push_back(translated(header.text, reading));
    }
    readings.insert(std::move(texts));
  }
  for (const std::vector<std::string>& texts : readings) {
    check_closed(texts, parts[2]);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_scanner(text);
  check_closing(text);
  return 0;
}

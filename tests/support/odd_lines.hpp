// Configuration files with odd lines, which may hide a line that names trusted keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clbin::test {

// How a file must be read.
enum class Outcome : std::uint8_t {
  trusted, // as it is meant
  refused, // with a problem, and without the keys
};

struct OddFile {
  std::string kind;
  std::string text;
  Outcome outcome = Outcome::refused;
};

// The characters that some editors show as the end of a line, and others that may hide a part of
// it.
inline const std::vector<std::pair<std::string, std::string>> k_odd_characters = {
    {"CR", "\r"},
    {"VT", "\v"},
    {"FF", "\f"},
    {"NUL", std::string(1, '\0')},
    {"RS", "\x1E"},
    {"ESC", "\x1B"},
    {"DEL", "\x7F"},
    {"NEL", "\xC2\x85"},
    {"U+2028", "\xE2\x80\xA8"},
    {"U+2029", "\xE2\x80\xA9"},
    {"NEL of Latin-1", "\x85"},
    {"BOM", "\xEF\xBB\xBF"},
    {"BOM of UTF-16", "\xFF\xFE"},
};

[[nodiscard]] inline std::string as_utf16(std::string_view text, bool is_little_endian) {
  std::string result;
  for (const char letter : text) {
    result += is_little_endian ? std::string{letter, '\0'} : std::string{'\0', letter};
  }
  return result;
}

// Files of a line `setting` and a line `keys`, which names keys. A section, such as "kernel k",
// must not contain either.
[[nodiscard]] inline std::vector<OddFile>
odd_files(const std::string& setting, const std::string& keys, const std::string& section) {
  const std::string both = setting + "\n" + keys + "\n";
  std::vector<OddFile> files = {
      {"two lines", both, Outcome::trusted},
      {"CR LF", setting + "\r\n" + keys + "\r\n", Outcome::trusted},
      {"no newline", setting + "\n" + keys, Outcome::trusted},
      {"BOM first", "\xEF\xBB\xBF" + both, Outcome::trusted},
      {"comments", "# " + setting + "\n" + keys + "\n#" + setting, Outcome::trusted},
      {"blanks", "\t " + setting + " \n\n \t" + keys + "\t\n \n", Outcome::trusted},
      {"keys twice", both + keys + "\n"},
      {"two BOMs", "\xEF\xBB\xBF\xEF\xBB\xBF" + keys + "\n" + setting},
      {"in a section", setting + "\n[" + section + "]\n" + keys + "\n"},
      {"behind a section", "[" + section + "] " + keys + "\n" + setting + "\n"},
      {"within a section", "[" + keys + "]\n"},
      {"UTF-16, little-endian", as_utf16(both, true)},
      {"UTF-16, big-endian", as_utf16(both, false)},
  };
  for (const auto& [name, odd] : k_odd_characters) {
    // No editor shows a BOM as the end of a line. After a value, it is a part of a name of a file.
    if (name != "BOM") {
      files.push_back({name + " in a value", setting + odd + keys + "\n"});
      files.push_back({name + " in a comment", "# " + setting + odd + keys + "\n"});
      files.push_back({name + " before a comment", keys + "\n" + odd + "# x\n"});
      files.push_back({name + " in a comment after the keys", keys + "\n#" + odd + "x\n"});
      files.push_back({name + " after a value", setting + "\n" + keys + odd + "\t\n"});
    }
    const std::string odd_name = keys.substr(0, 4) + odd + keys.substr(4);
    files.push_back({name + " before a name", setting + "\n" + odd + keys + "\n"});
    files.push_back({name + " in a name", setting + "\n" + odd_name});
    files.push_back({name + " in the only name", odd_name + "\n"});
    files.push_back({name + " in a section", "[kernel " + odd + "]\n" + setting + odd + keys});
  }
  return files;
}

} // namespace clbin::test

// Quotes words of command lines that users copy into a shell, and names in rules for make and
// ninja.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// Returns `word` quoted such that every POSIX shell reads it unchanged. Contains no character that
// could control a terminal: printf(1) makes these in a command substitution, because dash and other
// shells do not know $'…'.
[[nodiscard]] std::string quote_for_shell(std::string_view word);

// Returns a path as a word that oclcc takes for a path. Names that begin with '-' and '@', which
// would be an option and a response file, get "./" before them; "-" does not.
[[nodiscard]] std::string file_word(const std::filesystem::path& path);

// Returns a long option and its value: two words, or one ("--variant=@a=") if the value begins with
// '@' and would be a response file.
[[nodiscard]] std::vector<std::string> option_words(std::string_view option,
                                                    std::string_view value);

// Returns `word` between single quotes, which a POSIX shell reads unchanged, and a response file,
// too. Its control characters stay as they are: for files, and not for terminals.
[[nodiscard]] std::string in_single_quotes(std::string_view word);

// Returns `path` with white space, "#", "$" and ":" escaped for make and ninja. gcc does not escape
// ":", which make then parses as the end of the targets.
[[nodiscard]] std::string escape_for_make(std::string_view path);

// The words of a text, by the shell's rules of quoting.
struct SplitWords {
  std::vector<std::string> words;
  bool ends_within_quotes = false;
};
[[nodiscard]] SplitWords split_words(std::string_view text);

// Returns one string for OpenCL, with words quoted if they contain white space or quotes. No
// quoting works on every driver (measured: PoCL and Oclgrind lose inner quotes, rusticl crashes).
// find_include_closure therefore moves such definitions from the command line into the text.
[[nodiscard]] std::string join_options(const std::vector<std::string>& words);
// The inverse of join_options, with the shell's quoting, for --variant NAME='OPTIONS' and recorded
// options.
[[nodiscard]] std::vector<std::string> split_options(std::string_view text);

} // namespace oclcc

// Closes the source of a bundle, so that drivers do not open any file for it.
//
// A bundle is untrusted. Without closing, an #include of "/some/file" prints lines of that file in
// build logs, and __has_include reveals which files exist. Some drivers (Oclgrind, rusticl) also
// prefer a file of the working directory to an embedded header of the same name. Every header
// therefore gets a name that no file has.
#pragma once

#include "model/source.hpp"

namespace clbin::source {

// Prefix of the last part of each header's name in a closed package.
inline constexpr std::string_view k_closed_prefix = "clbin~";
inline constexpr std::size_t k_max_source_bytes = 16U << 20U; // of all texts of a package

// Returns the package with each of these replaced, on its own line, at any position of the text.
// Conditions are not evaluated, and text that a compiler may read as a comment or a string is
// replaced, too.
//  - #include and #import of a header of the package: by its closed name.
//  - #include of a macro: by the closed name if all macros of the package and of `options` yield
//    exactly one header of the package. It is unchanged if every definition of the macro is a
//    string that names a header; these definitions then contain the closed names.
//  - every other #include and #import, #include_next, #embed, #__include_macros: by an #error.
//  - __has_include of a header of the package: by 1. Others, __has_include_next and __has_embed: by
//    0. The bare words (defined(__has_include)): by __LINE__, which is always defined.
//  - #pragma GCC dependency and include_alias: by pragmas that no compiler knows.
// The whole text becomes an #error if it is longer than 16 MiB, if macros could compose a word that
// probes for headers from parts, or if `options` contain one.
//
// Does not examine inline assembly (.incbin). A _Pragma whose text macros compose from parts can
// detect whether a file exists.
//
// Safe on any text, in linear time. `options`: all options that the driver receives with the
// source.
[[nodiscard]] format::SourcePackage close_source(const format::SourcePackage& package,
                                                 std::string_view options);

// Returns the text as clang reads it, without the characters that compilers read differently.
// Trigraphs are replaced by their characters, a carriage return without a line feed by a line feed,
// and a zero byte by a space. Blanks between a backslash and the end of its line are removed. Line
// numbers do not change.
[[nodiscard]] std::string normalized(std::string_view text);

// Returns a build log with the original names of the headers.
[[nodiscard]] std::string with_open_names(std::string_view log);

} // namespace clbin::source

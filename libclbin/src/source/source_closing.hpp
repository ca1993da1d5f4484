// Closes source from a bundle: what drivers get of it makes them look for no file.
//
// A bundle may hold anything. Without this, an #include of "/some/file" shows lines of that file in
// build logs, and __has_include tells which files exist. Drivers also prefer a file of the working
// directory to an embedded header of the same name (Oclgrind and rusticl do), so every header gets
// a name that no file has.
#pragma once

#include "format/bundle/source_package.hpp"

#include <string>
#include <string_view>

namespace clbin::source {

// What the last part of each header's name begins with in a closed package.
inline constexpr std::string_view k_closed_prefix = "clbin~";
inline constexpr std::size_t k_max_source_bytes = 16U << 20U; // of all texts of a package

// The package with each of these replaced, on its own line, wherever it stands: whether a branch is
// taken, or a compiler takes it for a part of a comment or a string, is not decided here.
//  - #include and #import of a header of the package: by its closed name.
//  - #include of a macro: by the closed name if all macros of the package and of `options` give
//    exactly one header of the package. It stays if the macro is never more than a string that
//    names a header, in every definition; these definitions then get the closed names.
//  - every other #include and #import, #include_next, #embed, #__include_macros: by an #error.
//  - __has_include of a header of the package: by 1. Others, __has_include_next and __has_embed: by
//    0. The bare words (defined(__has_include)): by __LINE__, which is always defined.
//  - #pragma GCC dependency and include_alias: by pragmas that no compiler knows.
// The whole text becomes an #error if it is longer than 16 MiB, or if macros could put one of these
// words together from parts, or `options` contain one.
//
// Inline assembly (.incbin) is not looked at, and a _Pragma whose text macros put together from
// parts can learn whether a file exists.
//
// Safe on any text, in linear time. `options`: all that the driver gets with the source.
[[nodiscard]] format::SourcePackage close_source(const format::SourcePackage& package,
                                                 std::string_view options);

// A build log with the headers' own names again.
[[nodiscard]] std::string with_open_names(std::string_view log);

} // namespace clbin::source

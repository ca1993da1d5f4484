#pragma once

#include <set>
#include <string>
#include <string_view>

namespace clbin::source {

// Returns the text with a space for each character of the functions of these names, at the top
// level of the text: their definitions and declarations, from the end of what precedes them.
// Directives and line ends stay, so that macros, conditions and line numbers are the same. A
// function stays if its name occurs anywhere else in what is left, also in a directive, but not in
// comments and strings. Conditions are not evaluated.
//
// A text in which the braces of a function differ between the branches of a condition can lose more
// than the function: the caller checks that what it needs is still there. Safe on any text.
[[nodiscard]] std::string without_functions(std::string_view text,
                                            const std::set<std::string>& names);

} // namespace clbin::source

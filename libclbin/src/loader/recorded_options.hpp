// The build options that a bundle records go to a driver, and a bundle may hold anything.
#pragma once

#include "base/result.hpp"

#include <string_view>
#include <vector>

namespace clbin::loader {

// Lets through what decides about the code and nothing else: -D, -U, -cl-… (of OpenCL and of
// vendors), -w and -W…, -O…, -g, -x spir and -spir-std=…. Everything else could make a compiler
// read or write files (-I, -include, @file, -o, -save-temps, -Wp,… -fplugin=…) or is not known.
// Judged word by word, since not every driver understands quotes; what the caller of a load adds is
// not judged. unsafe_options, with the word.
[[nodiscard]] base::Result<void> check_recorded_options(std::string_view options);

// The words of `options`, which it borrows. Quotes are part of a word.
[[nodiscard]] std::vector<std::string_view> option_words(std::string_view options);

// Whether `options` are those of a variant, `own`, followed by `extra`. A caller may also repeat
// all of the variant's own options at the start of `extra`, which changes nothing.
[[nodiscard]] bool are_options_with_extra(std::string_view options, std::string_view own,
                                          std::string_view extra);

} // namespace clbin::loader

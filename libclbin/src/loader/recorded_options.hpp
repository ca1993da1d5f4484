// The build options that a bundle records go to a driver, and a bundle may hold anything.
#pragma once

#include "base/result.hpp"

#include <string_view>

namespace clbin::loader {

// Lets through what decides about the code and nothing else: -D, -U, -cl-… (of OpenCL and of
// vendors), -w and -W…, -O…, -g, -x spir and -spir-std=…. Everything else could make a compiler
// read or write files (-I, -include, @file, -o, -save-temps, -Wp,… -fplugin=…) or is not known.
// Judged word by word, since not every driver understands quotes; what the caller of a load adds is
// not judged. unsafe_options, with the word.
[[nodiscard]] base::Result<void> check_recorded_options(std::string_view options);

} // namespace clbin::loader

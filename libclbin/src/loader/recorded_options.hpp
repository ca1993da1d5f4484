// The build options that a bundle records go to a driver, and a bundle may hold anything.
#pragma once

#include "base/result.hpp"
#include "format/bundle/shared_text.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace clbin::loader {

// Lets through what decides about the code and nothing else: -D, -U, -cl-… (of OpenCL and of
// vendors), -w and -W…, -O…, -g, -x spir and -spir-std=…. Everything else could make a compiler
// read or write files (-I, -include, @file, -o, -save-temps, -Wp,… -fplugin=…) or is not known.
// Judged word by word, since not every driver understands quotes; what the caller of a load adds is
// not judged. unsafe_options, with the word.
[[nodiscard]] base::Result<void> check_recorded_options(std::string_view options);

// Checks each text once, however many entries share it. Not thread-safe.
class OptionsChecker {
public:
  // As check_recorded_options.
  [[nodiscard]] base::Result<void> check(const format::SharedText& options);

private:
  struct Checked {
    format::SharedText options; // keeps its identity from being used again
    base::Result<void> result;
  };
  std::unordered_map<const void*, Checked> m_checked; // by SharedText::identity
};

// The words of `options`, which it borrows. Quotes are part of a word.
[[nodiscard]] std::vector<std::string_view> option_words(std::string_view options);

} // namespace clbin::loader

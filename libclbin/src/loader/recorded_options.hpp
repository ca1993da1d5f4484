// Checks recorded build options: they are passed to a driver, and a bundle can contain anything.
#pragma once

#include "base/result.hpp"
#include "format/bundle/shared_text.hpp"

#include <unordered_map>
#include <vector>

namespace clbin::loader {

// Accepts options that affect the compiled code and nothing else: -D, -U, -cl-… (of OpenCL and of
// vendors), -w and -W…, -O…, -g, -x spir and -spir-std=…. Rejects all others: they are unknown, or
// could make a compiler read or write files (-I, -include, @file, -o, -save-temps, -Wp,…
// -fplugin=…). Checks word by word, because not every driver supports quotes. The options that the
// caller of a load adds are not checked. unsafe_options: the message names the word.
[[nodiscard]] base::Result<void> check_recorded_options(std::string_view options);

// no_matching_entry: an entry with these options was compiled without one of the extensions, which
// its variant requires and the device lacks.
[[nodiscard]] base::Result<void> check_extensions(const std::vector<std::string>& lacking,
                                                  std::string_view options);

// Checks each text once, even if many entries share it. Not thread-safe.
class OptionsChecker {
public:
  explicit OptionsChecker(std::vector<std::string> lacking = {});

  // The errors of check_extensions and check_recorded_options.
  [[nodiscard]] base::Result<void> check(const format::SharedText& options);

private:
  struct Checked {
    format::SharedText options; // keeps its identity from being reused
    base::Result<void> result;
  };
  std::vector<std::string> m_lacking;
  std::unordered_map<const void*, Checked> m_checked; // keyed by SharedText::identity
};

} // namespace clbin::loader

// The build options of a unit.
#pragma once

#include "model/record.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclcc {

// The words of the command line, which programs receive as they are and drivers as one text; or the
// text that a bundle records, which drivers receive unchanged.
class BuildOptions {
public:
  BuildOptions() = default;
  explicit BuildOptions(std::vector<std::string> words) : m_words(std::move(words)) {}
  // `text` is that of a bundle.
  [[nodiscard]] static BuildOptions recorded(std::string text);

  // Returns one text, for a driver or a bundle.
  [[nodiscard]] std::string text() const;
  // Returns the words, without the quotes of a recorded text. In it, "-D NAME" is one word,
  // "-DNAME", as is "-U NAME".
  [[nodiscard]] std::vector<std::string> words() const;
  // Returns the recorded text; std::nullopt if the options are words.
  [[nodiscard]] const std::optional<std::string>& recorded_text() const noexcept {
    return m_recorded;
  }

  friend bool operator==(const BuildOptions&, const BuildOptions&) = default;
  friend void visit(clbin::format::Is<BuildOptions> auto& options, const auto& member) {
    member("options", options.m_words);
    member("recorded_options", options.m_recorded);
  }

private:
  std::vector<std::string> m_words;
  std::optional<std::string> m_recorded; // if set, there are no words
};

} // namespace oclcc

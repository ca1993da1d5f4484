// The words of a command line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::offline {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& further) {
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

[[nodiscard]] inline bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace oclcc::offline

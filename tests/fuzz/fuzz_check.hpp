// Reports properties that do not hold in a fuzz target.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace clbin::fuzz {

inline void require(bool holds, std::string_view property) {
  if (holds) {
    return;
  }
  std::fprintf(stderr, "property does not hold: %.*s\n", static_cast<int>(property.size()),
               property.data());
  std::abort();
}

} // namespace clbin::fuzz

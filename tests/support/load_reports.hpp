// Helpers of tests that check reports of loads.
#pragma once

#include "loader/load_program.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace clbin::test {

// Removes from the report the attempts in which the user cache had no entry or was off.
inline std::vector<loader::Attempt> take_cache_misses(loader::LoadReport& report) {
  const auto is_other = [](const loader::Attempt& attempt) {
    return attempt.origin != loader::Origin::user_cache ||
           attempt.decision != loader::Decision::not_attempted;
  };
  auto& attempts = report.attempts;
  const auto first = std::stable_partition(attempts.begin(), attempts.end(), is_other);
  std::vector<loader::Attempt> misses(std::make_move_iterator(first),
                                      std::make_move_iterator(attempts.end()));
  attempts.erase(first, attempts.end());
  return misses;
}

} // namespace clbin::test

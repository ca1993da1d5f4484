// Which unit next? Units wait by platform, since a worker of one platform serves all of its units.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace oclcc::worker {

class UnitQueue {
public:
  void add(std::uint32_t platform, std::size_t unit) { m_waiting[platform].units.push_back(unit); }

  // Of `current`, the platform that the caller's worker has served last, as long as it has any;
  // else of the platform with the most units for each worker that it has. Nothing when all are
  // taken.
  [[nodiscard]] std::optional<std::size_t> take(std::optional<std::uint32_t> current);

private:
  struct Platform {
    std::deque<std::size_t> units;
    std::size_t workers = 0;
  };
  std::map<std::uint32_t, Platform> m_waiting;
};

} // namespace oclcc::worker

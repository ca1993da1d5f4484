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

  // The platform that the caller's worker is to serve next: `current`, which it has served last, as
  // long as that has any unit; else the one with the most units for each worker that it has.
  // Nothing when all are taken.
  [[nodiscard]] std::optional<std::uint32_t> choose(std::optional<std::uint32_t> current);
  // The next unit of a platform, left or taken; nothing when others have taken all.
  [[nodiscard]] std::optional<std::size_t> front(std::uint32_t platform) const;
  [[nodiscard]] std::optional<std::size_t> take(std::uint32_t platform);

private:
  struct Platform {
    std::deque<std::size_t> units;
    std::size_t workers = 0;
  };
  std::map<std::uint32_t, Platform> m_waiting;
};

} // namespace oclcc::worker

// The order of the ladder (libclbin(3), "Loading"). Loads and `oclcc --explain` both follow it.
#pragma once

#include "loader/load_program.hpp"
#include "matching/candidate_ranking.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace clbin::loader {

enum class Rung : std::uint8_t {
  own_entries,        // entries that are tried before the user cache
  user_cache,         // what an earlier load built
  compatible_entries, // the other entries that fit
  build_of_others,    // what another process has built since the user cache was searched
  recompiled_entry,   // an entry whose IR the driver has built (Decision::recompiled)
  il,
  source,
};

// Returns the rungs that a load tries for each device, in this order, until one provides a program.
// Pure.
[[nodiscard]] std::vector<Rung> rungs_of(const LoadRequest& request);

// Returns which candidates the rung tries; std::nullopt if it does not try entries.
[[nodiscard]] std::optional<matching::Turn> turn_of(Rung rung) noexcept;

// Returns the origin that a report states for a program of this rung.
[[nodiscard]] Origin origin_of(Rung rung) noexcept;

} // namespace clbin::loader

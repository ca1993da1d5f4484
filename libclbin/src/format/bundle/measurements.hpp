// Which variant of a program is the fastest on which devices, by measurements. The writer of a
// bundle ranks the variants and puts the result into a table, so that a load reads no measurement.
#pragma once

#include "model/bundle.hpp"

#include <span>
#include <tuple>

namespace clbin::format {

// Returns the rule of clbin(5) that the record breaks, as a sentence; otherwise an empty text.
[[nodiscard]] std::string_view broken_rule(const Measurement& measurement);
[[nodiscard]] std::string_view broken_rule(const KnownAnswer& answer);

// What the launch of a known answer may need on a device, and what its results may need in a
// manifest: large enough for every path through a kernel, and small enough for each start of an
// application.
inline constexpr std::uint64_t k_max_answer_buffer_bytes = 64ULL << 20U;
inline constexpr std::uint64_t k_max_answer_bytes = 1ULL << 20U;
// What all arguments of a recorded launch may need.
inline constexpr std::uint64_t k_max_recorded_bytes = 1ULL << 30U;

// Returns what is measured, or answered. A program has one record of each place, and a manifest
// lists them in this order.
[[nodiscard]] inline auto place_of(const Measurement& one) {
  return std::tie(one.variant, one.kernel, one.dimensions, one.global_size, one.local_size,
                  one.device);
}
[[nodiscard]] inline auto place_of(const KnownAnswer& one) {
  return std::tie(one.variant, one.kernel, one.dimensions, one.global_size, one.local_size,
                  one.arguments);
}
struct ByPlace {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return place_of(a) < place_of(b);
  }
};
// Whether `a` replaces `b`, of the same place: a refusal replaces a time, and more rounds replace
// fewer. A strict order of all that differ, so that a merge does not depend on the order of its
// inputs.
[[nodiscard]] bool replaces(const Measurement& a, const Measurement& b);

// Returns the number of work-items, or the largest number if it is larger; 0 of a work-group whose
// size the driver chooses.
[[nodiscard]] constexpr std::uint64_t items_of(const GroupSize& size) {
  std::uint64_t items = 1;
  for (const std::uint64_t each : size) {
    constexpr std::uint64_t k_most = ~std::uint64_t{0};
    items = each != 0 && items > k_most / each ? k_most : items * each;
  }
  return items;
}

// Returns the work-items of a work-group, and the bytes of local memory, that launches of a variant
// need at least: those of the kernel that needs most, in the entry that needs least, because
// another device may compile the variant for less. `entries`: the kernels of each. 0 if there is no
// entry.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
least_needs(std::span<const std::vector<KernelReflection>* const> entries);

// How near a measured device is to the one of a load, the nearest first. The file contains digests
// over these numbers.
enum class Nearness : std::uint8_t {
  driver = 1,       // the same device with the same driver
  device = 2,       // the same device with any driver
  architecture = 3, // a device of this architecture, on this platform
  vendor = 4,       // a device of this vendor and type, on this platform
  any = 5,
};
inline constexpr std::array<Nearness, 5> k_from_near_to_far{
    Nearness::driver, Nearness::device, Nearness::architecture, Nearness::vendor, Nearness::any};

// Returns RANKING.key: a digest of the program and of what devices of this nearness have in common.
// std::nullopt if the device does not have it: its architecture is not known.
[[nodiscard]] std::optional<std::uint64_t> ranking_key(Nearness nearness, std::string_view program,
                                                       const MeasuredDevice& device);
// Returns the architecture without its features: "gfx90a" of "gfx90a:sramecc+:xnack-".
[[nodiscard]] std::string_view plain_architecture(const MeasuredDevice& device) noexcept;

// The writer leaves out those behind the first of a key.
inline constexpr std::size_t k_max_ranked = 64;

// Returns the names of the variants by key, best first, as clbin(5) specifies. A device ranks a
// variant that was measured in every launch that was measured on it, and not refused: by the total
// of the best times. Several devices rank a variant that each of them ranks: by the geometric mean
// of the totals in relation to the least. A device that ranks none is left out. Of the keys of
// devices, "driver" and "device", those that rank no variant have no name. Of equal ones,
// "default" is first, then by name. The result depends only on the set of measurements, and is the
// same on all machines.
[[nodiscard]] std::map<std::uint64_t, std::vector<std::string>>
rank_variants(std::string_view program, std::span<const Measurement> measurements);

} // namespace clbin::format

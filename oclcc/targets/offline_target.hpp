// The offline targets: how they are spelled, and which ones exist.
#pragma once

#include "model/device.hpp"
#include "terminal/reporter.hpp"

namespace oclcc::offline {

enum class OfflineFamily : std::uint8_t { nvptx, cubin, amdgcn, intel, spirv };

// Returns the word before the colon of a specification: "spirv".
[[nodiscard]] std::string_view to_string(OfflineFamily family) noexcept;

struct OfflineTarget {
  OfflineFamily family = OfflineFamily::spirv;
  // "sm_70"; LLVM's target ID, "gfx90a:sramecc+:xnack-"; a device name of ocloc, "tgllp"; the
  // version of SPIR-V, "1.2"
  std::string architecture;
  std::uint32_t address_bits = 64; // 32 or 64
  // The version of AMD's code object, if it is not that of the processor; otherwise 0.
  std::uint32_t code_object = 0;

  friend bool operator==(const OfflineTarget&, const OfflineTarget&) = default;
};

// Returns the only spelling of the target that bundles contain: "nvptx:sm_70", "amdgcn:gfx90a",
// "amdgcn:gfx90a:sramecc+:xnack-", "amdgcn:gfx90a:co6" for another version of the code object,
// "intel:tgllp", "spirv:1.2", and "spirv:1.2:32" for 32-bit addresses. It never changes (clbin(5)).
[[nodiscard]] std::string spelling_of(const OfflineTarget& target);
// Whether several processors of AMD run the code: "gfx11-generic".
[[nodiscard]] bool is_generic(const OfflineTarget& target);

// Returns the version of the code object of a target of AMD, 4, 5 or 6; 0 for other families.
[[nodiscard]] std::uint32_t code_object_version(const OfflineTarget& target);

// Releases of a compiler that have a target: clang 19, ocloc 26.
struct Releases {
  unsigned first = 0;
  unsigned last = ~0U;

  [[nodiscard]] constexpr bool has(unsigned release) const noexcept {
    return release >= first && release <= last;
  }
  [[nodiscard]] constexpr bool are_all() const noexcept { return first == 0 && last == ~0U; }
};
// Returns those of ocloc that have a target of Intel.
[[nodiscard]] Releases ocloc_releases(const OfflineTarget& target);

// Returns 90 for "sm_90".
[[nodiscard]] unsigned capability_of(std::string_view architecture);

// Returns what entries of the target record.
[[nodiscard]] format::Target recorded_target(const OfflineTarget& target);

// Every target without a code object of its own, by family, architecture and address bits, in
// ascending order.
[[nodiscard]] std::span<const OfflineTarget> known_targets();
// Returns the targets, each once, in the order of known_targets, and then by code object.
[[nodiscard]] std::vector<OfflineTarget> in_order(const std::vector<OfflineTarget>& targets);

// A word that stands for several targets: "spirv:all".
struct TargetGroup {
  std::string name;
  std::vector<OfflineTarget> targets;
};
[[nodiscard]] std::vector<TargetGroup> target_groups();

// Returns the targets of `specification`: one target, a group, "all", "gpus", or a family with a
// list of these, separated by commas ("spirv:1.0,1.2"), in_order(). invalid_argument, with the most
// similar target or the known families, if a word is neither a target nor a group.
[[nodiscard]] Result<std::vector<OfflineTarget>> parse_targets(std::string_view specification);

} // namespace oclcc::offline

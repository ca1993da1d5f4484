// What differs between the resources of kernels in two files, and which limits of --fail-on the
// differences exceed.
#pragma once

#include "modes/kernel_resources.hpp"

namespace oclcc {

// A number that differs. "kernel" is 1 if a file has the kernel for the target, and 0 otherwise.
struct ResourceChange {
  std::string program{};
  std::string variant{};
  std::string kernel{};
  std::string target{};
  std::string format{};
  std::string number{};
  std::optional<std::uint64_t> before{};
  std::optional<std::uint64_t> after{};
  std::optional<std::string> exceeds{}; // the limit, "+10%"; std::nullopt if none is exceeded
  friend bool operator==(const ResourceChange&, const ResourceChange&) = default;
};
CLBIN_VISIT(ResourceChange, program, variant, kernel, target, format, number, before, after,
            exceeds);

// Returns the differences, sorted by program, variant, kernel and target. Kernels have the same
// identity if these and the format are equal; of several, which devices with equal names can have,
// the first corresponds to the first. A kernel that only `after` has may spill nothing if "spills"
// or "scratch" are limited.
[[nodiscard]] std::vector<ResourceChange> resource_changes(const FileResources& before,
                                                           const FileResources& after,
                                                           std::span<const ChangeLimit> limits);

// Returns the numbers of `limits` that are known of no kernel in `file`, so that the limits check
// nothing: "spills" of cubins.
[[nodiscard]] std::vector<std::string> unchecked_numbers(const FileResources& file,
                                                         std::span<const ChangeLimit> limits);

} // namespace oclcc
